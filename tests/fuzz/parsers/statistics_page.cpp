// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/crc64.hpp"
#include "observe/statistics_page.hpp"
#include "parsers.hpp"

namespace afterbay::test {

/// With the checksum that fits: otherwise hardly any damaged page would be parsed.
void parse_statistics_page(Bytes bytes) {
  constexpr std::string_view sum_field = R"(,"crc64":")";
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.resize(std::min(text.size(), text.rfind(sum_field)));
  text += fmt::format("{}{:016x}\"}}", sum_field, crc64(std::as_bytes(std::span(text))));
  if (const auto page = observe::parse_page(text)) static_cast<void>(observe::page_json(*page));
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_statistics_page);
