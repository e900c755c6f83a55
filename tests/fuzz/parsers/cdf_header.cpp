// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "parsers.hpp"
#include "storage/cdf/header.hpp"

namespace afterbay::test {

void parse_cdf_header(Bytes bytes) {
  const auto header = storage::parse_cdf_header(bytes);
  if (!header) return;
  static_cast<void>(header->find("T"));
  static_cast<void>(header->first_byte_of_data());
  static_cast<void>(header->end_of_values());
  for (const std::uint64_t records : {std::uint64_t{0}, ~std::uint64_t{0}})
    static_cast<void>(header->file_bytes(records, bytes.size()));
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_cdf_header);
