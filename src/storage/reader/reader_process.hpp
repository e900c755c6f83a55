// SPDX-License-Identifier: Apache-2.0
// ReaderProcess: a process that opens one HDF5 file, so that a damaged one ends that process and no other.
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
#include "storage/input/input_file.hpp"
#include "storage/reader/protocol.hpp"

namespace afterbay::storage {

/// The program `afterbay-reader`: $AFTERBAY_READER, or libexec/afterbay/afterbay-reader in a folder above the
/// one that this library or this program is in. Fails with io when there is none.
Result<std::string> find_reader_program();

/// Any thread may ask; requests wait for each other. The process has no descriptors of this one, its signals
/// are unblocked and have their default actions, its memory and its processor time are limited
/// (serve_reader). It ends when this object does, and when the process that started it does.
class ReaderProcess {
 public:
  /// `path`: the file that it is to read, for messages. `deadline`: of each request. Fails with io when the
  /// program cannot be started.
  static Result<std::unique_ptr<ReaderProcess>> start(std::string path, std::chrono::milliseconds deadline);
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;
  ~ReaderProcess();

  /// Fails as the request does in the reader; with format when the reader ends instead of answering, gives
  /// an answer that makes no sense or uses too much processor time; with timed_out when it does not answer
  /// within the deadline. After these every further request fails in the same way.
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

  /// The error of a file that is damaged; `reason` says how that was noticed.
  [[nodiscard]] Error damaged(const std::string& reason) const;
  /// Kills the process; `error` is what every further request fails with.
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
  Descriptor process_;  ///< a pidfd; closed where the system has none
  pid_t pid_ = -1;
  Mutex mutex_;
  std::optional<Error> failure_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
