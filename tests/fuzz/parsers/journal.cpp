// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>

#include "journal/read.hpp"
#include "parsers.hpp"

namespace afterbay::test {

void parse_journal(Bytes bytes) {
  std::filesystem::create_directories("fuzzed-journal");
  static_cast<void>(file_with(bytes, "fuzzed-journal/server-0.jsonl"));
  static_cast<void>(journal::read_journal("fuzzed-journal"));
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_journal);
