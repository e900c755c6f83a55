// SPDX-License-Identifier: Apache-2.0
#include "model/chunk_choice.hpp"

#include <algorithm>

#include "model/filters.hpp"
#include "model/variable_shape.hpp"

namespace afterbay::model {
namespace {

bool has_record(const Schema& schema, const Variable& variable) {
  return !variable.dimensions.empty() && schema.find_dimension(variable.dimensions[0])->is_unlimited();
}

std::uint64_t slab_bytes(const Schema& schema, const Variable& variable) {
  return shape_of(schema, variable).product() * size_of(variable.type);
}

/// Source: CF conventions 1.10, section 4.3: a vertical coordinate has `positive` or axis = "Z".
bool is_vertical(const Schema& schema, const std::string& dimension) {
  const Variable* coordinate = schema.find_variable(dimension);
  return coordinate != nullptr && std::ranges::any_of(coordinate->attributes, [](const Attribute& it) {
           return it.name == "positive" ||
                  (it.name == "axis" && it.values.type == Type::text && it.values.text() == "Z");
         });
}

/// Finds the vertical dimensions by their coordinates; otherwise the dimensions that the map does
/// not cover; otherwise all but the last two.
std::array<bool, max_dimensions> levels_of(const Schema& schema, const Variable& variable,
                                           const std::optional<MapDimensions>& mapped) {
  std::array<bool, max_dimensions> levels{};
  const std::size_t first = has_record(schema, variable) ? 1 : 0;
  const std::size_t rank = variable.dimensions.size() - first;
  bool found = false;
  for (std::size_t d = 0; d < rank; ++d) {
    levels[d] = is_vertical(schema, variable.dimensions[first + d]);
    found = found || levels[d];
  }
  if (found) return levels;
  for (std::size_t d = 0; d < rank; ++d)
    levels[d] = mapped ? d < mapped->first || d >= mapped->after() : d + 2 < rank;
  return levels;
}

class CollectionChooser {
 public:
  CollectionChooser(Schema& schema, std::span<const VariableFacts> variables, const ChunkFacts& facts)
      : schema_(schema), variables_(variables), facts_(facts) {}

  std::vector<ChunkChoice> choose() {
    expect_records();
    share_assembly_memory();
    std::vector<ChunkChoice> choices;
    for (std::size_t v = 0; v < schema_.variables.size(); ++v)
      choices.push_back(choose(schema_.variables[v], variables_[v]));
    return choices;
  }

 private:
  /// Computes the number of records in a file of the expected size.
  void expect_records() {
    std::uint64_t fixed = 0, record = 0;
    for (const Variable& variable : schema_.variables)
      if (variable.type != Type::string)
        (has_record(schema_, variable) ? record : fixed) += slab_bytes(schema_, variable);
    if (facts_.expected_bytes > fixed && record > 0)
      records_ = (facts_.expected_bytes - fixed - 1) / record + 1;
  }

  /// Compressed chunks of several records of all variables are assembled in memory. They share half
  /// of it, so that the next chunks find room while the last ones are written.
  void share_assembly_memory() {
    std::uint64_t given = 0, waiting = 0;
    for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
      const Variable& variable = schema_.variables[v];
      if (!has_record(schema_, variable) || !is_filtered(variable)) continue;
      if (!variable.chunk.empty())
        given += variable.chunk[0] > 1 ? variable.chunk[0] * slab_bytes(schema_, variable) : 0;
      else if (wants_series(variables_[v].access))
        waiting += slab_bytes(schema_, variable);
    }
    const std::uint64_t half = facts_.assembly_bytes / 2;
    const std::uint64_t left = half > given ? half - given : 0;
    most_assembled_ = std::max<std::uint64_t>(1, waiting > 0 ? left / waiting : 1);
  }

  static bool wants_series(Access access) { return access == Access::series || access == Access::balanced; }

  ChunkChoice choose(Variable& variable, const VariableFacts& facts) const {
    ChunkChoice choice{ChunkSource::contiguous, facts.access, false};
    if (!is_chunked(schema_, variable)) return choice;
    if (!variable.chunk.empty()) {
      choice.source = facts.from_setting ? ChunkSource::setting : ChunkSource::schema;
      return choice;
    }
    choice.source = ChunkSource::access;
    ChunkWish wish = wish_for(variable, facts);
    const Index shape = shape_of(schema_, variable);
    const ChunkShape unbounded = choose_chunk(shape, size_of(variable.type), wish);
    if (is_filtered(variable)) wish.most_records = most_assembled_;
    const ChunkShape shape_chosen = choose_chunk(shape, size_of(variable.type), wish);
    choice.short_of_memory = shape_chosen.records < unbounded.records;
    if (wish.record) variable.chunk.push_back(shape_chosen.records);
    variable.chunk.insert(variable.chunk.end(), shape_chosen.lengths.begin(), shape_chosen.lengths.end());
    return choice;
  }

  [[nodiscard]] ChunkWish wish_for(const Variable& variable, const VariableFacts& facts) const {
    ChunkWish wish;
    wish.access = facts.access;
    wish.most_bytes = facts_.sizes.chunk_bytes;
    wish.most_record_bytes = std::min(facts_.sizes.frame_bytes, facts_.sizes.gathered_bytes());
    wish.record = has_record(schema_, variable);
    wish.records = records_;
    wish.levels = levels_of(schema_, variable, facts.mapped);
    const std::size_t rank = variable.dimensions.size() - (wish.record ? 1 : 0);
    if (facts.block_rank > 0 && facts.block_rank <= rank) {
      wish.bands = facts.bands;
      wish.band_dimension = rank - std::min<std::size_t>(2, facts.block_rank);
    }
    return wish;
  }

  Schema& schema_;
  std::span<const VariableFacts> variables_;
  const ChunkFacts& facts_;
  std::uint64_t records_ = usual_records;
  std::uint64_t most_assembled_ = 1;
};

}  // namespace

bool is_chunked(const Schema& schema, const Variable& variable) {
  if (variable.dimensions.empty() || variable.type == Type::string) return false;
  return has_record(schema, variable) || is_filtered(variable) || !variable.chunk.empty();
}

std::vector<ChunkChoice> choose_chunks(Schema& schema, std::span<const VariableFacts> variables,
                                       const ChunkFacts& facts) {
  return CollectionChooser(schema, variables, facts).choose();
}

std::string text_of(const ChunkChoice& choice) {
  switch (choice.source) {
    case ChunkSource::contiguous: return "contiguous";
    case ChunkSource::schema: return "schema";
    case ChunkSource::setting: return "setting chunk";
    case ChunkSource::access: break;
  }
  return fmt::format("access {}{}", name_of(choice.access),
                     choice.short_of_memory ? ", fewer records because of memory.chunks" : "");
}

}  // namespace afterbay::model
