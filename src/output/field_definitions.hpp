// SPDX-License-Identifier: Apache-2.0
// FieldDefinitions: dimensions, grids, coordinates and fields of the model, as it gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/output.hpp"

namespace afterbay::output {

struct Dimension {
  std::string name;
  std::uint64_t length = 0;
  Values values;  ///< its coordinate; empty: none
  CoordinateOptions options;
  /// False for long coordinates in definitions on file, which do not have their values: `values`
  /// then has their type and number only.
  bool has_known_values = true;
};

struct Grid {
  std::string name;
  std::vector<std::string> dimensions;
  std::string decomposition;
  std::string mapping = {};  ///< `grid_mapping` of its fields, unless they have one; empty: none
};

/// An auxiliary coordinate: constant, or of a grid and distributed as its fields are.
struct Coordinate {
  std::string name;
  std::vector<std::string> dimensions;
  std::string grid;  ///< empty: constant
  Values values;     ///< values of this rank, if it is distributed
  CoordinateOptions options;
  bool has_known_values = true;  ///< false for those of definitions on file, which has none of their values
};

struct Field {
  std::string name;
  FieldOptions options;
};

/// What a model has defined. Definitions are checked when they are added; points of ranks are not
/// known here.
class FieldDefinitions {
 public:
  void add(Dimension dimension);
  void add(Grid grid);
  void add(Coordinate coordinate);
  void add(Field field);

  [[nodiscard]] const Dimension& dimension(std::string_view name) const;  ///< throws unknown_name
  [[nodiscard]] const Grid& grid(std::string_view name) const;            ///< throws unknown_name
  [[nodiscard]] const Field* find_field(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<Dimension>& dimensions() const noexcept { return dimensions_; }
  [[nodiscard]] const std::vector<Grid>& grids() const noexcept { return grids_; }
  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return fields_; }
  [[nodiscard]] const std::vector<Coordinate>& coordinates() const noexcept { return coordinates_; }
  [[nodiscard]] std::vector<std::string> field_names() const;
  /// Names of the dimensions of a field, slowest first, without the time.
  [[nodiscard]] std::vector<std::string> dimensions_of(const Field& field) const;

 private:
  void check_new(const std::string& name, std::string_view what) const;

  std::vector<Dimension> dimensions_;
  std::vector<Grid> grids_;
  std::vector<Coordinate> coordinates_;
  std::vector<Field> fields_;
  std::map<std::string, std::size_t, std::less<>> field_numbers_;
};

}  // namespace afterbay::output
