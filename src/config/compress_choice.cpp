// SPDX-License-Identifier: Apache-2.0
#include "config/compress_choice.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/printable.hpp"
#include "codec/filter_chain.hpp"
#include "config/settings.hpp"
#include "config/sources.hpp"

namespace afterbay::config {
namespace {

/// Adds one filter of the file.
void take(const Assignment& it, const std::string& collection, codec::FilterLevels& filters,
          Problems& problems) {
  const codec::Codec* const codec = codec::find_codec(it.name);
  const bool is_ours = it.collection == collection && it.variable.empty();
  if (!is_ours || codec == nullptr || codec->kind == codec::FilterKind::checksum) {
    problems.add(ErrorCode::format, it.origin.place,
                 fmt::format("expected only compression and rearrangement of the collection \"{}\", found {}",
                             collection, it.full_name()));
    return;
  }
  CollectionSettings settings;
  const auto* const setting = find_setting(collection_settings(), it.name);
  if (it.shape != Assignment::Shape::scalar || !setting->assign(settings, it.value)) {
    problems.add(ErrorCode::format, it.origin.place,
                 fmt::format("{}: expected {}, found \"{}\"", it.name, setting->accepted, it.value));
    return;
  }
  const std::optional<Filter>& filter = settings.filters.begin()->second;
  if (!filter) return;
  if (!codec->lacks.empty())
    problems.add(ErrorCode::format, it.origin.place,
                 fmt::format("asks for {}, which this build of Afterbay lacks: build it with {}", it.name,
                             codec->lacks));
  else
    filters.emplace_back(it.name, codec::level_of(*codec, &*filter));
}

}  // namespace

std::string choice_path(const std::string& directory, std::string_view collection) {
  std::string name = "compress.";
  for (const char c : collection) name += c == '/' ? "%2F" : c == '%' ? "%25" : std::string(1, c);
  name += ".yaml";
  if (directory.empty()) return name;
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

Result<std::optional<codec::FilterLevels>> read_choice(const std::string& path,
                                                       const std::string& collection) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  std::vector<Assignment> found;
  Problems problems;
  read_file(path, found, problems);
  codec::FilterLevels filters;
  if (problems.empty() && found.empty())
    problems.add(ErrorCode::format, path,
                 fmt::format("holds no filters of the collection \"{}\"", collection));
  for (const Assignment& it : found) take(it, collection, filters, problems);
  if (problems.empty()) {
    AFTERBAY_TRY_ASSIGN(const FilterChain chain, codec::chain_of(filters));
    if (const auto mistake = codec::mistake_in(chain))
      problems.add(ErrorCode::format, path, fmt::format("the collection \"{}\" {}", collection, *mistake));
  }
  if (problems.empty()) return filters;
  Error error = problems.error().in_file(path);
  error.add(
      fmt::format("in the filters that an earlier session chose for the collection '{}' (compress); "
                  "remove {} to measure again",
                  collection, printable(path)));
  return fail(std::move(error));
}

FilterChoices exactly(const codec::FilterLevels& filters) {
  FilterChoices choices;
  for (const codec::Codec* const it : codec::all_codecs())
    if (it->kind != codec::FilterKind::checksum) choices[it->id] = std::nullopt;
  for (const auto& [name, level] : filters)
    if (const codec::Codec* const it = codec::find_codec(name))
      choices[it->id] = codec::filter_of_level(*it, level);
  return choices;
}

}  // namespace afterbay::config
