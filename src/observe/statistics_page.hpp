// SPDX-License-Identifier: Apache-2.0
// The statistics page of one I/O server: a small file, one JSON object, written over and over in place while
// the run lasts. Its last field is a checksum of all text before it, so that a reader that comes in the
// middle of a write notices and reads again. It is written and not mapped: a full disk or a file that
// somebody cuts short is an error then, and no signal that ends the server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "observe/server_state.hpp"

namespace afterbay::observe {

/// The writer's end. Holds a lock on the file, by which others see that it lives. Used by one thread.
class StatisticsPage {
 public:
  /// Makes the directory where it is missing. A second session there gets a file of its own.
  /// `number`: of the server, or of the frontend.
  static Result<std::unique_ptr<StatisticsPage>> open(const std::string& directory, std::int64_t number,
                                                      bool is_frontend = false);
  StatisticsPage(const StatisticsPage&) = delete;
  StatisticsPage& operator=(const StatisticsPage&) = delete;
  ~StatisticsPage();

  Result<> write(ServerState state);

 private:
  StatisticsPage(int descriptor, std::string path, bool locked, bool far)
      : descriptor_(descriptor), path_(std::move(path)), locked_(locked), far_(far) {}

  int descriptor_;
  std::string path_;
  bool locked_;
  bool far_;  ///< on a file system that keeps what is written to itself until it is synchronised
  std::uint64_t serial_ = 0;
  std::size_t length_ = 0;  ///< of the longest so far: shorter ones are filled up
};

/// A page as it is found.
struct FoundPage {
  std::string path;
  ServerState state;
  std::uint64_t serial = 0;
  double updated_at_s = 0;  ///< time of day
  bool locked = false;      ///< the writer could take the lock
  bool held = false;        ///< and holds it: it lives
};

/// Looks again, for up to a tenth of a second, where it comes upon a write.
Result<FoundPage> read_page(const std::string& path);

/// All pages in the directory, or in the one that the default setting makes inside it; by session and server.
/// Files that are no pages, or of a format to come, are left out. Fails with io when there is none.
Result<std::vector<FoundPage>> read_pages(const std::string& directory);

/// The page as JSON again, for scripts.
std::string page_json(const FoundPage& page);

/// Time of day in seconds since 1970.
double time_of_day_s();

}  // namespace afterbay::observe
