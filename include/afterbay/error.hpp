// SPDX-License-Identifier: Apache-2.0
// Error: what failed, where, and what to do. Inside the library it travels as a value; the C++
// facade throws it as a Failure; C returns its code; Fortran fills `ierr` with it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace afterbay {

enum class ErrorCode : int {
  ok = 0,
  invalid_argument = 1,  ///< a value that cannot be right: shape, index, option
  unknown_name = 2,      ///< no variable, dimension, setting, ... of that name
  wrong_type = 3,        ///< a type that does not fit
  conflict = 4,          ///< contradicts what was said before, or what another rank says
  bad_state = 5,         ///< call out of order (after close, before definition)
  would_block = 6,       ///< try_put: no room now
  timed_out = 7,         ///< a wait reached its deadline
  peer_lost = 8,         ///< a model rank or an I/O server died
  exists = 9,            ///< the file exists and the policy is to refuse
  no_space = 10,         ///< disk, quota or shared memory full
  io = 11,               ///< the operating system refused a read or write
  format = 12,           ///< a file is not what it should be
  resources = 13,        ///< limits: memory budget, layout, open files
  mpi = 14,
  internal = 15,
  stopped = 16,  ///< the run was asked to stop (a signal, the walltime), and has stopped in order
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;               ///< one or more sentences: what happened, what to do
  std::vector<std::string> context;  ///< innermost first; each layer adds one line
  int rank = -1;                     ///< rank in the session's communicator; -1: not known
  int native = 0;                    ///< errno, or the MPI/netCDF/HDF5 code
  std::string file;
  std::string variable;

  Error() = default;
  Error(ErrorCode code_in, std::string message_in) : code(code_in), message(std::move(message_in)) {}

  Error& in_file(std::string name) {
    if (file.empty()) file = std::move(name);
    return *this;
  }
  Error& in_variable(std::string name) {
    if (variable.empty()) variable = std::move(name);
    return *this;
  }
  Error& at_rank(int number) {
    if (rank < 0) rank = number;
    return *this;
  }
  Error& with_native(int value) {
    native = value;
    return *this;
  }
  Error& add(std::string line) {
    context.push_back(std::move(line));
    return *this;
  }

  /// All in one text: message, context, rank, file, variable, native code.
  [[nodiscard]] std::string text() const;
};

/// "no_space", "peer_lost", ...
const char* name_of(ErrorCode code) noexcept;

/// What the C++ facade throws.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error) : std::runtime_error(error.text()), error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] ErrorCode code() const noexcept { return error_.code; }

 private:
  Error error_;
};

}  // namespace afterbay
