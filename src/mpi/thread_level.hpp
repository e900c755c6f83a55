// SPDX-License-Identifier: Apache-2.0
// ThreadLevel: which threads of this process may call MPI.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace afterbay::mpi {

/// The level that MPI_Init_thread provided. Any thread may use it.
class ThreadLevel {
 public:
  /// Without MPI: every thread is allowed.
  ThreadLevel() = default;
  /// Asks MPI, which must be running.
  static ThreadLevel of_this_process();

  /// "MPI_THREAD_FUNNELED"; "" without MPI.
  [[nodiscard]] const char* name() const noexcept { return name_; }
  /// Whether only the main thread may call MPI: MPI_THREAD_SINGLE and _FUNNELED.
  [[nodiscard]] bool is_main_only() const noexcept { return is_main_only_; }
  /// Whether the calling thread may call MPI, if no other one does at the same time.
  [[nodiscard]] bool allows_this_thread() const;

 private:
  const char* name_ = "";
  bool is_main_only_ = false;
};

/// The error (bad_state) of a call that may use MPI and was made by a thread that may not.
/// `level`: see ThreadLevel::name.
Error wrong_thread(std::string_view call, std::string_view level, int rank);

}  // namespace afterbay::mpi
