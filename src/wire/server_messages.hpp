// SPDX-License-Identifier: Apache-2.0
// Messages between the I/O servers of a session, mostly about files that several of them write: the
// *leader* creates and publishes such a file, the *members* write their frames of it. Messages of
// one server to another arrive in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/largest_error.hpp"
#include "wire/data_fields.hpp"
#include "wire/message_list.hpp"

namespace afterbay::wire {

/// All messages of this direction. The handlers are in server/message_handlers.cpp.
using BetweenServers =
    MessageList<first_between_servers, struct FileShared, struct AskPlaces, struct Places, struct PartDone,
                struct FilePublished, struct EpochPart, struct EpochComplete, struct ServerLoad,
                struct ServerFailed, struct CollectionDropped, struct SpaceShort, struct Farewell,
                struct MapVerdicts, struct MapsChecked>;

/// Leader -> members: the file exists.
struct FileShared {
  static constexpr Kind kind = BetweenServers::kind<FileShared>();
  std::uint64_t file = 0;
  std::vector<std::byte> share;  ///< storage::File::share
  template <class A>
  void fields(A& a) {
    a(file, share);
  }
};

/// Member -> leader: pieces that need a place in the file; storage::PlaceRequest. Answered by
/// Places.
struct AskPlaces {
  static constexpr Kind kind = BetweenServers::kind<AskPlaces>();
  struct Request {
    std::uint32_t piece = 0;
    std::uint64_t record = 0;
    std::uint64_t bytes = 0;
    std::uint32_t skipped = 0;
    template <class A>
    void fields(A& a) {
      a(piece, record, bytes, skipped);
    }
  };
  std::uint64_t file = 0;
  std::uint64_t serial = 0;  ///< the member's running number of these requests
  std::vector<Request> requests;
  template <class A>
  void fields(A& a) {
    a(file, serial, requests);
  }
};

struct Places {
  static constexpr Kind kind = BetweenServers::kind<Places>();
  std::uint64_t serial = 0;
  std::vector<std::uint64_t> offsets;
  std::optional<Error> error;
  template <class A>
  void fields(A& a) {
    a(serial, offsets, error);
  }
};

/// Member -> leader: everything that it will write is durable.
struct PartDone {
  static constexpr Kind kind = BetweenServers::kind<PartDone>();
  std::uint64_t file = 0;
  std::vector<std::byte> account;  ///< storage::File::hand_over
  model::LargestErrors errors{};
  template <class A>
  void fields(A& a) {
    a(file, account, errors);
  }
};

/// Leader -> members: the file has its final name.
struct FilePublished {
  static constexpr Kind kind = BetweenServers::kind<FilePublished>();
  std::uint64_t file = 0;
  template <class A>
  void fields(A& a) {
    a(file);
  }
};

/// The data that a member has written for an epoch of a file: storage::MemberEpoch.
struct MemberAccount {
  std::uint64_t server = 0;
  bool logged = false;
  std::vector<std::byte> account;
  model::LargestErrors errors{};
  template <class A>
  void fields(A& a) {
    a(server, logged, account, errors);
  }
};

/// Member -> leader: its part of an epoch of the file is durable.
struct EpochPart {
  static constexpr Kind kind = BetweenServers::kind<EpochPart>();
  std::uint64_t file = 0;
  std::uint64_t epoch = 0;
  std::optional<MemberAccount> part;  ///< none: the whole file was handed over
  template <class A>
  void fields(A& a) {
    a(file, epoch, part);
  }
};

/// To the first server: the sender's part of an epoch is complete.
struct EpochComplete {
  static constexpr Kind kind = BetweenServers::kind<EpochComplete>();
  std::uint64_t number = 0;
  template <class A>
  void fields(A& a) {
    a(number);
  }
};

/// To `choosing_server`, which assigns files to the least loaded servers.
struct ServerLoad {
  static constexpr Kind kind = BetweenServers::kind<ServerLoad>();
  std::uint64_t backlog_bytes = 0;
  std::uint64_t files_ended = 0;  ///< number of ended files among those assigned to the sender
  template <class A>
  void fields(A& a) {
    a(backlog_bytes, files_ended);
  }
};

/// To all others: the session cannot continue.
struct ServerFailed {
  static constexpr Kind kind = BetweenServers::kind<ServerFailed>();
  Error error;
  bool reported = false;  ///< printed on stderr by the sender
  template <class A>
  void fields(A& a) {
    a(error, reported);
  }
};

/// To all others: the sender abandons a collection for lack of space.
struct CollectionDropped {
  static constexpr Kind kind = BetweenServers::kind<CollectionDropped>();
  std::uint32_t collection = 0;
  std::string why;
  template <class A>
  void fields(A& a) {
    a(collection, why);
  }
};

/// To all others: the sender waits for disk space, or no longer waits. Its answers are delayed.
struct SpaceShort {
  static constexpr Kind kind = BetweenServers::kind<SpaceShort>();
  bool is_short = false;
  template <class A>
  void fields(A& a) {
    a(is_short);
  }
};

/// What a server found in its part of a map.
struct MapVerdict {
  std::uint32_t id = 0;
  std::optional<Error> invalid;  ///< the description of a rank
  std::uint8_t twice = 0;        ///< 1: two ranks hold the point at `offset`
  std::int32_t first_rank = 0;
  std::int32_t second_rank = 0;
  std::uint64_t missing = 0;  ///< number of points that no rank holds, if gaps are not allowed
  std::uint64_t offset = 0;   ///< offset of the first missing points; see also `twice`
  std::uint64_t length = 0;
  std::uint8_t losses = 0;            ///< 1: some ranks lose points to others
  std::vector<std::uint32_t> losers;  ///< model ranks that lose all points that they have in this part
  std::vector<std::uint64_t> lost;    ///< the numbers of these points
  template <class A>
  void fields(A& a) {
    a(id, invalid, twice, first_rank, second_rank, missing, offset, length, losses, losers, lost);
  }
};

/// To `judging_server`, in each batch of definitions with maps.
struct MapVerdicts {
  static constexpr Kind kind = BetweenServers::kind<MapVerdicts>();
  std::uint64_t serial = 0;  ///< serial number of the batch
  std::vector<MapVerdict> maps;
  template <class A>
  void fields(A& a) {
    a(serial, maps);
  }
};
inline constexpr std::uint32_t judging_server = 0;

/// The result for a map that all servers have checked.
struct CheckedMap {
  std::uint32_t id = 0;
  std::uint8_t lost = 0;             ///< 1: some ranks lost points to others
  std::vector<std::uint32_t> empty;  ///< model ranks that lost all of their points: the first and the last of
                                     ///< those with consecutive numbers, in turn, ascending
  template <class A>
  void fields(A& a) {
    a(id, lost, empty);
  }
};

/// To all others, from `judging_server`.
struct MapsChecked {
  static constexpr Kind kind = BetweenServers::kind<MapsChecked>();
  std::uint64_t serial = 0;
  std::optional<Error> error;  ///< the session fails with it
  std::vector<CheckedMap> maps;
  template <class A>
  void fields(A& a) {
    a(serial, error, maps);
  }
};

/// To all others: the sender leaves cleanly.
struct Farewell {
  static constexpr Kind kind = BetweenServers::kind<Farewell>();
  template <class A>
  void fields(A&) {}
};

}  // namespace afterbay::wire
