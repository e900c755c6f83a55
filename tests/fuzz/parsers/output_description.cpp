// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <stdexcept>
#include <string>

#include "describe/print.hpp"
#include "describe/read.hpp"
#include "describe/yaml.hpp"
#include "parsers.hpp"

namespace afterbay::test {

/// What is accepted must also read back from what is printed.
void parse_output_description(Bytes bytes) {
  describe::ReadOptions options;
  options.environment.emplace().emplace("CASE", "control");
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto description = describe::read_text(text, "fuzzed.yaml", options);
  if (!description) return;
  const std::string printed = describe::write_yaml(describe::node_of(*description));
  // Texts that contain ${ would be replaced again.
  if (printed.find("${") != std::string::npos) return;
  const auto again = describe::read_text(printed, "printed.yaml", options);
  if (!again)
    throw std::runtime_error("the printed description is refused: " + again.error().message + "\n" + printed);
  if (describe::write_yaml(describe::node_of(*again)) != printed)
    throw std::runtime_error("the printed description reads back differently:\n" + printed);
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_output_description);
