// SPDX-License-Identifier: Apache-2.0
#include "output/meaning.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/crc64.hpp"
#include "model/format.hpp"
#include "model/format_traits.hpp"
#include "model/values.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

std::string shortened(std::string text) {
  constexpr std::size_t longest = 100;
  if (text.size() <= longest) return text;
  std::size_t kept = longest / 2;
  constexpr unsigned char high_bits = 0xC0;
  constexpr unsigned char further_byte = 0x80;
  // Whole characters of UTF-8.
  while (kept > 0 && (static_cast<unsigned char>(text[kept]) & high_bits) == further_byte) --kept;
  return fmt::format("{}... #{:016x}", text.substr(0, kept), crc64(std::as_bytes(std::span(text))));
}

std::string text_of_split(const describe::Split& split) {
  if (split.period) return split.period->text();
  return split.records > 0 ? fmt::format("{} records", split.records) : "no";
}

std::string text_of_stamp(describe::Stamp stamp) {
  switch (stamp) {
    case describe::Stamp::start: return "start";
    case describe::Stamp::centre: return "centre";
    case describe::Stamp::end: return "end";
  }
  return {};
}

std::string text_of_stages(const FileVariable& variable, const describe::File& file) {
  std::string text;
  const auto given = std::ranges::find(file.variables, variable.name, &describe::Variable::name);
  for (const auto& [name, value] : given->options.settings.stages)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  return text.empty() ? "none" : text;
}

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

/// One spelling of a directory; empty: the working directory.
std::string one_spelling(const std::string& directory) {
  std::string text = std::filesystem::path(directory).lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text == "." ? "" : text;
}

/// Whether nothing can be appended to a file.
bool is_closed_for_good(Format format) {
  const FormatTraits& store = traits_of(format);
  return store.publishes && store.magic.empty();
}

/// Where what a name names is described.
const describe::Position& described_at(const std::string& name, const describe::File& file) {
  for (const describe::Variable& variable : file.variables)
    if (name.ends_with("'" + variable.name + "'")) return variable.at;
  return file.at;
}

}  // namespace

Meaning meaning_of(const FileSeries& files) {
  const describe::File& file = files.file();
  const describe::Timing& timing = file.timing;
  Meaning all;
  if (files.records().any()) {
    all.emplace_back("every", files.schedule()->text());
    const auto text_of_length = [&](const Period& length) {
      return in_largest_units(files.schedule()->time(), length).text();
    };
    all.emplace_back(
        "cycle",
        timing.cycle ? text_of_length(*timing.cycle) + " by " + text_of_length(*timing.cycle_step) : "no");
    all.emplace_back("partial", timing.partial == describe::Partial::write ? "write" : "skip");
    all.emplace_back("at_start", yes_or_no(timing.at_start));
    all.emplace_back("stamp", text_of_stamp(file.time.stamp));
    all.emplace_back("bounds", yes_or_no(file.time.bounds));
    all.emplace_back("time_units", file.time.units.empty() ? "those of the model" : file.time.units);
  }
  all.emplace_back("split", text_of_split(file.naming.split));
  for (const FileVariable& variable : files.variables()) {
    const auto add = [&](const char* what, std::string text) {
      all.emplace_back(fmt::format("the {} of '{}'", what, variable.name), shortened(std::move(text)));
    };
    add("values", variable.identity);
    add("points", variable.space->name + ": " + variable.space->text() + variable.space->places_text());
    add("type", fmt::format("{}, missing {}", afterbay::name_of(variable.type),
                            variable.fill.empty() ? "none" : model::text_of(variable.fill)));
    add("conversion", text_of_stages(variable, file));
  }
  return all;
}

Meaning storing_of(const FileSeries& files) {
  return {{"store", std::string(traits_of(files.names().store()).name)},
          {"directory", one_spelling(files.names().directory())}};
}

bool may_be_cut(const FileSeries& files) {
  if (!is_closed_for_good(files.names().store()) || !files.records().any()) return false;
  // A part with one record is written at once.
  const describe::Timing& timing = files.file().timing;
  const describe::Split& split = files.file().naming.split;
  const bool has_one_record = split.period ? *split.period == timing.every : split.records == 1;
  return timing.cycle.has_value() || !has_one_record;
}

bool check_storing(const Meaning& saved, const FileState& open, const FileSeries& files,
                   const std::string& path) {
  if (open.path.empty()) return false;
  const describe::File& file = files.file();
  const Meaning here = storing_of(files);
  const Meaning& before = saved.empty() ? here : saved;
  const Format store = format_of(before.front().second).value_or(files.names().store());
  if (is_closed_for_good(store)) {
    if (before == here && open.pattern == files.names().pattern())
      refuse_at(file.at, ErrorCode::conflict,
                "the file '{0}': the saved state {1} was made while '{2}' was open, to which nothing can be "
                "appended, because it is a {3} file. Give the file '{0}' another name for what follows, "
                "for example name: \"{4}_2\", or write a netCDF file. To save states when no such file is "
                "open, choose split so that a file ends there",
                file.name, path, open.path, traits_of(store).title, open.pattern);
    return false;
  }
  for (std::size_t i = 0; i < here.size(); ++i)
    if (before.at(i) != here[i])
      refuse_at(
          file.at, ErrorCode::conflict,
          "the file '{}': {} was \"{}\" in the saved state {}, and is \"{}\" now, but '{}' has begun, and "
          "is continued: write {} as it was, or change it when all periods and files have ended",
          file.name, here[i].first, before[i].second, path, here[i].second, open.path, here[i].first);
  return true;
}

void check_meaning(const Meaning& saved, const FileSeries& files, const std::string& path) {
  const describe::File& file = files.file();
  const Meaning here = meaning_of(files);
  const auto refuse_change = [&](const std::string& name, const std::string& change) {
    refuse_at(
        described_at(name, file), ErrorCode::conflict,
        "the file '{}': {}, so that it would have records of two kinds. The state {} continues a run with "
        "this description as it was: take that one, or change it when all periods have ended",
        file.name, change, path);
  };
  for (const auto& [name, text] : here) {
    const auto before = std::ranges::find(saved, name, &Meaning::value_type::first);
    if (before == saved.end()) refuse_change(name, fmt::format("the saved state does not have {}", name));
    if (before->second != text)
      refuse_change(name, fmt::format("{} was \"{}\" in the saved state, and is \"{}\" now", name,
                                      before->second, text));
  }
  for (const auto& [name, text] : saved)
    if (std::ranges::find(here, name, &Meaning::value_type::first) == here.end())
      refuse_change(name, fmt::format("the saved state has {} (\"{}\"), and this run has not", name, text));
}

}  // namespace afterbay::output
