// SPDX-License-Identifier: Apache-2.0
// The statistics page of one I/O server: a small file with one JSON object, rewritten in place
// during the run. Its last field is a checksum of all preceding text, so that a reader detects a
// concurrent write and reads again. It is written and not mapped, so that a full disk or a
// truncated file causes an error and not a signal that ends the server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "observe/server_state.hpp"

namespace afterbay::observe {

/// The writer's end. Holds a lock on the file, by which others see that it is alive. Used by one
/// thread.
class StatisticsPage {
 public:
  /// Creates the directory if it is missing. A second session in the same directory gets its own
  /// file. `number`: that of the server or frontend.
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
  bool far_;  ///< on a file system that delays written data until they are synchronised
  std::uint64_t serial_ = 0;
  std::size_t length_ = 0;  ///< maximum so far: shorter texts are padded
};

/// A page as found.
struct FoundPage {
  std::string path;
  ServerState state;
  std::uint64_t serial = 0;
  double updated_at_s = 0;  ///< time of day
  bool locked = false;      ///< the writer was able to take the lock
  bool held = false;        ///< the writer holds the lock: it is alive
};

/// The page with this text; nothing if the text is incomplete or not a page.
std::optional<FoundPage> parse_page(const std::string& text);

/// Reads a page; retries for up to a tenth of a second during a concurrent write.
Result<FoundPage> read_page(const std::string& path);

/// All pages in the directory, or in the subdirectory that the default setting creates; by session
/// and server. Files that are not pages, or have a newer format, are left out. Fails with io if
/// there are none.
Result<std::vector<FoundPage>> read_pages(const std::string& directory);

/// The page as JSON, for scripts.
std::string page_json(const FoundPage& page);

/// Time of day in seconds since 1970.
double time_of_day_s();

}  // namespace afterbay::observe
