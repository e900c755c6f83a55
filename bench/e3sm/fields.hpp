// SPDX-License-Identifier: Apache-2.0
// A rank's arrays, with values that a reader can recompute for any variable, record and global
// point (bench/e3sm_case.py: expected).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "e3sm/case.hpp"

namespace bench::e3sm {

class Fields {
 public:
  /// Arrays for every variable: this rank's points if it is on a map, otherwise all points, on
  /// every rank.
  Fields(const Case& source, int rank);

  /// Sets the values for `record`. If `every_point` is unset, only every 32nd point of decomposed
  /// variables changes, so that the cost of computing data does not hide the cost of writing them.
  void stamp(int record, bool every_point);

  [[nodiscard]] const std::byte* data(int variable) const {
    return memory_.get() + offsets_[static_cast<std::size_t>(variable)];
  }
  [[nodiscard]] std::size_t count(int variable) const { return counts_[static_cast<std::size_t>(variable)]; }
  /// Whether this rank writes the variable if each value is written once: rank 0 writes variables
  /// that are not decomposed.
  [[nodiscard]] bool writes(int variable) const {
    return rank_ == 0 || source_.variables[static_cast<std::size_t>(variable)].map >= 0;
  }
  [[nodiscard]] int rank() const { return rank_; }
  /// The bytes that `record` adds to the file, for all variables that this rank writes; fixed ones
  /// with record 0.
  [[nodiscard]] std::vector<std::span<const std::byte>> parts(int record) const;
  [[nodiscard]] std::size_t bytes(int record) const;

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  template <class T>
  void fill(int variable, int record, bool everything);
  void fill_all(int record, bool everything);

  const Case& source_;
  int rank_;
  std::vector<std::size_t> offsets_;  ///< by variable, in memory_
  std::vector<std::size_t> counts_;   ///< by variable
  std::unique_ptr<std::byte, Free> memory_;
};

/// The value of variable number `variable` at a global point; exact in float32.
inline std::int64_t value_at(int variable, std::int64_t point, int record) {
  const std::int64_t base = (std::int64_t{variable} * 40503 + point * 13) & 0xFFFFF;
  return base + (std::int64_t{(record + 1) & 7} << 20);
}
inline char text_at(int variable, std::int64_t point, int record) {
  return static_cast<char>('A' + (variable + point + record) % 26);
}

}  // namespace bench::e3sm
