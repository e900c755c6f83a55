// SPDX-License-Identifier: Apache-2.0
#include "storage/input/choose_input.hpp"

#include <utility>

#include "storage/cdf/header.hpp"
#include "storage/fill.hpp"
#include "storage/input/chunked_input.hpp"
#include "storage/input/dense_input.hpp"

namespace afterbay::storage {
namespace {

InputVariable by_library(InputSources& sources, std::uint32_t number) {
  const Schema& schema = sources.library->found().schema;
  InputVariable variable;
  for (const std::string& name : schema.variables[number].dimensions) {
    const Dimension* dimension = schema.find_dimension(name);
    if (dimension->is_unlimited())
      variable.record = true;
    else
      variable.shape.push_back(dimension->length);
  }
  variable.input = std::make_unique<LibraryInput>(*sources.library, number);
  return variable;
}

void use(InputVariable& variable, std::unique_ptr<VariableInput> input) {
  variable.input = std::move(input);
  variable.by_library = false;
}

/// The header contains all positions. netCDF-C itself reads zeros beyond the end of a truncated
/// header. A variable for which our result differs from netCDF-C's is read by netCDF-C.
Result<> choose_classic(InputSources& sources, std::vector<InputVariable>& variables) {
  const FoundFile& found = sources.library->found();
  AFTERBAY_TRY_ASSIGN(const auto file, BlockWriter::open(sources.bytes->descriptor(), sources.bytes->path(),
                                                         DirectIo::off, Disk::real()));
  AFTERBAY_TRY_ASSIGN(const CdfHeader header, read_cdf_header(*file));
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const auto number = static_cast<std::size_t>(found.numbers[v]);
    if (number >= header.variables.size()) continue;
    const CdfVariable& stored = header.variables[number];
    const Variable& variable = found.schema.variables[v];
    const std::size_t element = size_of(variable.type);
    if (stored.name != variable.name || stored.record != variables[v].record ||
        stored.slab_bytes != variables[v].shape.product() * element)
      continue;
    use(variables[v],
        std::make_unique<DenseInput>(*sources.bytes, DenseRecords{stored.begin,
                                                                  stored.record ? header.record_bytes : 0,
                                                                  variables[v].shape,
                                                                  {element, model::needs_swap(true)}}));
  }
  return {};
}

void choose_netcdf4(InputSources& sources, std::vector<InputVariable>& variables) {
  if (sources.remote == nullptr || sources.remote->datasets().empty()) return;
  const Schema& schema = sources.library->found().schema;
  std::vector<DatasetStorage> datasets = sources.remote->datasets();
  const ChunkSources chunk_sources{sources.bytes.get(), sources.remote, &sources.memory};
  for (std::uint32_t v = 0; v < variables.size(); ++v) {
    DatasetStorage& dataset = datasets[v];
    const bool dense = !variables[v].record && dataset.lengths == variables[v].shape;
    if (dataset.kind == DatasetStorage::Kind::chunked)
      use(variables[v],
          std::make_unique<ChunkedInput>(chunk_sources, v, std::move(dataset), variables[v].record,
                                         fill_of(schema.variables[v]).bytes));
    else if (dataset.kind == DatasetStorage::Kind::contiguous && dense)
      use(variables[v],
          std::make_unique<DenseInput>(
              *sources.bytes, DenseRecords{dataset.offset, 0, variables[v].shape, dataset.elements}));
    else if (dataset.kind == DatasetStorage::Kind::nowhere && dense)
      use(variables[v], std::make_unique<FilledInput>(std::move(dataset.fill)));
  }
}

}  // namespace

Result<std::vector<InputVariable>> choose_inputs(InputSources& sources) {
  std::vector<InputVariable> variables;
  const FoundFile& found = sources.library->found();
  for (std::uint32_t v = 0; v < found.schema.variables.size(); ++v)
    variables.push_back(by_library(sources, v));
  if (traits_of(found.format).arithmetic_places)
    AFTERBAY_TRY(choose_classic(sources, variables));
  else
    choose_netcdf4(sources, variables);
  return variables;
}

}  // namespace afterbay::storage
