// SPDX-License-Identifier: Apache-2.0
// ReaderProcess: a process that opens one HDF5 file, so that a damaged file ends that process only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/input/stored_file.hpp"
#include "storage/reader/protocol.hpp"

namespace afterbay::storage {

/// The program `afterbay-reader`: $AFTERBAY_READER, or libexec/afterbay/afterbay-reader in a parent
/// directory of this library or this program. Fails with io if there is none.
Result<std::string> find_reader_program();

/// Any thread may send requests; they wait for each other. The process inherits no descriptors, its
/// signals are unblocked and have their default actions, and its memory and processor time are
/// limited (serve_reader). It ends with this object, and with the process that started it.
class ReaderProcess {
 public:
  /// `path`: the file that it will read, for messages. `deadline`: for each request. Fails with io
  /// if the program cannot be started.
  static Result<std::unique_ptr<ReaderProcess>> start(std::string path, std::chrono::milliseconds deadline);
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;
  ~ReaderProcess();

  /// Fails like the request in the reader; with format if the reader ends instead of answering,
  /// sends an invalid answer or uses too much processor time; with timed_out if it does not answer
  /// within the deadline. After these failures every further request fails in the same way.
  template <class Answer, class Request>
  Result<Answer> ask(const Request& request) {
    std::vector<std::byte> bytes = wire::encode(request);
    AFTERBAY_TRY(exchange(bytes, {}));
    auto answer = wire::decode<Answer>(bytes);
    if (!answer) return fail(give_up(damaged("an answer cannot be understood")));
    if (answer->error) return fail(std::move(*answer->error));
    return answer;
  }
  /// A request for exactly `values.size()` bytes of values.
  template <class Request>
  Result<> ask_values(const Request& request, std::span<std::byte> values) {
    std::vector<std::byte> bytes = wire::encode(request);
    return exchange(bytes, values);
  }

  /// The error for a damaged file; `reason` describes how this was detected.
  [[nodiscard]] Error damaged(const std::string& reason) const;
  /// Kills the process. `error` is returned by every further request.
  Error give_up(Error error) AFTERBAY_EXCLUDES(mutex_);

 private:
  ReaderProcess(std::string path, std::chrono::milliseconds deadline)
      : path_(std::move(path)), deadline_(deadline) {}
  Result<> spawn(const std::string& program);
  /// Replaces `bytes`, a request, by its answer.
  Result<> exchange(std::vector<std::byte>& bytes, std::span<std::byte> values) AFTERBAY_EXCLUDES(mutex_);
  Result<> converse(std::vector<std::byte>& bytes, std::span<std::byte> values) AFTERBAY_REQUIRES(mutex_);
  Error ended_early(bool timed_out);
  void kill() noexcept;
  std::optional<int> reap(std::chrono::milliseconds patience) noexcept;

  std::string path_;
  std::chrono::milliseconds deadline_;
  Descriptor socket_;
  Descriptor process_;  ///< a pidfd; closed if the system does not support it
  pid_t pid_ = -1;
  Mutex mutex_;
  std::optional<Error> failure_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
