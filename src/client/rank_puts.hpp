// SPDX-License-Identifier: Apache-2.0
// RankPuts: the state that the callers of a rank share because they use the same links: the order
// of the rank's puts, the slots that are not committed, the last put for error messages, and the
// numbers of string puts and the waits that servers and the profile learn. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "client/file.hpp"
#include "client/session_core.hpp"
#include "observe/profile.hpp"

namespace afterbay::client {

class RankPuts {
 public:
  RankPuts(SessionCore& core, observe::Profile& profile);

  /// The position of the next put in the rank's order of puts: see transport::FrameSlot::position.
  /// A link takes positions in ascending order only, so that they are counted once per rank.
  [[nodiscard]] std::uint64_t take_position() noexcept { return ++position_; }
  /// The position that the next put will take.
  [[nodiscard]] std::uint64_t next_position() const noexcept { return position_ + 1; }
  /// The put that took the last position was refused, and the same put will be repeated.
  void return_position() noexcept { --position_; }

  void remember_put(const File& file, std::uint32_t variable, std::uint64_t record);
  /// Adds the rank's last put to an error.
  void add_last_put(Error& error) const;

  /// A slot that was acquired and neither committed nor forgotten.
  struct SlotOut {
    std::uint64_t file = 0;
    const Collection* collection = nullptr;
    std::size_t server = 0;  ///< the leader of the file
    std::uint64_t seq = 0;
    std::string what;  ///< description for errors
  };
  /// Returns the slot's number, which no other slot of the rank has.
  std::uint64_t add_slot(SlotOut slot);
  void forget_slot(std::uint64_t number) noexcept { slots_out_.erase(number); }
  [[nodiscard]] bool is_out(std::uint64_t number) const { return slots_out_.contains(number); }
  /// Fails if a slot is not committed (of `file`, unless null): lent memory must not return to the
  /// server while the model may write to it. `call`: the refused operation, for the error.
  Result<> check_no_slot_out(const char* call, const File* file = nullptr);
  /// Fails if a slot of the oldest open record of the file's collection is not committed.
  [[nodiscard]] Result<> check_oldest_not_lent(const File& file) const;

  void count_strings(const File& file) { ++strings_put_[file.server]; }
  /// Number of puts of strings into files that this server creates.
  [[nodiscard]] std::uint64_t strings_put(std::size_t server) const { return strings_put_[server]; }

  /// Adds a wait for room that ends now to the profile. A wait in several parts is drawn as one.
  void record_wait_for_room(std::uint64_t waited_ns);
  /// The sum of the recorded waits.
  [[nodiscard]] std::uint64_t recorded_waits_ns() const noexcept { return recorded_waits_ns_; }

 private:
  SessionCore& core_;
  observe::Profile& profile_;
  observe::Timer* timer_;       ///< time of all puts
  std::uint64_t position_ = 0;  ///< position of the last put
  struct {
    const Collection* collection = nullptr;
    std::uint64_t file = ~std::uint64_t{0};
    std::string path;
    std::uint32_t variable = 0;
    std::uint64_t record = 0;
  } last_put_;
  std::map<std::uint64_t, SlotOut> slots_out_;  ///< by number
  std::uint64_t last_slot_ = 0;
  std::vector<std::uint64_t> strings_put_;  ///< one per server
  std::uint64_t recorded_waits_ns_ = 0;
};

}  // namespace afterbay::client
