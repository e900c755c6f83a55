// SPDX-License-Identifier: Apache-2.0
#include "codec/filter_chain.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace afterbay::codec {
namespace {

std::string name_of(const Filter& filter) {
  const Codec* codec = find_codec(filter.id);
  return codec == nullptr ? fmt::format("filter {}", filter.id) : std::string(codec->name);
}

/// The position of a filter in the chain of a new variable.
int position_of(const Filter& filter) noexcept {
  const Codec* codec = find_codec(filter.id);
  return codec == nullptr ? 1 + static_cast<int>(FilterKind::compress) : static_cast<int>(codec->kind);
}

std::optional<std::string> mistake_in(const Codec& codec, const Filter& filter) {
  if (!codec.lacks.empty())
    return fmt::format("has {}, which this build of Afterbay lacks: build it with {}, or use {}", codec.name,
                       codec.lacks, codec.kind == FilterKind::compress ? "deflate" : "shuffle");
  const std::size_t expected = codec.most_level > 0 ? 1 : 0;
  if (filter.parameters.size() != expected)
    return fmt::format("has {} parameters for {}, which takes {}", filter.parameters.size(), codec.name,
                       expected);
  if (const int level = level_of(codec, &filter); level < 0 || level > std::max(1, codec.most_level))
    return fmt::format("has {} level {}: 0 (off) to {} are possible", codec.name, level, codec.most_level);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> mistake_in(const FilterChain& chain) {
  if (chain.size() > most_filters)
    return fmt::format("has {} filters: at most {} are possible", chain.size(), most_filters);
  const Codec* compressor = nullptr;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Codec* codec = find_codec(chain[i].id);
    if (codec == nullptr)
      return fmt::format("has filter {}, which is unknown: {} are possible", chain[i].id, codec_names());
    if (auto mistake = mistake_in(*codec, chain[i])) return mistake;
    if (find_filter(chain, codec->id) != &chain[i])
      return fmt::format("has {} twice: each filter may occur once", codec->name);
    // The size of a compressor's result is unknown, so that only a checksum can follow. With two
    // compressors, the size of an encoded chunk would not tell which of them was skipped.
    if (compressor != nullptr && codec->kind != FilterKind::checksum)
      return fmt::format("has {} after {}: the order of filters is checksum, rearrangement, one compressor",
                         codec->name, compressor->name);
    if (codec->kind == FilterKind::compress) compressor = codec;
  }
  return std::nullopt;
}

std::optional<std::string> mistake_for(const FilterChain& chain, Type type) {
  std::size_t added_bytes = 0;
  for (const Filter& filter : chain) {
    const Codec* codec = find_codec(filter.id);
    if (codec == nullptr) continue;
    if (codec->whole_elements && added_bytes % std::max<std::size_t>(1, size_of(type)) != 0)
      return fmt::format(
          "requests {} after a checksum of {} bytes, which other readers refuse for type {}: use shuffle",
          codec->name, added_bytes, afterbay::name_of(type));
    added_bytes += codec->added_bytes;
  }
  for (const Filter& filter : chain)
    if (const Codec* codec = find_codec(filter.id); codec != nullptr && codec->takes && !codec->takes(type))
      return fmt::format("requests {}, which is not possible for type {}", codec->name,
                         afterbay::name_of(type));
  return std::nullopt;
}

FilterChain in_order(FilterChain chain) {
  std::ranges::stable_sort(chain, {}, position_of);
  return chain;
}

const Filter* find_filter(const FilterChain& chain, std::uint32_t id) noexcept {
  const auto found = std::ranges::find(chain, id, &Filter::id);
  return found == chain.end() ? nullptr : &*found;
}

void set_filter(FilterChain& chain, std::uint32_t id, const std::optional<Filter>& filter) {
  const auto found = std::ranges::find(chain, id, &Filter::id);
  if (found == chain.end()) {
    if (filter) chain.push_back(*filter);
  } else if (filter) {
    *found = *filter;
  } else {
    chain.erase(found);
  }
}

std::optional<Filter> filter_of_level(const Codec& codec, int level) {
  if (level == 0) return std::nullopt;
  if (codec.most_level == 0) return Filter{codec.id, {}};
  return Filter{codec.id, {static_cast<std::uint32_t>(level)}};
}

int level_of(const Codec& codec, const Filter* filter) noexcept {
  if (filter == nullptr) return 0;
  if (codec.most_level == 0) return 1;
  return filter->parameters.empty() ? 0 : static_cast<int>(filter->parameters.front());
}

std::string names_of(const FilterChain& chain) {
  std::string names;
  for (const Filter& filter : chain) names += (names.empty() ? "" : ", ") + name_of(filter);
  return names;
}

}  // namespace afterbay::codec
