// SPDX-License-Identifier: Apache-2.0
// Messages from I/O servers to model ranks. Messages of one server to one rank arrive in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/format.hpp"
#include "wire/data_fields.hpp"
#include "wire/message_list.hpp"

namespace afterbay::wire {

/// All messages of this direction. The handlers are in client/message_handlers.cpp.
using ToModel =
    MessageList<first_to_model, struct Defined, struct MapLosses, struct MapPacking, struct Assigned,
                struct FileRecords, struct TicketDone, struct SessionFailed, struct Bye, struct InputOpened,
                struct InputMemory, struct InputPiece, struct InputStrings>;

struct Defined {
  static constexpr Kind kind = ToModel::kind<Defined>();
  struct Base {
    std::uint32_t collection = 0;
    std::uint32_t first_frame = 0;
    /// One per variable; 1: ranks put this server's pieces packed, see MapPacking.
    std::vector<std::uint8_t> packed;
    template <class A>
    void fields(A& a) {
      a(collection, first_frame, packed);
    }
  };
  std::uint64_t serial = 0;
  std::vector<Base> bases;
  template <class A>
  void fields(A& a) {
    a(serial, bases);
  }
};

/// Points of a map that another rank also holds and that this rank must not write. Sent before
/// Defined, by each server that knows of such points; several may name the same ones.
struct MapLosses {
  static constexpr Kind kind = ToModel::kind<MapLosses>();
  std::uint32_t id = 0;
  std::vector<std::uint64_t> offsets;  ///< offsets of runs, ascending
  std::vector<std::uint64_t> lengths;
  template <class A>
  void fields(A& a) {
    a(id, offsets, lengths);
  }
};

/// Where a rank's values lie in pieces that are put packed: the values of all ranks one after the
/// other. Sent before Defined.
struct MapPacking {
  static constexpr Kind kind = ToModel::kind<MapPacking>();
  std::uint32_t id = 0;               ///< id of the map
  std::vector<std::uint64_t> part;    ///< lengths of the cells
  std::vector<std::uint32_t> cells;   ///< cells in which the server knows points of the rank, ascending
  std::vector<std::uint64_t> before;  ///< number of points of lower ranks in each cell
  template <class A>
  void fields(A& a) {
    a(id, part, cells, before);
  }
};

/// The server of file number `nth` of a collection, counted from 0.
struct Assigned {
  static constexpr Kind kind = ToModel::kind<Assigned>();
  std::uint32_t collection = 0;
  std::uint64_t nth = 0;
  std::uint32_t server = 0;
  template <class A>
  void fields(A& a) {
    a(collection, nth, server);
  }
};

struct FileRecords {
  static constexpr Kind kind = ToModel::kind<FileRecords>();
  std::uint64_t file = 0;
  std::uint64_t records = 0;
  template <class A>
  void fields(A& a) {
    a(file, records);
  }
};

struct TicketDone {
  static constexpr Kind kind = ToModel::kind<TicketDone>();
  std::uint64_t ticket = 0;
  template <class A>
  void fields(A& a) {
    a(ticket);
  }
};

/// The session cannot continue: every later call fails with this error.
struct SessionFailed {
  static constexpr Kind kind = ToModel::kind<SessionFailed>();
  Error error;
  bool reported = false;  ///< printed on stderr by the sender or by the process that informed it
  template <class A>
  void fields(A& a) {
    a(error, reported);
  }
};

/// Everything is published; the server ends.
struct Bye {
  static constexpr Kind kind = ToModel::kind<Bye>();
  template <class A>
  void fields(A&) {}
};

// ---- input

struct InputOpened {
  static constexpr Kind kind = ToModel::kind<InputOpened>();
  std::uint64_t input = 0;
  Schema schema;
  std::uint64_t records = 0;
  std::vector<std::string> unreadable;  ///< names of variables that are not in the schema
  std::vector<std::string> reasons;     ///< the reasons
  std::optional<Error> error;
  Format format = Format::netcdf4;
  template <class A>
  void fields(A& a) {
    a(input, schema, records, unreadable, reasons, error, format);
  }
};

/// Where the server keeps the data that it has read, for ranks on its node. Sent before the first
/// piece.
struct InputMemory {
  static constexpr Kind kind = ToModel::kind<InputMemory>();
  std::string address;  ///< for transport::SharedArea::open
  std::uint64_t bytes = 0;
  template <class A>
  void fields(A& a) {
    a(address, bytes);
  }
};

/// A piece has been read: at `offset` of the server's InputMemory until InputTaken; or, for ranks
/// that share no memory with the server, the rank's part of it is packed in the data of the
/// message.
struct InputPiece {
  static constexpr Kind kind = ToModel::kind<InputPiece>();
  std::uint64_t request = 0;
  std::uint64_t piece = 0;
  std::uint64_t offset = 0;
  std::optional<Error> error;
  template <class A>
  void fields(A& a) {
    a(request, piece, offset, error);
  }
};

struct InputStrings {
  static constexpr Kind kind = ToModel::kind<InputStrings>();
  std::uint64_t request = 0;
  std::vector<std::string> values;
  std::optional<Error> error;
  template <class A>
  void fields(A& a) {
    a(request, values, error);
  }
};

}  // namespace afterbay::wire
