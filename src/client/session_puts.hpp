// SPDX-License-Identifier: Apache-2.0
// SessionPuts: how the session itself puts. As long as it is the only caller of its rank, it puts
// whole parts straight to the servers (DirectPuts). From the first endpoint that a thread opens, or
// the first section, all puts of the rank are joint ones (JointPuts), and the session is one member
// of the team.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "client/definitions.hpp"
#include "client/direct_puts.hpp"
#include "client/joint_puts.hpp"
#include "client/part_endpoint.hpp"
#include "client/rank_puts.hpp"
#include "client/session_core.hpp"

namespace afterbay::client {

/// A put that acquire begins and commit ends, of the session or of an endpoint.
using AcquiredSlot = std::variant<DirectPuts::Acquired, PartEndpoint::Acquired>;

/// Used under the session's lock.
class SessionPuts {
 public:
  using OpenFiles = std::vector<std::shared_ptr<File>>;

  SessionPuts(SessionCore& core, RankPuts& rank, const Definitions& definitions, const OpenFiles& open_files,
              const JointPuts::Limits& limits, observe::Profile& profile,
              std::function<std::uint64_t()> waited_for_files_ns, std::function<Result<>()> sessions_work);

  /// For the session's collections.
  [[nodiscard]] DirectPuts& direct() noexcept { return direct_; }
  [[nodiscard]] JointPuts& joint() noexcept { return joint_; }
  [[nodiscard]] const JointPuts& joint() const noexcept { return joint_; }

  /// Returns false if there was no room and may_wait is false.
  Result<bool> put(const std::shared_ptr<File>& file, std::string_view variable, std::uint64_t record,
                   const void* data, Type type, const MemoryLayout& memory, const Section& section,
                   bool may_wait);
  Result<> put_strings(File& file, std::string_view variable, std::uint64_t record,
                       std::span<const std::string> values) {
    return direct_.put_strings(file, variable, record, values);
  }
  /// Whether this rank hands over data to all servers in memory that it shares with them.
  [[nodiscard]] bool shares_memory() const;
  /// The samples of a collection with reductions, to be put as into a file that is always open.
  std::shared_ptr<File> samples_of(Collection& collection);
  /// How often the records of direct() have been ended: with a step, or by flush or epoch within
  /// one.
  [[nodiscard]] std::uint64_t cuts() const noexcept { return cuts_; }
  void count_cut() noexcept { ++cuts_; }
  /// See DirectPuts::begin and put_reduced.
  Result<> begin(File& file, std::uint64_t record);
  Result<> put_reduced(File& file, std::string_view variable, std::uint64_t record);
  Result<AcquiredSlot> acquire(const std::shared_ptr<File>& file, std::string_view variable,
                               std::uint64_t record, Type type);
  Result<> commit(const AcquiredSlot& slot, const void* buffer);
  void forget(const AcquiredSlot& slot) noexcept;
  [[nodiscard]] bool is_out(const AcquiredSlot& slot) const;

  /// Opens an endpoint. Refused while the session has a slot out.
  Result<std::shared_ptr<PartEndpoint>> open_endpoint(std::string name);
  /// The same for a session that shares its puts already, without asking what it has begun. Any
  /// thread, without the session's lock.
  Result<std::shared_ptr<PartEndpoint>> join(std::string name);
  /// A decomposition of the rank, for the part of an endpoint. Any thread.
  [[nodiscard]] Result<Decomposition> decomposition(const std::string& name) const {
    return definitions_.started_decomposition(name);
  }
  /// Refuses a call while the session itself has a slot out, or has put only sections of a variable
  /// (of `file`, unless null).
  [[nodiscard]] Result<> check_nothing_begun(const char* call, const File* file = nullptr);
  /// The session's step ends. Does nothing if it is the only caller.
  Result<> end_step();

 private:
  Result<> share(const char* call);
  /// The session's part of the variable is the rank's whole part, unless endpoints have parts of
  /// it.
  Result<> take_part(const File& file, std::string_view variable);
  /// Endpoints may have it from the next put on, but not while the session owes sections of it.
  void note_part(const File& file, std::string_view variable);

  SessionCore& core_;
  RankPuts& rank_;
  const Definitions& definitions_;
  const OpenFiles& open_files_;
  OpenFiles samples_;  ///< samples of collections with reductions
  std::uint64_t cuts_ = 0;
  observe::Profile& profile_;
  DirectPuts direct_;
  SharedLinks links_;
  JointPuts joint_;
  std::unique_ptr<PartEndpoint> own_;  ///< null: the session is the only caller
};

}  // namespace afterbay::client
