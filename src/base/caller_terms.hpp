// SPDX-License-Identifier: Apache-2.0
// Numbers in messages in the caller's convention: C and C++ count from 0 with the slowest dimension
// first, Fortran from 1 with the fastest first. The convention is set per thread: at entry to the
// library, in a server that works for a session, and in threads and tasks started by these
// (in_terms_of_caller).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace afterbay {

enum class Terms : std::uint8_t { c, fortran };

/// The terms of this thread; `c` until set.
void set_terms(Terms terms) noexcept;
[[nodiscard]] Terms terms() noexcept;

/// Sets this thread's terms for the lifetime of the object.
class InTerms {
 public:
  explicit InTerms(Terms now) noexcept : before_(terms()) { set_terms(now); }
  ~InTerms() { set_terms(before_); }
  InTerms(const InTerms&) = delete;
  InTerms& operator=(const InTerms&) = delete;

 private:
  Terms before_;
};

/// An index or a record, given counted from 0.
[[nodiscard]] std::int64_t said_index(std::uint64_t from_zero) noexcept;
/// The start of a range, as the caller gave it: it may be out of range, in Fortran also negative.
[[nodiscard]] std::string said_start(std::uint64_t start);
/// Dimension `d` of `rank`, given in C order from 0.
[[nodiscard]] std::size_t said_dimension(std::size_t d, std::size_t rank) noexcept;
/// "[3, 7)" in C, "4:7" in Fortran: `count` indices starting at `start`, which may be out of range.
[[nodiscard]] std::string said_range(std::uint64_t start, std::uint64_t count);
/// "[0:2, 3:7]" in C, with exclusive ends; "(4:7, 1:2)" in Fortran.
[[nodiscard]] std::string said_box(std::span<const std::uint64_t> start,
                                   std::span<const std::uint64_t> count);
/// "180 x 360", or in Fortran "360 x 180".
[[nodiscard]] std::string said_lengths(std::span<const std::uint64_t> lengths);
/// "(time, y, x)", or in Fortran "(x, y, time)": names or lengths, given in C order.
[[nodiscard]] std::string said_list(std::span<const std::string> names);
[[nodiscard]] std::string said_list(std::span<const std::uint64_t> lengths);

/// Wraps `task` for another thread, in which it runs with the current terms of this thread.
template <class Task>
[[nodiscard]] auto in_terms_of_caller(Task task) {
  return [now = terms(), task = std::move(task)]<class... Arguments>(Arguments&&... arguments) mutable
    requires std::invocable<Task&, Arguments...>
  {
    const InTerms speaks(now);
    return task(std::forward<Arguments>(arguments)...);
  };
}

}  // namespace afterbay
