// SPDX-License-Identifier: Apache-2.0
// InputCut: how a variable's record is cut into pieces for reading. A pure function of the
// variable's description in the file and of the sizes, so that model ranks and servers cut alike.
#pragma once

#include <cstdint>

#include "afterbay/schema.hpp"
#include "model/box.hpp"

namespace afterbay::model {

struct InputSizes {
  std::uint64_t piece_bytes = 4u << 20;  ///< approximate size of a piece
  /// Limit for larger pieces, which avoid decoding chunks twice.
  std::uint64_t most_bytes = 16u << 20;
};

/// A piece is a box of lengths `part` (less at the edges of the variable), made of whole chunks if
/// possible. In memory it takes the room of `part`.
class InputCut {
 public:
  InputCut(const Schema& schema, const Variable& variable, const InputSizes& sizes);

  /// Whether the variable has the unlimited dimension.
  [[nodiscard]] bool record() const noexcept { return record_; }
  /// Lengths without the record dimension.
  [[nodiscard]] const Index& shape() const noexcept { return shape_; }
  [[nodiscard]] const Index& part() const noexcept { return part_; }  ///< lengths in memory
  [[nodiscard]] std::uint64_t pieces() const noexcept { return grid_.product(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return part_.product() * element_bytes_; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] Box piece(std::uint64_t number) const;

 private:
  bool record_ = false;
  std::size_t element_bytes_ = 0;
  Index shape_;
  Index part_;
  Index grid_;
};

}  // namespace afterbay::model
