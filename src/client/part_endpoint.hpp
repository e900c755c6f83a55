// SPDX-License-Identifier: Apache-2.0
// PartEndpoint: one caller of a rank whose puts are joint ones: an endpoint that a thread opened,
// or the session itself once it shares its puts. Used by one thread at a time; another that uses it
// meanwhile is refused. The interface's afterbay::Endpoint is a handle of it. If the session is the
// only caller of `put`, it uses DirectPuts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "client/endpoint_reads.hpp"
#include "client/joint_puts.hpp"
#include "client/part_plans.hpp"
#include "model/record_set.hpp"
#include "observe/profile.hpp"

namespace afterbay::client {

class PartEndpoint {
 public:
  PartEndpoint(JointPuts& puts, std::shared_ptr<Member> member, observe::Profile& profile, int session_rank);
  PartEndpoint(const PartEndpoint&) = delete;
  PartEndpoint& operator=(const PartEndpoint&) = delete;

  [[nodiscard]] const Member& member() const noexcept { return *member_; }
  /// The number of the step in which it is. For the thread that uses it.
  [[nodiscard]] std::uint64_t steps() const noexcept { return step_; }

  /// Registers this caller's part of a decomposition of the rank; see Team::add.
  Result<> add_block(const Decomposition& decomposition, const Block& block);
  Result<> add_map(const Decomposition& decomposition, const Map& map);
  /// All of the rank's part; null: the variables without a decomposition.
  Result<> add_whole(const Decomposition* decomposition);

  /// Hands over a section of this caller's part. Returns false if there was no room and may_wait is
  /// false.
  Result<bool> put(const std::shared_ptr<File>& file, std::string_view variable, std::uint64_t record,
                   const void* data, Type type, const MemoryLayout& memory, const Section& section,
                   bool may_wait);

  /// A put that acquire begins and commit ends.
  struct Acquired {
    std::uint64_t number = 0;  ///< number of the slot
    JointPut* put = nullptr;   ///< null: this caller holds nothing
    std::shared_ptr<File> file;
    std::uint32_t variable = 0;
    std::uint64_t record = 0;
    const PartPlan* plan = nullptr;
    /// Per piece of the plan, the start of the data in the server's frame; empty: committed from a
    /// buffer.
    std::optional<std::vector<std::byte*>> frames;
    model::Box array;  ///< the caller's array of the variable
  };
  /// Never waits for room.
  Result<Acquired> acquire(const std::shared_ptr<File>& file, std::string_view variable, std::uint64_t record,
                           Type type);
  /// `buffer`: the caller's part, dense, unless the slot lies in the servers' frames.
  Result<> commit(const Acquired& slot, const void* buffer);
  /// The slot will be neither written to nor committed.
  void forget(const Acquired& slot) noexcept;

  /// Reads into the caller's array; `what.decomposition` stands for the caller's part of it.
  Result<> get(EndpointReads& reads, const std::shared_ptr<Input>& input, std::string_view variable,
               const Selection& what, void* data, Type type, const MemoryLayout& memory);

  Result<> end_step();
  /// No more calls. Ends what the caller has begun.
  Result<> close();
  /// As `close`, but what was begun stays incomplete, which is reported when the step ends.
  void give_up() noexcept;
  /// Fails (bad_state) while a slot is not committed or only sections of a variable have been put
  /// (of `file`, unless null).
  [[nodiscard]] Result<> check_nothing_begun(const char* call, const File* file = nullptr);
  /// The same for a pool. `steps`: set to the number of the step in which it is, unless another
  /// thread is in a call of the endpoint.
  [[nodiscard]] Result<> check_at_rest(const char* call, std::optional<std::uint64_t>& steps);
  /// Any thread.
  [[nodiscard]] bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_part(int decomposition) const {
    return std::ranges::find(parts_, decomposition, &EndpointPart::decomposition) != parts_.end();
  }
  /// This caller's part of the decomposition takes part only in puts after the one with `number`.
  void contribute_after(int decomposition, std::uint64_t number);
  /// Whether it has put only sections of a variable of the decomposition.
  [[nodiscard]] bool has_begun(int decomposition) const;
  /// Whether the slot has been neither committed nor forgotten.
  [[nodiscard]] bool is_out(const Acquired& slot) const { return slots_out_.contains(slot.number); }

 private:
  class Call;
  struct Target {
    std::shared_ptr<File> file;
    std::uint32_t variable = 0;
    std::uint64_t record = 0;
    bool fixed = false;
    const PartPlan* plan = nullptr;
    std::size_t bytes = 0;  ///< size of a value in the file
  };
  /// The sections of a put that were handed over so far.
  struct Begun {
    std::uint32_t variable = 0;
    std::uint64_t record = 0;
    std::vector<model::Box> boxes;
    std::uint64_t points = 0;
  };
  struct OfFile {
    std::shared_ptr<File> file;
    std::vector<model::RecordSet> put;  ///< by variable: handed over completely
    std::vector<Begun> begun;
  };

  [[nodiscard]] Result<> check_usable(const char* call) const;
  tl::unexpected<Error> report(Error error, const File& file, std::string_view variable) const;
  [[nodiscard]] PartPlans& plans_of(const Collection& collection);
  OfFile& of_file(const std::shared_ptr<File>& file);
  Result<> add(EndpointPart part, const Decomposition* of);
  Result<Target> target(const std::shared_ptr<File>& file, std::string_view variable, std::uint64_t record,
                        Type type, const MemoryLayout& memory, const Section& section);
  /// Refuses values that were handed over already.
  [[nodiscard]] Result<> check_new(const Target& target);
  /// Refuses values that the file's type cannot hold. `again`: what to do then.
  Result<> check_range(const Target& target, const void* data, const char* again);
  /// Notes that the section is handed over; true if it was the rest of the caller's part.
  bool note(const Target& target);
  Result<JointPut*> open(const Target& target, bool may_wait = true);
  bool contribute(JointPut& put, const Target& target);
  /// The lengths of this caller's array of a variable.
  [[nodiscard]] const model::Box& array(const File& file, std::uint32_t variable) {
    return plans_of(*file.collection).array(variable);
  }
  Result<bool> has_room(const JointPut& put, const PartPlan& plan);
  Result<std::byte*> room(const JointPut& put, const PartPiece& piece);
  Result<> copy(JointPut& put, const PartPlan& plan, const void* data);
  Result<> deliver(JointPut& put, const Target& target, bool last);
  bool waited_too_long(const Target& target);

  JointPuts& puts_;
  std::shared_ptr<Member> member_;
  observe::Profile& profile_;
  observe::Timer* timer_;
  int session_rank_;
  std::vector<EndpointPart> parts_;
  std::vector<Decomposition> read_as_;  ///< the same, for reading
  std::uint64_t step_ = 0;
  std::map<std::uint64_t, const File*> slots_out_;  ///< by number
  std::uint64_t last_slot_ = 0;
  std::vector<PutKey> abandoned_;    ///< slots of this step that were neither committed nor will be
  std::atomic<bool> closed_{false};  ///< written by the thread that uses it
  std::map<const Collection*, std::unique_ptr<PartPlans>> plans_;
  std::map<const Collection*, std::vector<const PutPlan*>> whole_;
  std::vector<OfFile> files_;
  std::vector<std::byte> scratch_;
  struct {
    PutKey key;
    std::uint64_t since_ns = 0;
  } refused_;  ///< the last try_put for which there was no room
};

}  // namespace afterbay::client
