// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "observe/statistics_page.hpp"
#include "parsers.hpp"

namespace afterbay::test {

void parse_statistics_page(Bytes bytes) {
  const auto page = observe::read_page(file_with(bytes, "statistics-0.json").string());
  if (page) static_cast<void>(observe::page_json(*page));
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_statistics_page);
