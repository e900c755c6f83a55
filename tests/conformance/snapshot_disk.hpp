// SPDX-License-Identifier: Apache-2.0
// SnapshotDisk: copies of unfinished files as crashes would leave them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "storage/block_writer/disk.hpp"

namespace afterbay::test {

/// Copies the part file and its logs just before some of the writes to them, as a crash would leave
/// them at that moment; sometimes with the first half of the write.
class SnapshotDisk : public storage::Disk {
 public:
  /// Files in the directory `from` whose names begin with `prefix` are copied into directories in
  /// `to`, before this share of the writes.
  SnapshotDisk(std::filesystem::path from, std::filesystem::path to, std::string prefix, double share,
               unsigned seed)
      : from_(std::move(from)),
        to_(std::move(to)),
        prefix_(std::move(prefix)),
        share_(share),
        random_(seed) {}

  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    if (on && std::uniform_real_distribution<>()(random_) < share_) {
      // With O_DIRECT only whole pages can be written: such a write is not split.
      if (count % 4096 != 0 && random_() % 2 == 0) {
        const ssize_t half = Disk::write(descriptor, bytes, count / 2, offset);
        take();
        if (half < 0) return half;
        const ssize_t rest =
            Disk::write(descriptor, bytes + half, count - static_cast<std::size_t>(half), offset + half);
        return rest < 0 ? rest : half + rest;
      }
      take();
    }
    return Disk::write(descriptor, bytes, count, offset);
  }
  int rename(const char* from, const char* to, bool replace) override {
    if (on) take();
    return Disk::rename(from, to, replace);
  }
  int link(int descriptor, const char* to) override {
    if (on) take();
    return Disk::link(descriptor, to);
  }

  void take() {
    const std::filesystem::path place = to_ / std::to_string(snapshots.size());
    std::filesystem::create_directories(place);
    for (const auto& entry : std::filesystem::directory_iterator(from_))
      if (entry.path().filename().string().starts_with(prefix_)) std::filesystem::copy(entry.path(), place);
    snapshots.push_back({place, completed});
  }

  struct Snapshot {
    std::filesystem::path place;
    std::uint64_t completed = 0;  ///< epochs that had been reported complete
  };
  bool on = true;
  std::uint64_t completed = 0;
  std::vector<Snapshot> snapshots;

 private:
  std::filesystem::path from_;
  std::filesystem::path to_;
  std::string prefix_;
  double share_;
  std::mt19937 random_;
};

}  // namespace afterbay::test
