// SPDX-License-Identifier: Apache-2.0
// Files with a leader and members, for tests: in one process, and in separate processes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/store_harness.hpp"

namespace afterbay::test {

struct FrameJob {
  std::size_t frame = 0;
  std::uint64_t record = 0;
};

/// All frames of this number of records, and those of fixed variables once.
std::vector<FrameJob> all_frames(const model::FileLayout& layout, std::uint64_t records);

/// Asks a leader in the same process.
class LeaderPlacer : public storage::Placer {
 public:
  explicit LeaderPlacer(storage::File& leader) : leader_(leader) {}
  Result<std::vector<std::uint64_t>> place(std::span<const storage::PlaceRequest> requests) override {
    return leader_.place(requests);
  }

 private:
  storage::File& leader_;
};

/// A leader and members in this process, to which frames are assigned in turn.
class SharedFile {
 public:
  SharedFile(storage::Store& store, const storage::FileRequest& request, std::size_t members);
  [[nodiscard]] storage::File& leader() { return *writers_.front(); }
  [[nodiscard]] storage::File& member(std::size_t number) { return *writers_[1 + number]; }
  [[nodiscard]] storage::File& of(const FrameJob& job) { return *writers_[job.frame % writers_.size()]; }
  /// Writes everything with this number of concurrent threads.
  void write(const std::vector<FrameJob>& jobs, const Source& source, int threads);
  void lose_member(std::size_t number) { writers_.erase(writers_.begin() + 1 + static_cast<long>(number)); }
  /// All members hand over, the leader publishes.
  void publish();

 private:
  storage::FileRequest request_;
  std::vector<std::unique_ptr<storage::File>> writers_;  ///< the leader first
};

/// A member in a separate process, which does its jobs and asks for places through pipes.
class MemberProcess {
 public:
  MemberProcess(storage::Store& store, const storage::FileRequest& request, std::span<const std::byte> share,
                const std::vector<FrameJob>& jobs, const Source& source);
  MemberProcess(const MemberProcess&) = delete;
  MemberProcess& operator=(const MemberProcess&) = delete;
  ~MemberProcess();

  /// Answers its requests until it has ended.
  void serve(storage::File& leader);
  [[nodiscard]] const std::vector<std::byte>& account() const { return account_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  pid_t process_ = -1;
  int from_child_ = -1;
  int to_child_ = -1;
  std::vector<std::byte> account_;
  std::string failure_ = "the member did not end";
};

/// Dimensions, variables, attributes and all values.
void expect_equal(const ReadFile& file, const ReadFile& other);

}  // namespace afterbay::test
