// SPDX-License-Identifier: Apache-2.0
// DimensionChoice: which places of the dimensions of a field a subset keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "describe/description.hpp"
#include "output/coordinates.hpp"
#include "output/field_definitions.hpp"

namespace afterbay::output {

class DimensionChoice {
 public:
  /// A range of a coordinate that is not a dimension, which the points of the grid have together.
  struct JointRange {
    const describe::GridSubset::Range* range;
    FoundCoordinate coordinate;
  };

  /// Applies what concerns one dimension: boxes by coordinates of one dimension, indices, levels.
  /// `names`: the dimensions to choose from, slowest first; of the field, without those that
  /// stations replace. Throws, at the place in the description.
  DimensionChoice(const FieldDefinitions& definitions, const Field& field,
                  const std::vector<std::string>& names, const describe::GridSubset& grid);

  /// Ranges that are left, because their coordinates are those of a grid or have several
  /// dimensions.
  [[nodiscard]] const std::vector<JointRange>& joint() const noexcept { return joint_; }
  /// False if a selection is by values that definitions on file do not have. All that it could keep
  /// is kept.
  [[nodiscard]] bool is_known() const noexcept { return is_known_; }
  /// What is kept of a dimension, in the order of the field or the opposite one; nullopt: all, in
  /// the order of the field.
  using Indices = std::optional<std::vector<std::uint64_t>>;
  [[nodiscard]] const Indices& kept(std::size_t dimension) const { return kept_[dimension]; }
  /// Keeps the places of a dimension that are among `places`, which ascend.
  void keep_only(std::size_t dimension, const std::vector<std::uint64_t>& places);
  /// Every how many of the places that are left are kept.
  [[nodiscard]] std::uint64_t stride_of(const std::string& dimension) const;
  [[nodiscard]] bool is_reversed(const std::string& dimension) const;
  /// Strides and reversed dimensions, which come last, of the first `dimensions`. Throws if nothing
  /// is left of one of them.
  void finish(std::size_t dimensions);

 private:
  [[nodiscard]] std::size_t find(const std::string& name) const;
  [[nodiscard]] FoundCoordinate find_coordinate_of(const std::string& name,
                                                   const describe::Position& at) const;
  [[nodiscard]] std::uint64_t length_of(std::size_t d) const;
  /// What is kept, as a list to change.
  std::vector<std::uint64_t>& listed(std::size_t d);
  template <class Keep>
  void filter(std::size_t d, Keep keep);
  void box(const describe::GridSubset::Range& range);
  void index(const describe::GridSubset::IndexRange& range);
  void keep_levels(const describe::GridSubset::Levels& levels);
  void keep_every(std::size_t d, std::uint64_t step);

  const FieldDefinitions& definitions_;
  const Field& field_;
  const std::vector<std::string>& names_;
  const describe::GridSubset& grid_;
  std::vector<Indices> kept_;
  std::vector<JointRange> joint_;
  bool is_known_ = true;
};

/// Whether a coordinate lies in a range.
bool is_inside(double value, const describe::GridSubset::Range& range, Quantity quantity, double tolerance);

}  // namespace afterbay::output
