// SPDX-License-Identifier: Apache-2.0
#include "mpi/check.hpp"

#include <string_view>

namespace afterbay::mpi {

Result<void> check(int code, const char* function) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return fail(make_error(ErrorCode::mpi, "{} failed: {}", function,
                         std::string_view(text, static_cast<std::size_t>(length)))
                  .with_native(code));
}

bool is_running() noexcept {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

}  // namespace afterbay::mpi
