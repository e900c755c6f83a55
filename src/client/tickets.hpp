// SPDX-License-Identifier: Apache-2.0
// Tickets: the operations that this rank has asked its servers to complete, the servers that have
// not answered yet, and the functions that the caller wants called on completion. Used by one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "base/result.hpp"

namespace afterbay::client {

/// The files that a ticket waits for, as named in errors.
struct AwaitedFiles {
  std::string first;     ///< empty: none
  std::size_t more = 0;  ///< number of other files
  /// " (FILE and N more)"; empty if there are none.
  [[nodiscard]] std::string text() const;
};

class Tickets {
 public:
  /// Issues the next ticket, which is complete when all `servers` have answered.
  std::uint64_t add(std::set<std::size_t> servers, AwaitedFiles files);
  /// The number of the last ticket; 0: none.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  /// Fails (invalid_argument) unless the ticket was issued.
  [[nodiscard]] Result<> check(Ticket ticket) const;
  [[nodiscard]] bool is_complete(std::uint64_t number) const { return !outstanding_.contains(number); }
  /// Records the answer of a server. Unknown tickets are ignored.
  void answer(std::uint64_t number, std::size_t server);
  /// Servers that have not answered; empty if the ticket is complete.
  [[nodiscard]] std::set<std::size_t> unanswered(std::uint64_t number) const;

  /// Files that the ticket waits for; none if it is complete.
  [[nodiscard]] AwaitedFiles files_of(std::uint64_t number) const;
  /// Files of all outstanding tickets.
  [[nodiscard]] AwaitedFiles all_files() const;
  /// The last outstanding ticket whose first file is `path`; 0: none.
  [[nodiscard]] std::uint64_t last_of(const std::string& path) const;
  /// Calls `visit(first file)` for each outstanding ticket that has one.
  template <class Visit>
  void for_each_first_file(Visit&& visit) const {
    for (const auto& [number, one] : outstanding_)
      if (!one.files.first.empty()) visit(one.files.first);
  }

  /// `function` is returned by the first `take_due` after the ticket is complete.
  void on_complete(std::uint64_t number, std::function<void()> function);
  /// The functions that are due, by ticket, each once. The caller calls them; they may add tickets
  /// and functions.
  [[nodiscard]] std::vector<std::function<void()>> take_due();

 private:
  struct Outstanding {
    std::set<std::size_t> servers;  ///< servers that have not answered
    AwaitedFiles files;
  };

  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Outstanding> outstanding_;
  std::map<std::uint64_t, std::vector<std::function<void()>>> on_complete_;
};

}  // namespace afterbay::client
