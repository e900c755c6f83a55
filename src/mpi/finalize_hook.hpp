// SPDX-License-Identifier: Apache-2.0
// FinalizeHook: a function that is called at the beginning of MPI_Finalize.
#pragma once

#include <functional>
#include <memory>

#include "base/result.hpp"

namespace afterbay::mpi {

/// MPI_Finalize first deletes the attributes of MPI_COMM_SELF; this hook is the delete callback of
/// such an attribute. All of MPI can be used in it, with every process that has not left its own
/// MPI_Finalize yet. MPI runs the callback in the thread that calls MPI_Finalize.
class FinalizeHook {
 public:
  /// Call it in the MPI thread. `function` must not throw; it is called at most once.
  static Result<std::unique_ptr<FinalizeHook>> set(std::function<void()> function);
  /// Removes the hook. Call it in the MPI thread, or after MPI_Finalize.
  ~FinalizeHook();
  FinalizeHook(const FinalizeHook&) = delete;
  FinalizeHook& operator=(const FinalizeHook&) = delete;

 private:
  struct Callbacks;
  explicit FinalizeHook(std::function<void()> function) : function_(std::move(function)) {}

  std::function<void()> function_;  ///< empty: called already, or removed
  int keyval_ = 0;
};

}  // namespace afterbay::mpi
