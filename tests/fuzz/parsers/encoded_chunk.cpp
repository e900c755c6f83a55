// SPDX-License-Identifier: Apache-2.0
// Input: the index of a codec, the size of an element, the decoded size in two bytes (low, high),
// the filters that were skipped, then a stored chunk. The codec is in a chain with shuffle and
// fletcher32 if the index is above 127.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/chunk_codec.hpp"
#include "codec/filter_chain.hpp"
#include "mutator.hpp"
#include "parsers.hpp"

namespace afterbay::test {
namespace {

constexpr std::size_t header_bytes = 5;
constexpr std::uint8_t with_others = 128;

FilterChain chain_for(std::uint8_t first) {
  const auto all = codec::all_codecs();
  const codec::Codec& chosen = *all[first % with_others % all.size()];
  FilterChain chain;
  codec::set_filter(chain, chosen.id, codec::filter_of_level(chosen, 1));
  if (first >= with_others)
    for (const std::uint32_t id : {codec::fletcher32_codec.id, codec::shuffle_codec.id})
      codec::set_filter(chain, id, Filter{id, {}});
  return codec::in_order(std::move(chain));
}

std::uint8_t byte(Bytes bytes, std::size_t i) { return std::to_integer<std::uint8_t>(bytes[i]); }

}  // namespace

void parse_encoded_chunk(Bytes bytes) {
  if (bytes.size() < header_bytes) return;
  const std::size_t element_bytes = 1 + byte(bytes, 1) % 8;
  const auto codec = codec::ChunkCodec::make(chain_for(byte(bytes, 0)), element_bytes);
  if (!codec) return;  // this build lacks it
  std::vector<std::byte> chunk(byte(bytes, 2) + std::size_t{256} * byte(bytes, 3));
  codec::OwnWorkspace workspace;
  static_cast<void>(codec->decode(bytes.subspan(header_bytes), byte(bytes, 4), chunk, workspace));
}

void write_chunks(const std::filesystem::path& directory) {
  constexpr std::size_t size_bytes = 1000;
  std::array<std::byte, size_bytes> plain{};
  for (std::size_t i = 0; i < size_bytes; ++i) plain[i] = static_cast<std::byte>(i / 37);
  const auto all = codec::all_codecs();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::size_t first : {i, i + with_others}) {
      const auto codec = codec::ChunkCodec::make(chain_for(static_cast<std::uint8_t>(first)), 4);
      if (!codec) continue;
      const auto encoded = codec->encode(plain).value();
      std::string file{static_cast<char>(first), 3, static_cast<char>(size_bytes & 0xff),
                       static_cast<char>(size_bytes >> 8), static_cast<char>(encoded.skipped)};
      file.append(reinterpret_cast<const char*>(encoded.bytes.data()), encoded.bytes.size());
      write_bytes(directory / (std::string(all[i]->name) + (first == i ? "" : "-with-others")), file);
    }
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_encoded_chunk);
