// SPDX-License-Identifier: Apache-2.0
// A journal in its own directory.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "journal/read.hpp"
#include "journal/recorder.hpp"
#include "scratch_directory.hpp"

namespace afterbay::journal {

inline void append_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

inline std::uint64_t inode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

inline std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

class JournalTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file(const std::string& name = "server-0.jsonl") const {
    return directory_.path / name;
  }
  std::unique_ptr<Recorder> recorder(const std::string& run, std::int64_t server = 0,
                                     const std::string& session = "atmosphere") {
    RunIdentity identity{run, server, {}};
    identity.started.session = session;
    return std::make_unique<Recorder>(Where{directory_.path.string(), false}, identity, logger_);
  }
  [[nodiscard]] static FileFacts facts(const std::string& path, const std::string& collection = "history",
                                       std::uint64_t number = 0) {
    FileFacts facts;
    facts.path = path;
    facts.number = number;
    facts.collection = collection;
    facts.format = "netcdf4";
    return facts;
  }
  /// A complete run that publishes one file.
  void run(const std::string& id, const std::string& path, std::uint64_t bytes = 0, bool ok = true) {
    const auto it = recorder(id);
    ASSERT_TRUE(it->opened(facts(path)));
    ASSERT_TRUE(it->published({facts(path), bytes, 3, 0x42}));
    ASSERT_TRUE(it->ended(ok));
  }
  [[nodiscard]] Journal read() const {
    auto journal = read_journal(directory_.path.string());
    EXPECT_TRUE(journal) << journal.error().text();
    return journal ? *journal : Journal();
  }

  test::Directory directory_;
  std::ostringstream log_;
  Logger logger_{{"atmosphere", "server", 0}, LogLevel::warning, log_};
};

}  // namespace afterbay::journal
