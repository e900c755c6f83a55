// SPDX-License-Identifier: Apache-2.0
// What all formats of messages have in common.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>
#include <thread>

#include "conformance/message_files.hpp"
#include "storage/byte_allowance.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

class MessageStore : public MessageFiles, public testing::WithParamInterface<Format> {
 protected:
  MessageStore() : MessageFiles(GetParam()) {}
};

TEST_P(MessageStore, writes_the_same_bytes_in_any_order_and_from_several_threads) {
  const auto request = write_all(message_schema(GetParam()), 4);
  const Source source = grib2_data(request.schema, *request.layout);
  std::mt19937 random(1);
  for (int trial = 0; trial < 4; ++trial) {
    auto other = request;
    other.path = path("other");
    other.existing = Existing::replace;
    if (trial % 2 == 1) other.chunk_memory = std::make_shared<storage::ByteAllowance>(2000);  // spills
    auto jobs = all_jobs(other, 4);
    std::ranges::shuffle(jobs, random);
    auto file = store_->create(other);
    ASSERT_TRUE(file) << file.error().text();
    std::atomic<std::size_t> next{0};
    std::atomic<int> failures{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
          for (std::size_t n = next++; n < jobs.size(); n = next++)
            if (!write_frame(**file, other, jobs[n].first, jobs[n].second, source)) ++failures;
        });
    }
    EXPECT_EQ(failures, 0);
    const auto published = (*file)->publish();
    ASSERT_TRUE(published) << published.error().text();
    expect_checksum(other, *published);
    EXPECT_TRUE(file_bytes(path()) == file_bytes(other.path)) << trial;
  }
}

TEST_P(MessageStore, gives_the_same_bytes_for_frames_of_other_sizes) {
  const auto request = write_all(message_schema(GetParam()), 3);
  auto small =
      request_of(path("small"), message_schema(GetParam()), GetParam(), Existing::refuse, {8192, 8192});
  EXPECT_GT(small.layout->frames.size(), request.layout->frames.size());
  write(small, all_jobs(small, 3), grib2_data(small.schema, *small.layout));
  EXPECT_TRUE(file_bytes(path()) == file_bytes(small.path));
}

TEST_P(MessageStore, a_record_without_a_time_is_an_error_with_its_name) {
  const auto request = request_of(path(), message_schema(GetParam()), GetParam());
  const Source source = grib2_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  for (const model::Piece& piece : request.layout->pieces)
    if (request.schema.variables[piece.variable].name == "ps") {
      ASSERT_TRUE(write_pieces(**file, request, {piece}, 0, source));
    }
  const auto published = (*file)->publish();
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code, ErrorCode::bad_state);
  EXPECT_EQ(published.error().variable, "ps");
  EXPECT_NE(published.error().message.find("put 'time' in every record"), std::string::npos)
      << published.error().message;
  EXPECT_FALSE(file_exists(path()));
}

/// They were missing in the journal and in the report.
TEST_P(MessageStore, reports_once_the_errors_of_fields_with_constant_values) {
  if (GetParam() == Format::grib2) return;  // has no such fields
  Schema schema = message_schema(GetParam());
  Variable& lsm = *schema.find_variable("lsm");
  std::vector<float> values(19u * 36u, 0.3F);
  values.front() = 0.25F;  // fields of one value survive
  lsm.attribute("PP_packing", "wgdos").attribute("PP_accuracy", -4).with_constant(Values(values));
  values.back() = std::numeric_limits<float>::quiet_NaN();
  schema.variable("mask", Type::float32, {"lat", "lon"})
      .attribute("standard_name", "surface_temperature")
      .attribute("units", "K")
      .attribute("PP_packing", "wgdos")
      .attribute("PP_accuracy", -4)
      .with_constant(Values(values));
  const auto request = request_of(path(), schema, GetParam());
  const Source source = grib2_data(request.schema, *request.layout);
  auto file = store_->create(request);
  ASSERT_TRUE(file) << file.error().text();
  model::LargestErrors errors;
  std::uint64_t unpacked = 0;
  for (const auto& [frame, record] : all_jobs(request, 2)) {
    const auto written = write_frame(**file, request, frame, record, source);
    ASSERT_TRUE(written) << written.error().text();
    model::merge(errors, written->errors);
    unpacked += written->unpacked_messages;
  }
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  model::merge(errors, published->cost.errors);
  EXPECT_EQ(unpacked + published->cost.unpacked_messages, 1u);
  const auto found = std::ranges::find_if(errors, [&](const model::LargestError& it) {
    return request.schema.variables[it.variable].name == "lsm";
  });
  ASSERT_NE(found, errors.end());
  EXPECT_NEAR(found->value, 5.0 / 16 - 0.3, 1e-6);
}

TEST_P(MessageStore, refuses_to_append_and_to_be_readable) {
  const auto request = write_all(message_schema(GetParam()), 1);
  auto append = request;
  append.existing = Existing::append;
  const auto refused = store_->create(append);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exists);
  auto readable = request;
  readable.path = path("readable");
  readable.readable = true;
  const auto also = store_->create(readable);
  ASSERT_FALSE(also);
  EXPECT_NE(also.error().message.find("leave 'readable' off"), std::string::npos);
  EXPECT_FALSE(file_exists(readable.path + ".part"));
}

INSTANTIATE_TEST_SUITE_P(Formats, MessageStore,
                         testing::Values(Format::grib2, Format::pp, Format::fieldsfile),
                         [](const auto& it) { return std::string(name_of(it.param)); });

}  // namespace
}  // namespace afterbay::test
