// SPDX-License-Identifier: Apache-2.0
// What model ranks and servers say to each other. Order matters per pair only. Kinds below 100
// belong to the transport (frame_messages.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/data_fields.hpp"

namespace afterbay::wire {

// ---- model rank -> server: definitions (each rank; the server answers when all have come)

struct DefineDecomposition {
  static constexpr Kind kind{100};
  std::uint32_t id = 0;
  std::string name;
  Coverage coverage;
  Block block;  ///< the sender's part
  template <class A>
  void fields(A& a) {
    a(id, name, coverage, block);
  }
};

/// A rank's points of a map.
struct DefineMap {
  static constexpr Kind kind{103};
  std::uint32_t id = 0;
  std::string name;
  Coverage coverage;
  std::vector<std::uint64_t> global;  ///< lengths, C order
  std::vector<std::byte> points;      ///< by model::encode_offsets, ascending
  std::vector<std::byte> list;        ///< likewise, in the order of the rank's array; empty: the same order
  template <class A>
  void fields(A& a) {
    a(id, name, coverage, global, points, list);
  }
};

struct DefineCollection {
  static constexpr Kind kind{101};
  std::uint32_t id = 0;
  std::string name;
  std::string store;                   ///< name of a model::Format
  std::uint8_t existing = 0;           ///< storage::Existing
  std::uint8_t split = 0;              ///< model::Split
  std::uint8_t least = 0;              ///< 1: its files go where there is least to write, see AskServer
  std::vector<std::uint32_t> servers;  ///< of its pool, ascending
  std::uint32_t first = 0;             ///< which of them makes its first file
  std::uint64_t gather_bytes = 0;      ///< model::LayoutSizes::gather_bytes
  std::uint64_t schema_hash = 0;
  std::vector<std::int32_t> decompositions;  ///< one a variable: id, or -1 for Whole
  std::optional<Schema> schema;              ///< from the lowest model rank only
  template <class A>
  void fields(A& a) {
    a(id, name, store, existing, split, least, servers, first, gather_bytes, schema_hash, decompositions,
      schema);
  }
};

/// Ends a batch of definitions.
struct DefineEnd {
  static constexpr Kind kind{102};
  std::uint64_t serial = 0;
  std::uint8_t writes_files = 0;  ///< 1: the session has a collection of files, of this server or another one
  template <class A>
  void fields(A& a) {
    a(serial, writes_files);
  }
};

// ---- model rank -> server: output

struct OpenFile {
  static constexpr Kind kind{110};
  std::uint64_t file = 0;  ///< the session's running number of opens, equal on every rank
  std::uint32_t collection = 0;
  std::uint32_t leader = 0;   ///< the server that makes the file; the others are its members
  std::uint8_t assigned = 0;  ///< 1: a file that counts where there is least to write
  std::string path;
  std::optional<SchemaChanges> changes;  ///< from the lowest model rank only
  std::optional<FileName> name{};        ///< likewise: what `path` was made of
  template <class A>
  void fields(A& a) {
    a(file, collection, leader, assigned, path, changes, name);
  }
};

/// The server that is told the load of all others and chooses by it, for all pools.
inline constexpr std::uint32_t choosing_server = 0;

/// One way to write a file: the server that would make it, and those whose load counts.
struct Candidate {
  std::uint32_t leader = 0;
  std::vector<std::uint32_t> servers;
  template <class A>
  void fields(A& a) {
    a(leader, servers);
  }
};

/// Which server is to get file number `nth` of a collection whose files go where there is least to write?
/// From the lowest model rank to `choosing_server`, which tells all ranks (Assigned).
struct AskServer {
  static constexpr Kind kind{121};
  std::uint32_t collection = 0;
  std::uint64_t nth = 0;
  std::uint64_t expected_bytes = 0;
  std::vector<Candidate> candidates;
  template <class A>
  void fields(A& a) {
    a(collection, nth, expected_bytes, candidates);
  }
};

/// The rank's first put for (file, record): what `seq` means for this collection on this server.
struct BeginRecord {
  static constexpr Kind kind{111};
  std::uint32_t collection = 0;
  std::uint64_t seq = 0;
  std::uint64_t file = 0;
  std::uint64_t record = 0;
  std::uint8_t fixed = 0;  ///< 1: the variables without the record dimension
  template <class A>
  void fields(A& a) {
    a(collection, seq, file, record, fixed);
  }
};

/// The rank handed over all its part of a variable; its pieces were counted before.
struct Put {
  static constexpr Kind kind{112};
  std::uint32_t collection = 0;
  std::uint64_t seq = 0;
  std::uint32_t variable = 0;
  template <class A>
  void fields(A& a) {
    a(collection, seq, variable);
  }
};

/// All elements of a string variable, from the lowest model rank.
struct PutStrings {
  static constexpr Kind kind{113};
  std::uint64_t file = 0;
  std::uint64_t record = 0;
  std::uint32_t variable = 0;
  std::vector<std::string> values;
  template <class A>
  void fields(A& a) {
    a(file, record, variable, values);
  }
};

/// Everything with a smaller seq has been handed over by this rank.
struct EndRecords {
  static constexpr Kind kind{114};
  struct Bound {
    std::uint32_t collection = 0;
    std::uint64_t next_seq = 0;
    template <class A>
    void fields(A& a) {
      a(collection, next_seq);
    }
  };
  std::uint64_t step = 0;
  std::vector<Bound> bounds;
  std::uint64_t waited_for_room_ns = 0;   ///< by this rank so far, for room in this server
  std::uint64_t waited_for_files_ns = 0;  ///< for tickets, of whatever server
  template <class A>
  void fields(A& a) {
    a(step, bounds, waited_for_room_ns, waited_for_files_ns);
  }
};

struct CloseFile {
  static constexpr Kind kind{115};
  std::uint64_t file = 0;
  std::uint64_t ticket = 0;  ///< Done is sent for it when the file is published
  template <class A>
  void fields(A& a) {
    a(file, ticket);
  }
};

/// How many records did the file hold when it was opened? Answered by FileRecords once it is.
struct AskRecords {
  static constexpr Kind kind{120};
  std::uint64_t file = 0;
  template <class A>
  void fields(A& a) {
    a(file);
  }
};

struct Flush {
  static constexpr Kind kind{116};
  std::uint64_t ticket = 0;
  std::uint64_t strings = 0;  ///< puts of string variables by this rank, on this server, up to now
  template <class A>
  void fields(A& a) {
    a(ticket, strings);
  }
};

/// All that the rank put before is of this epoch. Answered by Done when it is durable on the server.
struct Epoch {
  static constexpr Kind kind{125};
  struct OpenFile {
    std::uint64_t file = 0;
    std::uint64_t records = 0;  ///< highest that was put, plus one
    template <class A>
    void fields(A& a) {
      a(file, records);
    }
  };
  std::uint64_t ticket = 0;
  std::uint64_t number = 0;
  std::string name;
  std::uint64_t strings = 0;  ///< as in Flush
  std::vector<OpenFile> files;
  template <class A>
  void fields(A& a) {
    a(ticket, number, name, strings, files);
  }
};

/// The rank now waits for a ticket; the server tells what is missing if nothing moves.
struct Waiting {
  static constexpr Kind kind{117};
  std::uint64_t ticket = 0;
  template <class A>
  void fields(A& a) {
    a(ticket);
  }
};

struct Finalize {
  static constexpr Kind kind{118};
  template <class A>
  void fields(A&) {}
};

/// The rank ends without finalize.
struct Abandon {
  static constexpr Kind kind{119};
  std::string reason;
  std::optional<Error> cause;         ///< the error before it
  bool session_failed = false;        ///< the cause is the session's, not only this rank's
  bool reported = false;              ///< by a server or frontend, on stderr
  std::vector<std::uint32_t> lost{};  ///< servers that this rank cannot reach any more, ascending
  template <class A>
  void fields(A& a) {
    a(reason, cause, session_failed, reported, lost);
  }
};

/// From a frontend, through the pair of its first rank: its process ends, and with it the session. It has
/// been reported on stderr.
struct FrontendEnds {
  static constexpr Kind kind{126};
  Error error;
  template <class A>
  void fields(A& a) {
    a(error);
  }
};

// ---- server -> model rank

struct Defined {
  static constexpr Kind kind{150};
  struct Base {
    std::uint32_t collection = 0;
    std::uint32_t first_frame = 0;
    std::vector<std::uint8_t>
        packed;  ///< one a variable; 1: ranks hand over its pieces packed, see MapPacking
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

/// Points of a map that other ranks hold too, and win. Comes before Defined, from one server.
struct MapLosses {
  static constexpr Kind kind{155};
  std::uint32_t id = 0;
  std::vector<std::uint64_t> offsets;  ///< of runs, ascending
  std::vector<std::uint64_t> lengths;
  template <class A>
  void fields(A& a) {
    a(id, offsets, lengths);
  }
};

/// Where a rank's values lie in pieces that are handed over packed: those of all ranks one after the other.
/// Comes before Defined.
struct MapPacking {
  static constexpr Kind kind{156};
  std::uint32_t id = 0;               ///< of the map
  std::vector<std::uint64_t> part;    ///< lengths of the cells
  std::vector<std::uint32_t> cells;   ///< in which the rank has points, ascending
  std::vector<std::uint64_t> before;  ///< points of lower ranks in each
  template <class A>
  void fields(A& a) {
    a(id, part, cells, before);
  }
};

/// The server of file number `nth` of a collection, counted from 0.
struct Assigned {
  static constexpr Kind kind{157};
  std::uint32_t collection = 0;
  std::uint64_t nth = 0;
  std::uint32_t server = 0;
  template <class A>
  void fields(A& a) {
    a(collection, nth, server);
  }
};

struct FileRecords {
  static constexpr Kind kind{154};
  std::uint64_t file = 0;
  std::uint64_t records = 0;
  template <class A>
  void fields(A& a) {
    a(file, records);
  }
};

struct Done {
  static constexpr Kind kind{151};
  std::uint64_t ticket = 0;
  template <class A>
  void fields(A& a) {
    a(ticket);
  }
};

/// The session cannot go on: every later call fails with this.
struct Failed {
  static constexpr Kind kind{152};
  Error error;
  bool reported = false;  ///< by the sender or one that told it, on stderr
  template <class A>
  void fields(A& a) {
    a(error, reported);
  }
};

/// All is published; the server ends.
struct Bye {
  static constexpr Kind kind{153};
  template <class A>
  void fields(A&) {}
};

}  // namespace afterbay::wire
