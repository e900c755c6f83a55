// SPDX-License-Identifier: Apache-2.0
#include "storage/pp/pp_encoder.hpp"

#include "packing/pp_record.hpp"
#include "storage/pp/file_kind.hpp"

namespace afterbay::storage::pp {
namespace {

using packing::PpHeader;

/// The header follows the length of its record.
constexpr std::size_t header_begin = 4;

}  // namespace

Result<std::unique_ptr<MessageEncoder>> PpEncoder::make_encoder(const Schema& schema,
                                                                const model::FileLayout& layout) {
  auto made = std::make_unique<PpEncoder>();
  AFTERBAY_TRY(made->begin(schema, layout, file_kind));
  return made;
}

std::size_t PpEncoder::most_bytes(const PpHeader& header, std::size_t extra_words,
                                  packing::PpPacking packing) const {
  return packing::most_pp_bytes(packing::shape_of(header), extra_words, packing);
}

Result<packing::PpEncoded> PpEncoder::make(const PpHeader& header, std::span<const float> values,
                                           std::span<const std::uint32_t> extra,
                                           const packing::PpEncoding& encoding,
                                           std::span<std::byte> to) const {
  return packing::encode_pp(header, values, extra, encoding, to);
}

Result<packing::PpEncoded> PpEncoder::make(const PpHeader& header, std::span<const double> values,
                                           std::span<const std::uint32_t> extra,
                                           const packing::PpEncoding& encoding,
                                           std::span<std::byte> to) const {
  return packing::encode_pp(header, values, extra, encoding, to);
}

PpHeader PpEncoder::read_header(std::span<const std::byte> message) const {
  return PpHeader::read(message.subspan(header_begin).first<packing::pp_header_bytes>());
}

void PpEncoder::write_header(const PpHeader& header, std::span<std::byte> message) const {
  header.write(message.subspan(header_begin).first<packing::pp_header_bytes>());
}

}  // namespace afterbay::storage::pp
