// SPDX-License-Identifier: Apache-2.0
// The state of an input file on a model rank, and how the rank's part is copied out of the pieces.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "afterbay/input.hpp"
#include "base/result.hpp"
#include "client/decomposition.hpp"
#include "model/format.hpp"
#include "model/input_cut.hpp"
#include "model/moves.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::client {

struct Input {
  std::uint64_t id = 0;
  std::string path;
  bool answered = false;
  bool closed = false;
  std::optional<Error> error;  ///< the reason if it could not be opened
  Schema schema;
  std::uint64_t records = 0;
  Format format = Format::netcdf4;
  std::map<std::string, std::string, std::less<>> unreadable;  ///< reasons, by variable
  std::vector<model::InputCut> cuts;                           ///< one per variable

  /// Stores the servers' answer.
  void opened(wire::InputOpened answer, const model::InputSizes& sizes);
  /// Finds a variable by name. `strings`: it must hold strings; otherwise numbers or text.
  [[nodiscard]] Result<std::uint32_t> variable(std::string_view name, bool strings) const;
  /// The record to read; 0 for a variable without the unlimited dimension. Refuses records that do
  /// not exist.
  [[nodiscard]] Result<std::uint64_t> record_of(std::uint32_t variable, std::uint64_t record,
                                                std::uint64_t records) const;
};

/// How a rank's part of one piece is copied into its array.
struct ReadPiece {
  std::uint64_t piece = 0;
  struct BoxMoves {
    model::Move scatter;  ///< from the piece
    model::Move unpack;   ///< from a packed buffer
  };
  struct MapMoves {
    model::MapMove scatter;
    model::MapMove unpack;
  };
  std::variant<BoxMoves, MapMoves> moves;
  std::uint64_t packed_bytes = 0;
  const model::CellPoints* points = nullptr;  ///< points of a map, in the order of the file

  std::uint64_t scatter(const std::byte* piece_data, void* data, model::Kernel kernel) const;
  std::uint64_t unpack(const std::byte* packed, void* data, model::Kernel kernel) const;
};

/// A rank's part of a variable: all pieces that it needs.
struct ReadPlan {
  std::uint32_t variable = 0;
  std::size_t element_bytes = 0;  ///< in the rank's array
  model::Kernel kernel{};
  std::vector<ReadPiece> pieces;
  wire::InputPart part;            ///< for servers that must pack the part
  model::Index cells;              ///< maps: lengths of the cells
  std::uint64_t record_bytes = 0;  ///< distance of records in the rank's array
  std::uint64_t file_bytes = 0;    ///< bytes of a record's part, in the file's type
  /// Values of points that the rank lists twice: copied run by run of `Move`, from one element to
  /// the other.
  struct Twins {
    const std::vector<model::ElementTwin>* elements = nullptr;
    model::Move values;                 ///< the values of one point in the rank's array
    std::ptrdiff_t element_stride = 0;  ///< in bytes
  };
  std::optional<Twins> twins;
  void copy_twins(std::byte* data) const;
};

/// `decomposition`: null if the selection names none. `memory` describes the rank's array. Errors
/// name neither the file nor the variable.
Result<ReadPlan> make_read_plan(const Input& input, std::uint32_t variable, const Selection& what,
                                const Decomposition* decomposition, Type type, const MemoryLayout& memory);

}  // namespace afterbay::client
