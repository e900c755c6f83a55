// SPDX-License-Identifier: Apache-2.0
// Input: the number of a codec's HDF5 filter in two bytes (low, high), the size of an element, the
// decoded size in two bytes, the filters that were skipped, then a stored chunk. The codec is in a
// chain with shuffle and fletcher32 if the highest bit of the number is set. Places in the table of
// codecs would change with the table, and seeds would become those of other codecs.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/chunk_codec.hpp"
#include "codec/filter_chain.hpp"
#include "mutator.hpp"
#include "parsers.hpp"

namespace afterbay::test {
namespace {

constexpr std::size_t header_bytes = 6;
constexpr std::uint32_t with_others = 0x8000;
constexpr std::size_t seed_bytes = 1000;

/// Empty if there is no such codec.
FilterChain chain_for(std::uint32_t first) {
  const codec::Codec* const chosen = codec::find_codec(first & ~with_others);
  if (chosen == nullptr) return {};
  FilterChain chain;
  codec::set_filter(chain, chosen->id, codec::filter_of_level(*chosen, 1));
  if ((first & with_others) != 0)
    for (const std::uint32_t id : {codec::fletcher32_codec.id, codec::shuffle_codec.id})
      codec::set_filter(chain, id, Filter{id, {}});
  return codec::in_order(std::move(chain));
}

std::uint8_t byte(Bytes bytes, std::size_t i) { return std::to_integer<std::uint8_t>(bytes[i]); }

std::uint32_t two_bytes(Bytes bytes, std::size_t i) {
  return byte(bytes, i) + std::uint32_t{256} * byte(bytes, i + 1);
}

struct Decoded {
  bool done = false;
  std::vector<std::byte> chunk;
};

Decoded decoded(Bytes bytes) {
  if (bytes.size() < header_bytes) return {};
  FilterChain chain = chain_for(two_bytes(bytes, 0));
  if (chain.empty()) return {};
  const std::size_t element_bytes = 1 + byte(bytes, 2) % 8;
  const auto codec = codec::ChunkCodec::make(std::move(chain), element_bytes);
  if (!codec) return {};  // this build lacks it
  Decoded made{.chunk = std::vector<std::byte>(two_bytes(bytes, 3))};
  codec::OwnWorkspace workspace;
  made.done = codec->decode(bytes.subspan(header_bytes), byte(bytes, 5), made.chunk, workspace).has_value();
  return made;
}

std::vector<std::byte> seed_chunk() {
  std::vector<std::byte> plain(seed_bytes);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<std::byte>(i / 37);
  return plain;
}

std::string seed_name(const codec::Codec& codec, std::uint32_t others) {
  return std::string(codec.name) + (others == 0 ? "" : "-with-others");
}

}  // namespace

void parse_encoded_chunk(Bytes bytes) { static_cast<void>(decoded(bytes)); }

void write_chunks(const std::filesystem::path& directory) {
  for (const codec::Codec* const it : codec::all_codecs())
    for (const std::uint32_t others : {std::uint32_t{0}, with_others}) {
      const std::uint32_t first = it->id | others;
      const auto codec = codec::ChunkCodec::make(chain_for(first), 4);
      if (!codec) continue;
      const auto encoded = codec->encode(seed_chunk()).value();
      std::string file{static_cast<char>(first & 0xff),
                       static_cast<char>(first >> 8),
                       3,
                       static_cast<char>(seed_bytes & 0xff),
                       static_cast<char>(seed_bytes >> 8),
                       static_cast<char>(encoded.skipped)};
      file.append(reinterpret_cast<const char*>(encoded.bytes.data()), encoded.bytes.size());
      write_bytes(directory / seed_name(*it, others), file);
    }
}

std::string check_chunks(const std::filesystem::path& directory) {
  for (const codec::Codec* const it : codec::all_codecs())
    for (const std::uint32_t others : {std::uint32_t{0}, with_others}) {
      if (!it->lacks.empty() || !codec::ChunkCodec::make(chain_for(it->id | others), 4)) continue;
      const std::filesystem::path path = directory / seed_name(*it, others);
      if (!std::filesystem::exists(path)) return path.string() + " does not exist";
      const std::string seed = bytes_of_file(path);
      const Bytes bytes = std::as_bytes(std::span(seed));
      if (bytes.size() < header_bytes || two_bytes(bytes, 0) != (it->id | others))
        return path.string() + " is of another codec";
      if (const Decoded found = decoded(bytes); !found.done || found.chunk != seed_chunk())
        return path.string() + " is not decoded as the chunk that was encoded";
    }
  return {};
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_encoded_chunk);
