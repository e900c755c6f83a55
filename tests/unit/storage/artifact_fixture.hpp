// SPDX-License-Identifier: Apache-2.0
// Artifacts that are directories, in a directory of their own, on a disk that can be watched.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scratch_directory.hpp"
#include "storage/artifact.hpp"
#include "unit/storage/two_file_store.hpp"

namespace afterbay::test {

namespace fs = std::filesystem;
using storage::Existing;

inline std::string path_of(int descriptor) {
  return fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).string();
}

/// Notes the calls of a publication, and runs an action before each; a call may be made to fail.
class WatchedDisk : public storage::Disk {
 public:
  std::vector<std::string> calls;
  std::function<int(const std::string& call)> before = [](const std::string&) { return 0; };

  int sync(int descriptor) override {
    return noted("sync", path_of(descriptor)) ? Disk::sync(descriptor) : -1;
  }
  int rename(const char* from, const char* to, bool replace) override {
    return noted("rename", from) ? Disk::rename(from, to, replace) : -1;
  }
  int exchange(const char* a, const char* b) override {
    return noted("exchange", a) ? Disk::exchange(a, b) : -1;
  }

 private:
  bool noted(const char* what, const fs::path& path) {
    calls.push_back(std::string(what) + " " + path.filename().string());
    errno = before(calls.back());
    return errno == 0;
  }
};

inline std::string text_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The thread has no right to the files of others as long as this exists, and the threads that it
/// starts have none either. For root only; others have none anyway.
class Unprivileged {
 public:
  /// `directory`: which then belongs to it, except for `others`.
  explicit Unprivileged(const fs::path& directory, const std::string& others = {}) {
    if (::geteuid() != 0) return;
    EXPECT_EQ(::chown(directory.c_str(), nobody, nobody), 0);
    for (const auto& entry : fs::recursive_directory_iterator(directory))
      if (others.empty() || !entry.path().string().starts_with(others)) {
        EXPECT_EQ(::lchown(entry.path().c_str(), nobody, nobody), 0);
      }
    ::setfsuid(nobody);
  }
  ~Unprivileged() { ::setfsuid(::geteuid()); }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
};

class Artifacts : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_.path / "out.zz"; }
  [[nodiscard]] std::string part() const { return path() + ".part"; }

  /// A whole artifact that is not yet published.
  std::unique_ptr<storage::File> written(float value, Existing existing = Existing::replace) {
    const auto request = TwoFileStore::request(path(), existing);
    auto file = TwoFileStore(disk_).create(request);
    if (!file || !TwoFileStore::write(**file, request, value, 3)) {
      ADD_FAILURE() << (file ? "cannot write" : file.error().text());
      return nullptr;
    }
    return std::move(*file);
  }

  void publish(float value) {
    const auto file = written(value);
    ASSERT_NE(file, nullptr);
    const auto published = file->publish();
    ASSERT_TRUE(published) << published.error().text();
  }

  void expect_refused(storage::File& file, ErrorCode code, const std::string& text) {
    const auto published = file.publish();
    ASSERT_FALSE(published);
    EXPECT_EQ(published.error().code, code) << published.error().text();
    EXPECT_THAT(published.error().text(), testing::HasSubstr(text));
    EXPECT_EQ(published.error().file, path());
  }

  /// Every value of the published directory, or nothing if it is a mixture.
  [[nodiscard]] float value() const {
    const auto values = TwoFileStore::read(path());
    EXPECT_EQ(values.size(), 4 * 64U);
    for (const float it : values) EXPECT_EQ(it, values.front());
    return values.empty() ? -1 : values.front();
  }

  /// Names in the output directory, without those of locks and, on file systems without locks
  /// (tests/fault/no_locks.py), owners.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_.path))
      found.push_back(entry.path().filename());
    std::erase_if(found, [](const std::string& name) {
      return name == "out.zz.part.lock" || name.starts_with("out.zz.part.owner");
    });
    std::ranges::sort(found);
    return found;
  }

  Directory directory_;
  std::shared_ptr<WatchedDisk> disk_ = std::make_shared<WatchedDisk>();
};

}  // namespace afterbay::test
