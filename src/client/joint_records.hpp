// SPDX-License-Identifier: Apache-2.0
// JointRecords: the records that are open on a rank with several callers. A record belongs to the
// step in which it was begun, and ends when all callers have ended that step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/file.hpp"
#include "client/shared_links.hpp"

namespace afterbay::client {

/// Used under the lock of its owner.
class JointRecords {
 public:
  struct Open {
    File* file = nullptr;
    std::uint64_t record = 0;
    bool fixed = false;
    std::uint64_t step = 0;
    std::uint64_t seq = 0;
  };
  /// A file into which records were begun, for messages: it may have been closed.
  struct KnownFile {
    std::uint64_t id = 0;
    std::string path;
    const Collection* collection = nullptr;
  };
  /// A record that was begun, likewise: it may have ended.
  struct Begun {
    std::uint64_t file = 0;
    std::uint64_t record = 0;
    bool fixed = false;
    std::uint64_t step = 0;
    std::size_t by = 0;  ///< the number of the member
  };

  explicit JointRecords(SharedLinks& links) : links_(links) {}

  /// `open`: begun in the current step, of which `step` have ended. `ended`: see the function.
  void start(std::vector<Open> open, std::map<const File*, std::uint64_t> ended, std::uint64_t step);
  /// The running number of a record, which the member of number `caller` begins if it is not open.
  /// If too many are, the oldest ends if `may_end` says so; otherwise returns nothing.
  std::optional<std::uint64_t> seq_of(std::size_t caller, File& file, std::uint64_t record,
                                      std::uint64_t step, bool fixed,
                                      const std::function<bool(const Open&)>& may_end);
  /// The step of the oldest open record of the file's collection; it must have one.
  [[nodiscard]] std::uint64_t oldest_step(const File& file) const;
  /// The last record of the file's collection if it was begun in a later step than this one, which
  /// is not open yet and must not begin after it: records end in the order in which they begin,
  /// step by step. Otherwise null.
  [[nodiscard]] const Open* begun_later(const File& file, std::uint64_t record, std::uint64_t step,
                                        bool fixed) const;
  /// Ends the records of the first `steps` steps.
  void end_steps(std::uint64_t steps);
  [[nodiscard]] std::uint64_t ended_steps() const noexcept { return ended_steps_; }
  /// Whether a record of the first `steps` steps is open.
  [[nodiscard]] bool has_before(std::uint64_t steps) const;
  /// The last file of that path; null: none of the last ones.
  [[nodiscard]] const KnownFile* known_file(const std::string& path) const;
  /// The last records that were begun, in their order.
  [[nodiscard]] const std::deque<Begun>& last_begun() const noexcept { return last_begun_; }
  /// One more than the last record of the file that has ended.
  [[nodiscard]] std::uint64_t ended(const File& file) const;
  /// The file is closed: its records are open no longer.
  void end_file(const File& file);
  /// Ends all records, also those of the current step, which goes on (`within_step`) or not.
  void end_all(bool within_step);

 private:
  using Messages = std::map<std::size_t, wire::EndRecords>;  ///< by server
  void end(const Open& record, Messages& messages);
  void post(Messages messages, bool within_step = false);

  SharedLinks& links_;
  std::vector<Open> open_;  ///< in the order in which they were begun
  std::deque<Begun> last_begun_;
  std::deque<KnownFile> known_files_;
  std::map<const File*, std::uint64_t> ended_;
  std::uint64_t ended_steps_ = 0;
};

}  // namespace afterbay::client
