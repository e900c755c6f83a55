// SPDX-License-Identifier: Apache-2.0
// Epochs of files of messages: at whichever moment a crash occurs, each epoch is restored with
// exactly its messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <tuple>

#include "conformance/message_files.hpp"
#include "conformance/snapshot_disk.hpp"
#include "storage/byte_allowance.hpp"
#include "storage/epoch/recover.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t steps = 6;

/// A format, and whether messages wait in a file.
class MessageEpoch : public testing::TestWithParam<std::tuple<Format, bool>> {
 protected:
  /// A piece that is put, after how many epochs.
  struct Put {
    model::Piece piece;
    std::uint64_t record = 0;
    std::uint64_t epochs = 0;
  };

  void SetUp() override {
    const auto [format, spills] = GetParam();
    if (!can_write(format))
      GTEST_SKIP() << "this needs ecCodes (libeccodes-dev) and its tools (libeccodes-tools)";
    std::filesystem::create_directory(directory_.path() / "run");
    request_ = request_of(directory_.file("run/out"), message_schema(format), format);
    store_ = storage::make_store(format);
    if (spills) request_.chunk_memory = std::make_shared<storage::ByteAllowance>(1500);  // spills
    source_ = grib2_data(request_.schema, *request_.layout);
    make_puts();
  }

  /// Each record is put in its step, in any order, except: the second level of odd records one step
  /// later and thus after the epoch, that of record 2 never, a field without records in step 3.
  void make_puts() {
    std::mt19937 random(7);
    puts_.resize(steps);
    for (const model::Piece& piece : request_.layout->pieces) {
      const std::string& name = request_.schema.variables[piece.variable].name;
      if (name == "lsm") puts_[3].push_back({piece, 0, 3});
      for (std::uint64_t record = 0; name != "lsm" && record < steps; ++record) {
        const bool late = name == "ta" && piece.number == 1 && record % 2 == 1;
        if (name == "ta" && piece.number == 1 && record == 2) continue;
        const std::uint64_t step = record + (late ? 1 : 0);
        if (step < steps) puts_[step].push_back({piece, record, step});
      }
    }
    for (std::vector<Put>& of_step : puts_) std::ranges::shuffle(of_step, random);
  }

  /// Put by a rank that has called the epoch already, before the others call it.
  [[nodiscard]] bool is_early(const Put& it) const {
    return request_.schema.variables[it.piece.variable].name == "ps" && it.record > 0;
  }

  Result<> put(storage::File& file, const Put& it) {
    AFTERBAY_TRY(write_pieces(file, request_, {it.piece}, it.record, source_, it.epochs));
    return {};
  }

  /// A file that contains only what was put before the epoch.
  std::vector<std::byte> reference(std::uint64_t epoch) {
    auto request = request_;
    request.path = directory_.file("reference");
    request.existing = storage::Existing::replace;
    request.disk = nullptr;
    auto file = store_->create(request);
    EXPECT_TRUE(file) << file.error().text();
    for (const auto& of_step : puts_)
      for (const Put& it : of_step)
        if (it.epochs < epoch) {
          EXPECT_TRUE(put(**file, it));
        }
    EXPECT_TRUE((*file)->publish());
    return file_bytes(request.path);
  }

  std::unique_ptr<storage::Store> store_;
  TemporaryDirectory directory_;
  storage::FileRequest request_;
  Source source_;
  std::vector<std::vector<Put>> puts_;
};

TEST_P(MessageEpoch, every_epoch_is_recovered_after_a_crash_at_any_moment) {
  auto disk = std::make_shared<SnapshotDisk>(directory_.path() / "run", directory_.path() / "crashes",
                                             "out.part", 0.5, 3);
  request_.disk = disk;
  auto file = store_->create(request_);
  ASSERT_TRUE(file) << file.error().text();
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (const Put& it : puts_[step])
      if (!is_early(it)) {
        ASSERT_TRUE(put(**file, it));
      }
    for (const Put& it : step + 1 < steps ? puts_[step + 1] : std::vector<Put>())
      if (is_early(it)) {
        ASSERT_TRUE(put(**file, it));
      }
    const auto marked = (*file)->mark_epoch({step + 1, "step", "now", step + 1}, {});
    ASSERT_TRUE(marked) << marked.error().text();
    disk->completed = step + 1;
    disk->take();
  }
  disk->on = false;
  std::map<std::uint64_t, std::vector<std::byte>> references;
  for (std::uint64_t epoch = 1; epoch <= steps; ++epoch) references[epoch] = reference(epoch);
  std::size_t recovered_files = 0;
  for (const SnapshotDisk::Snapshot& crash : disk->snapshots) {
    for (std::uint64_t epoch = std::max<std::uint64_t>(1, crash.completed); epoch > 0; epoch /= 2) {
      const std::filesystem::path place = directory_.path() / "recovering";
      std::filesystem::remove_all(place);
      std::filesystem::copy(crash.place, place);
      const auto found = storage::find_recoverable((place / "out").string(), true);
      if (crash.completed == 0) continue;
      ASSERT_TRUE(found) << found.error().text();
      const auto recovered = storage::recover_file(*found, {epoch, false, {}});
      ASSERT_TRUE(recovered) << recovered.error().text();
      EXPECT_TRUE(file_bytes((place / "out").string()) == references[epoch])
          << "epoch " << epoch << " of " << crash.completed << " at " << crash.place;
      EXPECT_EQ(recovered->size_bytes, references[epoch].size());
      ++recovered_files;
    }
  }
  EXPECT_GT(recovered_files, 30u);
  // The file itself is what it would be without epochs.
  const auto published = (*file)->publish();
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_TRUE(file_bytes(request_.path) == reference(steps + 1));
}

TEST_P(MessageEpoch, a_record_without_a_time_cannot_be_part_of_an_epoch) {
  auto file = store_->create(request_);
  ASSERT_TRUE(file) << file.error().text();
  for (const Put& it : puts_[0])
    if (request_.schema.variables[it.piece.variable].name != "time") {
      ASSERT_TRUE(put(**file, it));
    }
  const auto refused = (*file)->mark_epoch({1, "first", "now", 1}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("has no time"), std::string::npos) << refused.error().message;
}

/// The first epoch failed. Such a field has the time of the first record, which is not known yet.
TEST_P(MessageEpoch, a_field_without_records_belongs_to_epochs_from_the_first_time_on) {
  const auto is_fixed = [&](const Put& it) {
    return request_.schema.variables[it.piece.variable].name == "lsm";
  };
  std::vector<Put> fixed;
  std::ranges::copy_if(puts_[3], std::back_inserter(fixed), is_fixed);
  std::erase_if(puts_[3], is_fixed);
  ASSERT_FALSE(fixed.empty());
  for (Put& it : fixed) it.epochs = 0;
  auto file = store_->create(request_);
  ASSERT_TRUE(file) << file.error().text();
  for (const Put& it : fixed) ASSERT_TRUE(put(**file, it));
  const auto mark = [&](std::uint64_t number, std::uint64_t records) {
    const auto marked = (*file)->mark_epoch({number, "step", "now", records}, {});
    EXPECT_TRUE(marked) << marked.error().text();
    std::filesystem::copy(directory_.path() / "run", directory_.path() / fmt::format("crash{}", number));
  };
  mark(1, 0);
  puts_[1] = puts_[0];
  puts_[0].clear();
  for (Put& it : puts_[1]) {
    it.epochs = 1;
    ASSERT_TRUE(put(**file, it));
  }
  mark(2, 1);
  ASSERT_TRUE((*file)->publish());
  const auto recovered = [&](std::uint64_t epoch) {
    const std::filesystem::path place = directory_.path() / fmt::format("crash{}", epoch);
    const auto found = storage::find_recoverable((place / "out").string(), true);
    EXPECT_TRUE(found) << found.error().text();
    const auto done = storage::recover_file(found.value(), {epoch, false, {}});
    EXPECT_TRUE(done) << done.error().text();
    return file_bytes((place / "out").string());
  };
  puts_.resize(2);
  EXPECT_TRUE(recovered(1) == reference(1)) << "a file without fields";
  puts_[0] = fixed;
  EXPECT_TRUE(recovered(2) == reference(2));
  EXPECT_TRUE(file_bytes(request_.path) == reference(2));
}

INSTANTIATE_TEST_SUITE_P(Formats, MessageEpoch,
                         testing::Combine(testing::Values(Format::grib2, Format::pp, Format::fieldsfile),
                                          testing::Bool()),
                         [](const auto& it) {
                           return std::string(name_of(std::get<0>(it.param))) +
                                  (std::get<1>(it.param) ? "_spilled" : "_in_memory");
                         });

}  // namespace
}  // namespace afterbay::test
