// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "decomp/formats.hpp"
#include "parsers.hpp"

namespace afterbay::test {

void parse_decomposition(Bytes bytes) {
  const auto source = decomp::MapsReader::open(file_with(bytes, "fuzzed.map").string());
  if (!source) return;
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min((*source)->maps(), most); ++i) {
    static_cast<void>((*source)->name(i));
    static_cast<void>((*source)->read(i));
  }
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_decomposition);
