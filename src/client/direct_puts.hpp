// SPDX-License-Identifier: Apache-2.0
// DirectPuts: puts of a rank by one caller, the session, which holds the rank's whole part,
// straight to the servers: the plans for its data, and buffers. If the rank has endpoints, their
// puts are joint ones instead (JointPuts). Two objects of a rank share the session core, RankPuts,
// and the records of collections and files, nothing else. Used by one thread.
//
// Order on every link: per (file, record) BeginRecord, pieces, Put. All ranks put in the same
// order, whichever of these they use, so that the running numbers (seq, position) agree without
// messages between ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/session.hpp"
#include "base/result.hpp"
#include "client/file.hpp"
#include "client/handover.hpp"
#include "client/put_plans.hpp"
#include "client/rank_puts.hpp"
#include "client/session_core.hpp"
#include "observe/profile.hpp"

namespace afterbay::client {

/// How a rank puts its whole part straight to the servers.
class DirectPuts {
 public:
  DirectPuts(SessionCore& core, RankPuts& rank, std::chrono::milliseconds deadline,
             observe::Profile& profile);

  /// Called for every collection of the session, in the order of ids.
  void add_collection(const Collection& collection);
  /// Makes plans for dense data of the files' types before the first put. Call it once the servers
  /// have answered.
  void make_likely_plans(const Collection& collection) { plans_[collection.id()].make_likely_plans(); }

  /// Hands over a put that already has its record number and position; `data`: this rank's part,
  /// dense, of the file's type.
  Result<> forward(const Handover& handover, const void* data);
  /// Returns false if there was no room and may_wait is false.
  Result<bool> put(File& file, std::string_view variable, std::uint64_t record, const void* data, Type type,
                   const MemoryLayout& memory, bool may_wait);
  Result<> put_strings(File& file, std::string_view variable, std::uint64_t record,
                       std::span<const std::string> values);
  /// Begins a record before its first put, so that it has a lower number than others of the step.
  Result<> begin(File& file, std::uint64_t record);
  /// The servers compute the variable's values of the record from the samples that were put.
  Result<> put_reduced(File& file, std::string_view variable, std::uint64_t record);

  /// A put that acquire begins and commit ends. acquire numbers its record even if the data lie
  /// elsewhere, so that ranks on other nodes number it alike.
  struct Acquired {
    Handover handover;
    std::uint64_t number = 0;  ///< number of the slot
    /// Per piece of the plan, the start of the data in the server's frame. Empty if data of the
    /// type cannot be computed there directly, or if there was no room for all pieces: then the
    /// caller commits from a buffer.
    std::optional<std::vector<std::byte*>> frames;
  };
  /// Never waits for room.
  Result<Acquired> acquire(File& file, std::string_view variable, std::uint64_t record, Type type);
  /// `buffer`: the rank's part, dense, unless the slot lies in the server's frames. If values are
  /// out of range, the commit is refused and the slot stays acquired.
  Result<> commit(const Acquired& slot, const void* buffer);
  /// The slot will neither be written to nor committed any more.
  void forget(const Acquired& slot) noexcept { rank_.forget_slot(slot.number); }
  /// Whether the slot has been neither committed nor forgotten.
  [[nodiscard]] bool is_out(const Acquired& slot) const { return rank_.is_out(slot.number); }

 private:
  /// What a put needs from one server.
  struct Share {
    std::size_t server = 0;
    std::vector<transport::FrameSlot> slots;
    std::uint64_t packed_bytes = 0;
  };

  [[nodiscard]] PutPlans& plans_of(const File& file) { return plans_[file.collection->id()]; }
  tl::unexpected<Error> report(Error error, const File& file, std::string_view variable);
  [[nodiscard]] Result<> check_open(const File& file) const;

  Result<Handover> begin(File& file, std::string_view variable, std::uint64_t record, Type type,
                         const MemoryLayout& memory);
  Result<std::uint64_t> begin_record(File& file, std::uint64_t record, bool fixed);
  Result<> end_oldest_record(File& file);
  /// Gives the put its position in the order of puts, which is the same on all ranks. After this
  /// call, a put that other ranks accept must not be refused.
  void take_position(Handover& handover);
  Result<> check_range(const Handover& handover, const void* data);
  using PutRecords = std::vector<model::RecordSet>;
  [[nodiscard]] static Result<> check_not_put(const File& file, const PutRecords& put, std::uint32_t variable,
                                              std::uint64_t record);
  static void mark_put(const File& file, PutRecords& put, std::uint32_t variable, std::uint64_t record);
  [[nodiscard]] static std::vector<Share> shares(const Handover& handover);
  [[nodiscard]] Result<> check_fits(const Handover& handover) const;
  Result<bool> has_room(const Handover& handover, transport::RoomFor use);
  bool waited_too_long_for_room(const Handover& handover);
  [[nodiscard]] bool lies_in_frames(const Handover& handover) const;
  Result<std::optional<std::vector<std::byte*>>> lend_frames(const Handover& handover);
  Result<> copy_pieces(const Handover& handover, const void* data);
  Result<> copy_piece(const Handover& handover, const PiecePlan& part, const void* data);
  static void announce(transport::ClientLink& link, const Handover& handover, const PiecePlan& part,
                       const std::byte* to);
  Result<> finish(const Handover& handover);

  SessionCore& core_;
  RankPuts& rank_;
  std::vector<PutPlans> plans_;           ///< by id of the collection
  std::uint64_t waited_for_room_ns_ = 0;  ///< by the put that is being copied
  std::vector<std::byte> encoded_;        ///< the message being sent; kept to reuse its memory
  std::vector<std::byte> range_scratch_;  ///< for check_range; kept to reuse its memory
  observe::Counter* bytes_;
  observe::Counter* message_bytes_;  ///< bytes that were not written into a server's memory
  struct {
    std::uint64_t position = 0;
    std::uint64_t seq = 0;
    std::uint64_t since_ns = 0;
  } refused_;  ///< the last try_put for which there was no room
  std::chrono::milliseconds deadline_;
  observe::Profile& profile_;
  observe::Timer* timer_;  ///< time of all puts
};

}  // namespace afterbay::client
