// SPDX-License-Identifier: Apache-2.0
#include "mpi/finalize_hook.hpp"

#include <mpi.h>

#include <utility>

#include "mpi/check.hpp"

namespace afterbay::mpi {

struct FinalizeHook::Callbacks {
  static int on_delete(MPI_Comm /*self*/, int /*keyval*/, void* hook, void* /*extra*/) noexcept {
    // Cleared before the call, which may destroy the hook.
    const auto function = std::exchange(static_cast<FinalizeHook*>(hook)->function_, nullptr);
    if (function) function();
    return MPI_SUCCESS;
  }
};

Result<std::unique_ptr<FinalizeHook>> FinalizeHook::set(std::function<void()> function) {
  std::unique_ptr<FinalizeHook> hook(new FinalizeHook(nullptr));
  int keyval = MPI_KEYVAL_INVALID;
  AFTERBAY_TRY(check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Callbacks::on_delete, &keyval, nullptr),
                     "MPI_Comm_create_keyval"));
  hook->keyval_ = keyval;
  AFTERBAY_TRY(check(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, hook.get()), "MPI_Comm_set_attr"));
  hook->function_ = std::move(function);
  return hook;
}

FinalizeHook::~FinalizeHook() {
  const bool pending = std::exchange(function_, nullptr) != nullptr;
  if (!pending || !is_running()) return;  // called already: MPI deletes the attribute itself
  MPI_Comm_delete_attr(MPI_COMM_SELF, keyval_);
  MPI_Comm_free_keyval(&keyval_);
}

}  // namespace afterbay::mpi
