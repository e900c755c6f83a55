// SPDX-License-Identifier: Apache-2.0
// Sinks: what they hand to the file, and where it lies.
#include "server/sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/caller_terms.hpp"
#include "server/stage_sink.hpp"

namespace afterbay::server {
namespace {

using ::testing::HasSubstr;

/// Keeps what it is given.
class SinkFakeFile : public storage::File {
 public:
  struct Write {
    model::Piece piece;
    std::uint64_t record;
    std::uint64_t epochs;
    const std::byte* at;
    std::vector<std::byte> bytes;
  };

  [[nodiscard]] std::uint64_t records() const override { return 0; }
  Result<storage::WriteCost> write(std::span<const storage::PieceWrite> pieces) override {
    for (const storage::PieceWrite& it : pieces)
      writes.push_back({it.piece, it.record, it.epochs, it.bytes.data(), {it.bytes.begin(), it.bytes.end()}});
    return storage::WriteCost{};
  }
  Result<storage::WriteCost> write_strings(std::uint32_t, std::uint64_t,
                                           std::span<const std::string>) override {
    return storage::WriteCost{};
  }
  Result<storage::Published> finish() override { return storage::Published{}; }
  void abandon() noexcept override {}
  [[nodiscard]] std::string engine() const override { return "fake"; }

  std::vector<Write> writes;
};

/// Two variables of 8192 + 40 values, in one frame of a record, with netCDF's padding in a classic
/// file.
class ServerSink : public ::testing::Test {
 protected:
  static constexpr std::uint64_t points = 8232;

  ServerSink() {
    schema_.dimension("time", unlimited).dimension("x", points);
    schema_.variable("t", Type::float64, {"time", "x"});
    schema_.variable("n", Type::int16, {"time", "x"}).with_fill(Values(std::int16_t{-1}));
    schema_.variable("c", Type::text, {"time", "x"});
  }

  /// Frame 0, whose values are 0, 1, ... in the handover layout's byte order, at the start of
  /// `frame_`.
  void use(Format format, const std::vector<pipeline::Settings>& given) {
    auto files = std::make_shared<const model::FileLayout>(model::make_layout(schema_, format, {}).value());
    pipeline::Plan plan = pipeline::make_plan(schema_, given).value();
    handover_ = pipeline::handover_layout(files, plan);
    sink_ = plan.empty() ? make_direct_sink(std::move(files))
                         : make_stage_sink(std::move(files), handover_, schema_, std::move(plan));
    pieces_.resize(handover_->frames[0].piece_count);
    std::iota(pieces_.begin(), pieces_.end(), 0u);
    frame_.assign(handover_->frames[0].bytes, std::byte{0xee});
    for (const std::uint32_t p : pieces_) {
      const model::Piece& piece = handover_->pieces[p];
      std::byte* const at = frame_.data() + piece.frame_offset;
      if (piece.variable == 0) fill<double>(at);
      if (piece.variable == 1) fill<std::int16_t>(at);
      if (piece.variable == 2) std::memset(at, 'x', piece.bytes);
    }
  }
  template <class T>
  void fill(std::byte* at) const {
    for (std::uint64_t i = 0; i < points; ++i) {
      T value = i % 100 == 99 && sizeof(T) == 2 ? T(-1) : T(i % 1000);
      auto* const bytes = reinterpret_cast<std::byte*>(&value);
      if (handover_->big_endian) std::reverse(bytes, bytes + sizeof(T));
      std::memcpy(at + i * sizeof(T), bytes, sizeof(T));
    }
  }
  Result<storage::WriteCost> write(bool in_scratch = false) {
    return sink_->write({frame_.data(), pieces_, 3, 7, in_scratch}, file_, scratch_, nullptr);
  }
  template <class T>
  std::vector<T> written(std::size_t write) const {
    std::vector<T> values(points);
    for (std::uint64_t i = 0; i < points; ++i) {
      std::byte bytes[sizeof(T)];
      std::memcpy(bytes, file_.writes[write].bytes.data() + i * sizeof(T), sizeof(T));
      if (sink_->file_layout()->big_endian) std::reverse(bytes, bytes + sizeof(T));
      std::memcpy(&values[i], bytes, sizeof(T));
    }
    return values;
  }
  void expect_converted() const {
    ASSERT_EQ(file_.writes.size(), 3u);
    const auto t = written<double>(0);
    const auto n = written<std::int16_t>(1);
    for (std::uint64_t i = 0; i < points; ++i) {
      ASSERT_EQ(t[i], 0.5 * static_cast<double>(i % 1000) - 3) << i;
      ASSERT_EQ(n[i], i % 100 == 99 ? -1 : static_cast<int>(i % 1000) * 20) << i;
    }
    EXPECT_EQ(file_.writes[2].bytes, std::vector<std::byte>(points, std::byte{'x'}));
    for (const SinkFakeFile::Write& it : file_.writes) {
      EXPECT_EQ(it.record, 3u);
      EXPECT_EQ(it.epochs, 7u);
      const model::Piece piece = sink_->file_layout()->pieces[it.piece.variable];
      EXPECT_EQ(it.piece.number, piece.number);
      EXPECT_EQ(it.piece.box, piece.box);
    }
  }

  const std::vector<pipeline::Settings> both_{{{"multiply", "0.5"}, {"add", "-3"}}, {{"multiply", "20"}}, {}};
  Schema schema_;
  std::shared_ptr<const model::HandoverLayout> handover_;
  std::shared_ptr<const Sink> sink_;
  std::vector<std::uint32_t> pieces_;
  std::vector<std::byte> frame_;
  SinkFakeFile file_;
  ScratchBuffers scratch_{(4u << 20) + model::page_bytes};
};

TEST_F(ServerSink, direct_frames_go_to_the_file_as_they_lie) {
  for (const Format format : all_formats()) {
    file_.writes.clear();
    use(format, {});
    EXPECT_FALSE(sink_->takes_scratch());
    EXPECT_EQ(handover_, sink_->file_layout());
    ASSERT_TRUE(write());
    ASSERT_EQ(file_.writes.size(), pieces_.size());
    for (const SinkFakeFile::Write& it : file_.writes)
      EXPECT_EQ(it.at, frame_.data() + it.piece.frame_offset) << name_of(format);
  }
}

TEST_F(ServerSink, stages_compute_in_both_byte_orders) {
  for (const Format format : {Format::cdf5, Format::memory}) {
    file_.writes.clear();
    use(format, both_);
    const auto before = frame_;
    ASSERT_TRUE(write());
    expect_converted();
    EXPECT_EQ(frame_, before);  // the frame is its owner's
  }
}

TEST_F(ServerSink, stages_compute_in_place_in_a_scratch_buffer) {
  for (const Format format : {Format::cdf5, Format::memory}) {
    file_.writes.clear();
    use(format, both_);
    ASSERT_TRUE(write(true));
    expect_converted();
    EXPECT_EQ(file_.writes[0].at, frame_.data() + file_.writes[0].piece.frame_offset);
  }
}

/// What lies between two pieces, in a buffer that is used again and again, does not get into the
/// file.
TEST_F(ServerSink, buffers_have_the_phase_of_the_file_and_no_old_bytes_between_pieces) {
  use(Format::cdf5, both_);
  ASSERT_TRUE(write());
  const auto& layout = *sink_->file_layout();
  const auto phase = layout.phase(layout.frames[0], 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file_.writes[0].at) % model::page_bytes, phase);
  const std::byte* const end = file_.writes[1].at + file_.writes[1].bytes.size();
  for (const std::byte* at = end; at < file_.writes[2].at; ++at) EXPECT_EQ(*at, std::byte{0});
}

TEST_F(ServerSink, a_frame_of_variables_without_stages_is_not_copied) {
  use(Format::memory, {{{"add", "1"}}, {}, {}});
  pieces_ = {1, 2};
  ASSERT_TRUE(write());
  EXPECT_EQ(file_.writes[0].at, frame_.data() + handover_->pieces[1].frame_offset);
}

TEST_F(ServerSink, results_out_of_range_are_counted_and_nothing_is_written) {
  use(Format::cdf5, {{}, {{"multiply", "40"}}, {}});
  const auto refused = write();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_type);
  EXPECT_EQ(refused.error().variable, "n");
  // 820 * 40 is more than 32767: 180 values of each thousand, less the missing ones among them.
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < points; ++i) expected += i % 100 != 99 && i % 1000 * 40 > 32767 ? 1 : 0;
  EXPECT_THAT(refused.error().message,
              HasSubstr(fmt::format("after multiply 40, add 0, {} values of the part [0:8232] of record 3 of "
                                    "variable 'n' are out of range of its type int16",
                                    expected)));
  EXPECT_TRUE(file_.writes.empty());
}

/// Before, errors did not say which part it was.
TEST_F(ServerSink, the_part_whose_results_are_out_of_range_is_named) {
  schema_ = {};
  schema_.dimension("time", unlimited).dimension("y", 8).dimension("x", points);
  schema_.variable("t", Type::float64, {"time", "y", "x"}).with_chunk({1, 3, points});
  use(Format::netcdf4, {{{"multiply", "1e308"}}});
  pieces_ = {1};
  EXPECT_THAT(write().error().message,
              HasSubstr("values of the part [3:6, 0:8232] of record 3 of variable 't'"));
  const InTerms fortran(Terms::fortran);
  EXPECT_THAT(write().error().message,
              HasSubstr("values of the part (1:8232, 4:6) of record 4 of variable 't'"));
}

}  // namespace
}  // namespace afterbay::server
