// SPDX-License-Identifier: Apache-2.0
#include "conformance/message_files.hpp"

namespace afterbay::test {

bool can_write(Format format) { return format != Format::grib2 || has_grib2(); }

Schema pp_schema() {
  Schema schema = grib2_schema();
  schema.find_variable("ta")->attribute("PP_packing", "wgdos").attribute("PP_accuracy", -8);
  schema.find_variable("lsm")->attribute("PP_stash", "m01s00i505");
  return schema;
}

Schema message_schema(Format format) {
  if (format == Format::pp) return pp_schema();
  if (format == Format::fieldsfile) return pp_schema().attribute("FF_reserved_headers", 12);
  return grib2_schema();
}

void MessageFiles::SetUp() {
  if (!can_write(format_))
    GTEST_SKIP() << "this needs ecCodes (libeccodes-dev) and its tools (libeccodes-tools)";
}

void MessageFiles::write(const storage::FileRequest& request, const Jobs& jobs, const Source& source) {
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  for (const auto& [frame, record] : jobs) {
    const auto written = write_frame(**file, request, frame, record, source);
    ASSERT_TRUE(written) << written.error().text();
  }
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  expect_checksum(request, *published);
}

MessageFiles::Jobs MessageFiles::all_jobs(const storage::FileRequest& request, std::uint64_t records) {
  Jobs jobs;
  for (std::uint64_t record = 0; record < records; ++record)
    for (std::size_t f = 0; f < request.layout->frames.size(); ++f)
      if (request.layout->frames[f].record || record == 0) jobs.emplace_back(f, record);
  return jobs;
}

storage::FileRequest MessageFiles::write_all(const Schema& schema, std::uint64_t records) {
  const auto request = request_of(path(), schema, format_);
  write(request, all_jobs(request, records), grib2_data(request.schema, *request.layout));
  return request;
}

}  // namespace afterbay::test
