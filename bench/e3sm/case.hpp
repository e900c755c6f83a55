// SPDX-License-Identifier: Apache-2.0
// A case of the E3SM benchmark in the form written by bench/e3sm_case.py: the schema of a file, and
// the global points that this rank holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::e3sm {

enum class Type { text, int32, float32, float64 };
std::size_t size_of(Type type);

struct Attribute {
  std::string name;
  Type type = Type::text;
  std::string text;             ///< for Type::text
  std::vector<double> numbers;  ///< for the other types; an int32 is exact
};

struct Dimension {
  std::string name;
  std::size_t length = 0;  ///< 0: unlimited
};

struct Variable {
  std::string name;
  Type type = Type::float64;
  std::vector<int> dimensions;  ///< positions in Case::dimensions
  std::vector<Attribute> attributes;
  int map = -1;  ///< position in Case::maps; -1: not decomposed
  bool record = false;
  std::size_t points = 1;  ///< per record, over all ranks
};

/// Consecutive points within one row (the last dimension) of a map.
struct Piece {
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

struct Map {
  std::string name;
  std::vector<std::uint64_t> dims;   ///< C order
  std::vector<std::int64_t> points;  ///< this rank's, 0-based, in the order of its arrays
};

struct Case {
  std::string name;
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;  ///< in the order of the file
  std::vector<int> order;           ///< the order in which the model writes them
  std::vector<Attribute> attributes;
  std::vector<Map> maps;
  [[nodiscard]] std::vector<std::string> names_of(const std::vector<int>& positions) const;
};

/// The order of a rank's points in its arrays.
enum class ArrayOrder {
  captured,  ///< as in the model: a map gives the positions
  ascending  ///< as in the file: the baselines' best case, with the fewest requests
};

/// The captured ranks are distributed over `ranks` in contiguous groups, with the remainder on the
/// lowest; a rank's points are those of its group, one after another. Ranks without a group hold
/// nothing. Throws std::runtime_error.
Case load_case(const std::string& path, int rank, int ranks, ArrayOrder order);

/// The points in ascending order, as the smallest number of pieces that do not cross a row.
std::vector<Piece> pieces_of(const Map& map);

}  // namespace bench::e3sm
