// SPDX-License-Identifier: Apache-2.0
#include "storage/reader/check_description.hpp"

#include <algorithm>
#include <cstring>

#include "model/types.hpp"
#include "storage/structure/read_schema.hpp"

namespace afterbay::storage {
namespace {

/// A flag that was received from a socket may have any bits.
void normalise(bool& flag) {
  unsigned char bits = 0;
  std::memcpy(&bits, &flag, 1);
  flag = bits != 0;
}

bool sound(const Values& values) {
  if (!model::is_type(values.type)) return false;
  if (values.type == Type::string) return values.bytes.empty();
  return values.strings.empty() && values.bytes.size() % size_of(values.type) == 0;
}

bool sound(const std::vector<Attribute>& attributes) {
  return std::all_of(attributes.begin(), attributes.end(),
                     [](const Attribute& attribute) { return sound(attribute.values); });
}

std::optional<std::string> mistake_in(Variable& variable, const FoundFile& found) {
  const std::string name = "variable '" + variable.name + "' ";
  if (!model::is_type(variable.type)) return name + "is of an unknown type";
  if (!sound(variable.attributes) || !sound(variable.fill))
    return name + "has an attribute of an unknown type";
  if (!variable.fill.empty() && variable.fill.count() != 1) return name + "has several fill values";
  if (variable.dimensions.size() > model::max_dimensions) return name + "has too many dimensions";
  if (!variable.chunk.empty() && variable.chunk.size() != variable.dimensions.size())
    return name + "has chunks of another shape";
  std::size_t fixed = 0;
  for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
    const Dimension* dimension = found.schema.find_dimension(variable.dimensions[d]);
    if (dimension == nullptr) return name + "has an unknown dimension";
    if (dimension->is_unlimited() && d > 0) return name + "has an unlimited dimension that is not its first";
    fixed += dimension->is_unlimited() ? 0 : 1;
  }
  if (fixed == model::max_dimensions &&
      std::any_of(found.schema.dimensions.begin(), found.schema.dimensions.end(),
                  [](const Dimension& dimension) { return dimension.is_unlimited(); }))
    return name + "has too many dimensions";
  if (!fits_in_a_file(found.schema, variable)) return name + "has more values than a file can hold";
  return std::nullopt;
}

/// Shapes must fit the variable, and products of sizes must not overflow.
bool sound(const DescribedDataset& dataset, const Variable& variable) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 62;
  const std::size_t rank = variable.dimensions.size();
  if (variable.type == Type::string || dataset.element_bytes != size_of(variable.type)) return false;
  if (dataset.fill.size() != dataset.element_bytes || dataset.lengths.size() != rank) return false;
  std::uint64_t chunks = 1;
  std::uint64_t chunk_bytes = dataset.element_bytes;
  std::uint64_t bytes = dataset.element_bytes;
  const bool chunked = dataset.kind == static_cast<std::uint8_t>(DatasetStorage::Kind::chunked);
  if (chunked ? rank == 0 || dataset.chunk.size() != rank : !dataset.chunk.empty()) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    if (dataset.lengths[d] > longest || __builtin_mul_overflow(bytes, dataset.lengths[d], &bytes))
      return false;
    if (!chunked) continue;
    if (dataset.chunk[d] == 0 || dataset.chunk[d] > longest) return false;
    const std::uint64_t across = (dataset.lengths[d] + dataset.chunk[d] - 1) / dataset.chunk[d];
    if (__builtin_mul_overflow(chunks, across, &chunks) ||
        __builtin_mul_overflow(chunk_bytes, dataset.chunk[d], &chunk_bytes))
      return false;
  }
  return bytes < longest && chunk_bytes < longest;
}

}  // namespace

std::optional<std::string> mistake_in(FoundFile& found) {
  std::size_t growing = 0;
  for (const Dimension& dimension : found.schema.dimensions) growing += dimension.is_unlimited() ? 1 : 0;
  if (growing > 1) return "it has several record dimensions";
  if (!is_known(found.format) || traits_of(found.format).magic.empty()) return "its format is unknown";
  if (found.numbers.size() != found.schema.variables.size()) return "its variables have no numbers";
  if (!sound(found.schema.attributes)) return "it has an attribute of an unknown type";
  for (Variable& variable : found.schema.variables)
    if (auto mistake = mistake_in(variable, found)) return mistake;
  return std::nullopt;
}

std::optional<std::string> mistake_in(ArrayContents& contents) {
  for (ArrayDimension& dimension : contents.dimensions) normalise(dimension.unlimited);
  if (!sound(contents.attributes)) return "it has an attribute of an unknown type";
  for (ArrayVariable& variable : contents.variables) {
    const std::string name = "variable '" + variable.name + "' ";
    if (!model::is_type(variable.type) || !sound(variable.attributes)) return name + "is of an unknown type";
    if (!variable.chunk.empty() && variable.chunk.size() != variable.dimensions.size())
      return name + "has chunks of another shape";
    for (const std::size_t number : variable.dimensions)
      if (number >= contents.dimensions.size()) return name + "has an unknown dimension";
  }
  return std::nullopt;
}

std::vector<DatasetStorage> checked_datasets(const std::vector<DescribedDataset>& described,
                                             const FoundFile& found) {
  std::vector<DatasetStorage> datasets;
  if (described.size() != found.schema.variables.size()) return datasets;
  for (std::size_t v = 0; v < described.size(); ++v) {
    DatasetStorage& dataset = datasets.emplace_back();
    const DescribedDataset& from = described[v];
    if (from.kind > static_cast<std::uint8_t>(DatasetStorage::Kind::chunked) ||
        from.kind == static_cast<std::uint8_t>(DatasetStorage::Kind::library) ||
        !sound(from, found.schema.variables[v]))
      continue;
    auto codec = codec::ChunkCodec::make(from.filters, from.element_bytes);
    if (!codec) continue;
    dataset.kind = static_cast<DatasetStorage::Kind>(from.kind);
    dataset.offset = from.offset;
    dataset.lengths = model::Index(from.lengths);
    dataset.chunk = model::Index(from.chunk);
    dataset.codec = *std::move(codec);
    dataset.elements = {from.element_bytes, from.swapped != 0};
    dataset.fill = from.fill;
  }
  return datasets;
}

DescribedDataset described(const DatasetStorage& dataset) {
  DescribedDataset to;
  to.kind = static_cast<std::uint8_t>(dataset.kind);
  to.offset = dataset.offset;
  to.lengths.assign(dataset.lengths.begin(), dataset.lengths.end());
  to.chunk.assign(dataset.chunk.begin(), dataset.chunk.end());
  to.filters = dataset.codec.filters();
  to.element_bytes = dataset.elements.bytes;
  to.swapped = dataset.elements.swapped ? 1 : 0;
  to.fill = dataset.fill;
  return to;
}

}  // namespace afterbay::storage
