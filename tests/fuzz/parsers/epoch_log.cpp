// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "parsers.hpp"
#include "storage/epoch/epoch_log.hpp"

namespace afterbay::test {

void parse_epoch_log(Bytes bytes) {
  static_cast<void>(storage::read_epoch_log(file_with(bytes, "fuzzed.nc.part.epochs").string()));
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_epoch_log);
