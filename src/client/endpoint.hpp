// SPDX-License-Identifier: Apache-2.0
// Endpoint: what one caller of `put` needs: its position in the order of puts, the plans for its data, and
// buffers. A second endpoint of the same rank is a second object; endpoints share the session core and the
// records of collections and files, nothing else. Used by one thread.
//
// Order on every link: per (file, record) BeginRecord, pieces, Put. All ranks put in the same order, so that
// the running numbers (seq, position) agree without a message between ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/session.hpp"
#include "base/result.hpp"
#include "client/file.hpp"
#include "client/put_plans.hpp"
#include "client/session_core.hpp"
#include "observe/profile.hpp"

namespace afterbay::client {

/// One variable of one record, about to be handed over.
struct Handover {
  File* file = nullptr;
  std::uint32_t variable = 0;  ///< index in the schema
  const PutPlan* plan = nullptr;
  std::uint64_t record = 0;
  std::uint64_t seq = 0;
  std::uint64_t position = 0;
};

class Endpoint {
 public:
  Endpoint(SessionCore& core, std::chrono::milliseconds deadline, observe::Profile& profile);

  /// Called for every collection of the session, in order of their ids.
  void add_collection(const Collection& collection);
  /// Plans for dense data of the files' types, ahead of the first put; once the servers have answered.
  void make_likely_plans(const Collection& collection) { plans_[collection.id()].make_likely_plans(); }

  /// False: there was no room and may_wait is false.
  Result<bool> put(File& file, std::string_view variable, std::uint64_t record, const void* data, Type type,
                   const MemoryLayout& memory, bool may_wait);
  Result<> put_strings(File& file, std::string_view variable, std::uint64_t record,
                       std::span<const std::string> values);

  /// A put that was begun by acquire and ends with commit. Its record is numbered by acquire, wherever the
  /// data lie, so that ranks on other nodes number it alike.
  struct Acquired {
    Handover handover;
    std::uint64_t number = 0;  ///< of the slot
    /// Per piece of the plan, where the data of the server's frame begin. Empty if data of the type cannot
    /// be computed there as they are, or if not all pieces had room: then the caller commits from a buffer.
    std::optional<std::vector<std::byte*>> frames;
  };
  /// Never waits for room.
  Result<Acquired> acquire(File& file, std::string_view variable, std::uint64_t record, Type type);
  /// `buffer`: the rank's part, dense, unless the slot lies in the server's frames. After a refusal because
  /// of values out of range the slot is still out.
  Result<> commit(const Acquired& slot, const void* buffer);
  /// The slot will not be written to any more, nor committed.
  void forget(const Acquired& slot) noexcept { slots_out_.erase(slot.number); }
  /// Neither committed nor forgotten.
  [[nodiscard]] bool is_out(const Acquired& slot) const { return slots_out_.contains(slot.number); }
  /// Fails if a slot is out (of `file`, unless null): memory that was lent must not go back to the server
  /// while the model may write to it. `call`: what cannot be done, for the error.
  Result<> check_no_slot_out(const char* call, const File* file = nullptr);

  /// Puts of strings whose file this server creates.
  [[nodiscard]] std::uint64_t strings_put(std::size_t server) const { return strings_put_[server]; }
  /// Adds to an error what was put last.
  void add_last_put(Error& error) const;
  /// Adds a wait for room that ends now to the profile: one that came in several parts is drawn as one.
  void record_wait_for_room(std::uint64_t waited_ns);
  /// The sum of these.
  [[nodiscard]] std::uint64_t recorded_waits_ns() const noexcept { return recorded_waits_ns_; }

 private:
  /// What a put asks of one server.
  struct Share {
    std::size_t server = 0;
    std::vector<transport::FrameSlot> slots;
    std::uint64_t packed_bytes = 0;
  };
  struct SlotOut {
    std::uint64_t file = 0;
    const Collection* collection = nullptr;
    std::size_t server = 0;  ///< that leads the file
    std::uint64_t seq = 0;
    std::string what;  ///< for errors
  };

  [[nodiscard]] PutPlans& plans_of(const File& file) { return plans_[file.collection->id()]; }
  tl::unexpected<Error> report(Error error, const File& file, std::string_view variable);
  [[nodiscard]] Result<> check_open(const File& file) const;

  Result<Handover> begin(File& file, std::string_view variable, std::uint64_t record, Type type,
                         const MemoryLayout& memory);
  Result<std::uint64_t> begin_record(File& file, std::uint64_t record, bool fixed);
  Result<> end_oldest_record(File& file);
  [[nodiscard]] Result<> check_oldest_not_lent(const File& file) const;
  /// Gives the put its place in the order of puts, which all ranks number alike: after this, nothing may
  /// refuse a put that other ranks accept.
  void take_position(Handover& handover);
  /// States on all links of the file that the put asks for no frame before `frame` of the layout.
  void advance_to(const Handover& handover, std::uint32_t frame);
  Result<> check_range(const Handover& handover, const void* data);
  [[nodiscard]] static std::size_t owner(const Handover& handover, const PiecePlan& piece);
  [[nodiscard]] static transport::FrameSlot slot(const Handover& handover, const PiecePlan& piece);
  [[nodiscard]] static Result<> check_not_put(const File& file, std::uint32_t variable, std::uint64_t record);
  static void mark_put(File& file, std::uint32_t variable, std::uint64_t record);
  void remember_put(const File& file, std::uint32_t variable, std::uint64_t record);
  [[nodiscard]] static std::vector<Share> shares(const Handover& handover);
  [[nodiscard]] Result<> check_fits(const Handover& handover) const;
  Result<bool> has_room(const Handover& handover, transport::RoomFor use);
  bool waited_too_long_for_room(const Handover& handover);
  [[nodiscard]] bool lies_in_frames(const Handover& handover) const;
  Result<std::optional<std::vector<std::byte*>>> lend_frames(const Handover& handover);
  Result<> copy_pieces(const Handover& handover, const void* data);
  Result<> copy_piece(const Handover& handover, const PiecePlan& part, const void* data);
  Result<> finish(const Handover& handover);
  [[nodiscard]] std::uint64_t waited_for_room_ns(const File& file) const;

  SessionCore& core_;
  std::vector<PutPlans> plans_;  ///< by id of the collection
  std::uint64_t position_ = 0;   ///< of the last put
  struct {
    const Collection* collection = nullptr;
    std::uint64_t file = ~std::uint64_t{0};
    std::string path;
    std::uint32_t variable = 0;
    std::uint64_t record = 0;
  } last_put_;
  std::vector<std::byte> encoded_;        ///< the message being sent; its memory is kept
  std::vector<std::byte> range_scratch_;  ///< for check_range; its memory is kept
  observe::Counter* bytes_;
  struct {
    std::uint64_t position = 0;
    std::uint64_t seq = 0;
    std::uint64_t since_ns = 0;
  } refused_;  ///< the last try_put that had no room
  std::chrono::milliseconds deadline_;
  std::map<std::uint64_t, SlotOut> slots_out_;  ///< by number
  std::uint64_t next_slot_ = 0;
  std::vector<std::uint64_t> strings_put_;  ///< one per server
  observe::Profile& profile_;
  observe::Timer* timer_;  ///< of all puts
  std::uint64_t recorded_waits_ns_ = 0;
};

}  // namespace afterbay::client
