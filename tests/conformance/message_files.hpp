// SPDX-License-Identifier: Apache-2.0
// Files of messages for tests of all formats that have them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/grib2_files.hpp"
#include "conformance/store_harness.hpp"

namespace afterbay::test {

/// Whether this build writes the format, and the tests have what they need.
bool can_write(Format format);

/// grib2_schema, with what PP headers need: temperatures packed by WGDOS, a STASH code.
Schema pp_schema();
/// A schema with the variables of grib2_schema, for which grib2_data has values.
Schema message_schema(Format format);

class MessageFiles : public testing::Test {
 protected:
  explicit MessageFiles(Format format) : format_(format) {}
  void SetUp() override;

  /// Frames and their records.
  using Jobs = std::vector<std::pair<std::size_t, std::uint64_t>>;

  [[nodiscard]] std::string path(const std::string& name = "out") const { return directory_.file(name); }
  /// Writes everything, with the frames in the given order, and publishes.
  void write(const storage::FileRequest& request, const Jobs& jobs, const Source& source);
  static Jobs all_jobs(const storage::FileRequest& request, std::uint64_t records);
  /// Writes `records` records of a schema and returns the request, to which the source refers.
  storage::FileRequest write_all(const Schema& schema, std::uint64_t records);

  Format format_;
  std::unique_ptr<storage::Store> store_ = storage::make_store(format_);
  TemporaryDirectory directory_;
};

}  // namespace afterbay::test
