// SPDX-License-Identifier: Apache-2.0
// Joins the codecs, each of which has its own file, to one table.
#include "codec/codec.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/suggest.hpp"

namespace afterbay::codec {
namespace {

#define AFTERBAY_ROW(NAME) &NAME##_codec,
constexpr std::array codecs{AFTERBAY_CODECS(AFTERBAY_ROW)};
#undef AFTERBAY_ROW

}  // namespace

std::span<const Codec* const> all_codecs() noexcept { return codecs; }

const Codec* find_codec(std::uint32_t id) noexcept {
  for (const Codec* codec : codecs)
    if (codec->id == id) return codec;
  return nullptr;
}

const Codec* find_codec(std::string_view name) noexcept {
  for (const Codec* codec : codecs)
    if (codec->name == name) return codec;
  return nullptr;
}

std::vector<const Codec*> codecs_of(FilterKind kind) {
  std::vector<const Codec*> found;
  std::ranges::copy_if(codecs, std::back_inserter(found), [&](const Codec* it) { return it->kind == kind; });
  return found;
}

bool is_part_of_hdf5(const Codec& codec) noexcept {
  constexpr std::uint32_t first_registered = 256;
  return codec.id < first_registered;
}

std::string codec_names() {
  std::vector<std::string> names;
  for (const Codec* codec : codecs)
    if (codec->lacks.empty()) names.emplace_back(codec->name);
  return one_of(names);
}

std::uint64_t most_expansion() noexcept {
  std::uint64_t most = 1;
  for (const Codec* codec : codecs) most = std::max(most, codec->most_expansion);
  return most;
}

}  // namespace afterbay::codec
