// SPDX-License-Identifier: Apache-2.0
// PpEncoder: makes the records of PP files.
#pragma once

#include <memory>

#include "storage/um/field_encoder.hpp"

namespace afterbay::storage::pp {

/// A message is the record of a header and that of its values.
class PpEncoder final : public um::FieldEncoder {
 public:
  static Result<std::unique_ptr<MessageEncoder>> make_encoder(const Schema& schema,
                                                              const model::FileLayout& layout);

 private:
  [[nodiscard]] std::size_t most_bytes(const packing::PpHeader& header, std::size_t extra_words,
                                       packing::PpPacking packing) const override;
  Result<packing::PpEncoded> make(const packing::PpHeader& header, std::span<const float> values,
                                  std::span<const std::uint32_t> extra, const packing::PpEncoding& encoding,
                                  std::span<std::byte> to) const override;
  Result<packing::PpEncoded> make(const packing::PpHeader& header, std::span<const double> values,
                                  std::span<const std::uint32_t> extra, const packing::PpEncoding& encoding,
                                  std::span<std::byte> to) const override;
  [[nodiscard]] packing::PpHeader read_header(std::span<const std::byte> message) const override;
  void write_header(const packing::PpHeader& header, std::span<std::byte> message) const override;
};

}  // namespace afterbay::storage::pp
