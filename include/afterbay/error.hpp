// SPDX-License-Identifier: Apache-2.0
/// @file
/// Error: what failed, where, and what to do. The C++ interface throws it as a Failure, C returns
/// its code, Fortran sets `ierr` to it. Objects share no state: any thread may use them, one at a
/// time for the same object.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "afterbay/export.h"

namespace afterbay {

/// The kinds of errors; the same numbers in C and Fortran.
enum class AFTERBAY_API ErrorCode : int {
  ok = 0,                ///< no error
  invalid_argument = 1,  ///< an invalid value: shape, index, option
  unknown_name = 2,      ///< no variable, dimension, setting, ... with that name
  wrong_type = 3,        ///< a type that does not fit
  conflict = 4,          ///< contradicts an earlier call or another rank
  bad_state = 5,         ///< call out of order (after close, before definition)
  would_block = 6,       ///< try_put: no room now
  timed_out = 7,         ///< a wait exceeded its deadline
  peer_lost = 8,         ///< a model rank or an I/O server was lost
  exists = 9,            ///< the file exists and `existing` is "refuse"
  no_space = 10,         ///< disk, quota or shared memory full
  io = 11,               ///< the operating system refused a read or write
  format = 12,           ///< a file is damaged or not of the expected format
  resources = 13,        ///< a limit was exceeded: memory budget, layout, open files
  mpi = 14,              ///< MPI returned an error
  internal = 15,         ///< a defect of Afterbay
  stopped = 16,          ///< the run stopped cleanly on request (a signal, the walltime)
};

/// An error: what failed and where. Plain data.
struct AFTERBAY_API Error {
  ErrorCode code = ErrorCode::internal;  ///< what kind of error
  std::string message;                   ///< one or more sentences: what happened, what to do
  std::vector<std::string> context;      ///< innermost first; each layer adds one line
  int rank = -1;                         ///< rank in the session's communicator; -1: unknown
  int native = 0;                        ///< errno, or the MPI/netCDF/HDF5 code
  std::string file;                      ///< empty: unknown
  std::string variable;                  ///< empty: unknown

  /// An internal error without a message.
  Error() = default;
  /// An error without a place.
  Error(ErrorCode code_in, std::string message_in) : code(code_in), message(std::move(message_in)) {}

  /// Sets the file, unless one is known.
  Error& in_file(std::string name) {
    if (file.empty()) file = std::move(name);
    return *this;
  }
  /// Sets the variable, unless one is known.
  Error& in_variable(std::string name) {
    if (variable.empty()) variable = std::move(name);
    return *this;
  }
  /// Sets the rank, unless one is known.
  Error& at_rank(int number) {
    if (rank < 0) rank = number;
    return *this;
  }
  /// Sets the native code.
  Error& with_native(int value) {
    native = value;
    return *this;
  }
  /// Adds a line of context.
  Error& add(std::string line) {
    context.push_back(std::move(line));
    return *this;
  }

  /// The complete text: message, context, rank, file, variable, native code.
  [[nodiscard]] std::string text() const;
};

/// The name of a code: "no_space", "peer_lost", ...
AFTERBAY_API const char* name_of(ErrorCode code) noexcept;

/// The exception that the C++ interface throws.
class AFTERBAY_API Failure : public std::runtime_error {
 public:
  /// what() is the error's text.
  explicit Failure(Error error) : std::runtime_error(error.text()), error_(std::move(error)) {}
  /// The error with its fields.
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  /// The error's code.
  [[nodiscard]] ErrorCode code() const noexcept { return error_.code; }

 private:
  Error error_;
};

}  // namespace afterbay
