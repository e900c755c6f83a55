// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "config/config.hpp"
#include "parsers.hpp"

namespace afterbay::test {

void parse_configuration(Bytes bytes) {
  config::Sources sources;
  sources.environment.emplace();
  sources.config_file = file_with(bytes, "fuzzed.yaml").string();
  static_cast<void>(config::load(sources));
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_configuration);
