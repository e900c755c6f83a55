// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <stdexcept>
#include <string>

#include "output/model_definitions.hpp"
#include "parsers.hpp"

namespace afterbay::test {

namespace {

std::string written(const output::ModelDefinitions& model) {
  output::GridKinds kinds;
  for (const output::Grid& grid : model.definitions.grids())
    kinds[grid.name] = grid.decomposition.empty() ? "whole" : "map";
  return write_definitions(model.definitions, model.options, kinds, model.processes);
}

}  // namespace

/// What is accepted must also read back from what is written.
void parse_model_definitions(Bytes bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto model = output::read_definitions_text(text, "fuzzed.yaml");
  if (!model) return;
  const std::string first = written(*model);
  const auto again = output::read_definitions_text(first, "written.yaml");
  if (!again)
    throw std::runtime_error("the written definitions are refused: " + again.error().message + "\n" + first);
  if (written(*again) != first)
    throw std::runtime_error("the written definitions read back differently:\n" + first);
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_model_definitions);
