// SPDX-License-Identifier: Apache-2.0
// What model ranks and servers say to each other about files that are read. A variable's record is read in
// pieces (model::InputCut); every server reads some of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/data_fields.hpp"

namespace afterbay::wire {

// ---- model rank -> server

/// To all servers.
struct OpenInput {
  static constexpr Kind kind{130};
  std::uint64_t input = 0;  ///< the session's running number of inputs, equal on every rank
  std::string path;
  bool answer = false;  ///< this server is to tell the rank by InputOpened
  template <class A>
  void fields(A& a) {
    a(input, path, answer);
  }
};

/// The rank's part of a variable, for servers that have to pack it.
struct InputPart {
  std::int32_t map = -1;  ///< a map decomposition's id; -1: the box
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  template <class A>
  void fields(A& a) {
    a(map, start, count);
  }
};

/// Pieces that the rank needs. Each is answered by InputPiece, unless it is only to be read ahead.
struct GetInput {
  static constexpr Kind kind{131};
  std::uint64_t request = 0;  ///< the rank's running number
  std::uint64_t input = 0;
  std::uint32_t variable = 0;  ///< of the schema in InputOpened
  std::uint64_t record = 0;
  bool ahead = false;                 ///< prefetch
  std::vector<std::uint64_t> pieces;  ///< ascending
  std::optional<InputPart> part;      ///< for ranks that cannot look into the server's memory
  template <class A>
  void fields(A& a) {
    a(request, input, variable, record, ahead, pieces, part);
  }
};

/// The rank has copied its part out of a piece in shared memory.
struct InputTaken {
  static constexpr Kind kind{132};
  std::uint64_t request = 0;
  std::uint64_t piece = 0;
  template <class A>
  void fields(A& a) {
    a(request, piece);
  }
};

/// Answered by InputStrings.
struct GetInputStrings {
  static constexpr Kind kind{133};
  std::uint64_t request = 0;
  std::uint64_t input = 0;
  std::uint32_t variable = 0;
  std::uint64_t record = 0;
  template <class A>
  void fields(A& a) {
    a(request, input, variable, record);
  }
};

struct CloseInput {
  static constexpr Kind kind{134};
  std::uint64_t input = 0;
  template <class A>
  void fields(A& a) {
    a(input);
  }
};

// ---- server -> model rank

struct InputOpened {
  static constexpr Kind kind{160};
  std::uint64_t input = 0;
  Schema schema;
  std::uint64_t records = 0;
  std::vector<std::string> unreadable;  ///< names of variables that are not in the schema, and
  std::vector<std::string> reasons;     ///< why
  std::optional<Error> error;
  template <class A>
  void fields(A& a) {
    a(input, schema, records, unreadable, reasons, error);
  }
};

/// Where the server keeps what it has read, for ranks on its node. Comes before the first piece.
struct InputMemory {
  static constexpr Kind kind{161};
  std::string address;  ///< for transport::SharedArea::open
  std::uint64_t bytes = 0;
  template <class A>
  void fields(A& a) {
    a(address, bytes);
  }
};

/// A piece is there: at `offset` of the server's InputMemory until InputTaken, or the rank's part of it
/// packed in `data`.
struct InputPiece {
  static constexpr Kind kind{162};
  std::uint64_t request = 0;
  std::uint64_t piece = 0;
  std::uint64_t offset = 0;
  std::vector<std::byte> data;
  std::optional<Error> error;
  template <class A>
  void fields(A& a) {
    a(request, piece, offset, data, error);
  }
};

struct InputStrings {
  static constexpr Kind kind{163};
  std::uint64_t request = 0;
  std::vector<std::string> values;
  std::optional<Error> error;
  template <class A>
  void fields(A& a) {
    a(request, values, error);
  }
};

}  // namespace afterbay::wire
