// SPDX-License-Identifier: Apache-2.0
// Epochs inside part files: at whichever moment a crash occurs, the file is restored as it was.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>

#include "conformance/shared_files.hpp"
#include "conformance/snapshot_disk.hpp"
#include "storage/epoch/recover.hpp"

namespace afterbay::test {
namespace {

namespace fs = std::filesystem;
using storage::Existing;

Schema epoch_schema(Format format) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("z", 3).dimension("y", 50).dimension("x", 90);
  schema.variable("a", Type::float32, {"time", "z", "y", "x"});
  schema.variable("b", Type::float64, {"time", "y", "x"});
  schema.variable("orography", Type::float64, {"z", "y", "x"});
  schema.variable("c", Type::int16, {"time"});
  schema.variable("scalar", Type::int32, {});
  schema.variables[1].with_fill(Values{-7.5});
  if (format == Format::netcdf4) {
    schema.variable("packed", Type::float32, {"time", "y", "x"}).with_deflate(1);
    schema.variable("spanned", Type::float32, {"time", "y"}).with_chunk({4, 50}).with_deflate(2);
    schema.variable("long_span", Type::float64, {"time", "y", "x"}).with_chunk({5, 50, 90});
    schema.variable("packed_span", Type::float32, {"time", "y", "x"}).with_chunk({3, 25, 90}).with_deflate(1);
    schema.variable("label", Type::string, {"time"});
  }
  return schema;
}

struct EpochCase {
  Format format;
  std::size_t members;
  bool append = false;
};

std::string name_of_case(const testing::TestParamInfo<EpochCase>& parameter) {
  const EpochCase& it = parameter.param;
  return fmt::format("{}_{}{}", name_of(it.format),
                     it.members > 0 ? fmt::format("{}_members", it.members) : "alone",
                     it.append ? "_appended" : "");
}

constexpr std::uint64_t store_epoch_steps = 14;

class StoreEpoch : public testing::TestWithParam<EpochCase> {
 protected:
  /// The actions of the test, in order: writing a frame or a string, or an epoch.
  struct Action {
    std::optional<FrameJob> frame;
    std::optional<std::uint64_t> label;  ///< record
    std::uint64_t epoch = 0;
    std::uint64_t records = 0;  ///< records of the epoch
  };

  /// Frames of some steps, shuffled within a step and some of them postponed; an epoch every third
  /// step.
  std::vector<Action> plan(const model::FileLayout& layout, std::uint64_t first, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Action> actions;
    std::vector<FrameJob> late;
    std::uint64_t epoch = 0;
    for (std::uint64_t record = first; record < first + store_epoch_steps; ++record) {
      std::vector<FrameJob> now = std::exchange(late, {});
      for (std::size_t f = 0; f < layout.frames.size(); ++f) {
        const bool fixed = !layout.variables[layout.pieces[layout.frames[f].first_piece].variable].record;
        if (fixed && (first > 0 || record != first + f % 5)) continue;
        const FrameJob job{f, fixed ? 0 : record};
        const auto fate = random() % 8;
        if (fate == 0) continue;  // never put
        (fate == 1 && !fixed ? late : now).push_back(job);
      }
      std::shuffle(now.begin(), now.end(), random);
      for (const FrameJob& job : now) actions.push_back({job, {}, 0, 0});
      if (record % 2 == 0) actions.push_back({{}, record, 0, 0});
      if (record % 3 == 2) actions.push_back({{}, {}, ++epoch, record + 1});
    }
    return actions;
  }

  storage::FileRequest request(const std::string& path) const {
    const bool again = GetParam().append;
    auto made = request_of(path, epoch_schema(GetParam().format), GetParam().format,
                           again ? Existing::append : Existing::refuse, {64u << 10, 64u << 10});
    return made;
  }

  void put(storage::File& file, const storage::FileRequest& request, storage::File& leader,
           const Action& action, const Source& source) {
    if (action.frame) {
      auto written = write_frame(file, request, action.frame->frame, action.frame->record, source);
      ASSERT_TRUE(written) << written.error().text();
    } else if (action.label && GetParam().format == Format::netcdf4) {
      const std::vector<std::string> text{fmt::format("record {}", *action.label)};
      auto written = leader.write_strings(label(request), *action.label, text);
      ASSERT_TRUE(written) << written.error().text();
    }
  }
  static std::uint32_t label(const storage::FileRequest& request) {
    return static_cast<std::uint32_t>(request.schema.variables.size() - 1);
  }

  /// A file with the actions up to an epoch, created by one writer and published.
  ReadFile reference(const std::vector<Action>& actions, std::uint64_t epoch, const Source& source) {
    const std::string path = directory_.file(fmt::format("reference_{}.nc", epoch));
    if (GetParam().append) fs::copy(directory_.file("before.nc"), path);
    const auto asked = request(path);
    auto file = store_->create(asked);
    EXPECT_TRUE(file) << file.error().text();
    for (const Action& action : actions) {
      if (action.epoch == epoch) {
        (*file)->reach(action.records);
        break;
      }
      put(**file, asked, **file, action, source);
    }
    EXPECT_TRUE((*file)->publish());
    return read_netcdf(path);
  }

  /// A few records that existed before.
  void make_before(const Source& source) {
    auto asked = request_of(directory_.file("before.nc"), epoch_schema(GetParam().format), GetParam().format,
                            Existing::refuse, {64u << 10, 64u << 10});
    auto file = store_->create(asked);
    ASSERT_TRUE(file);
    write_fixed(**file, asked, source);
    for (std::uint64_t record = 0; record < 4; ++record) write_record(**file, asked, record, source);
    ASSERT_TRUE((*file)->publish());
  }

  /// Restores every snapshot, to its last epoch and to an older one.
  void expect_recovered(const SnapshotDisk& disk, const std::map<std::uint64_t, ReadFile>& references) {
    std::set<std::uint64_t> seen;
    for (const auto& snapshot : disk.snapshots) {
      SCOPED_TRACE(snapshot.place.string());
      const std::string path = (snapshot.place / "out.nc").string();
      auto found = storage::find_recoverable(path, true);
      if (snapshot.completed == 0 && (!found || found->epochs.empty())) continue;
      ASSERT_TRUE(found) << found.error().text();
      ASSERT_GE(found->epochs.size(), snapshot.completed);
      for (std::uint64_t back = 0; back < 2 && back < found->epochs.size(); ++back) {
        const std::uint64_t number = found->epochs[found->epochs.size() - 1 - back].number;
        const fs::path copy = snapshot.place.string() + fmt::format("_{}", number);
        fs::copy(snapshot.place, copy);
        auto again = storage::find_recoverable((copy / "out.nc.part").string(), true);
        ASSERT_TRUE(again) << again.error().text();
        auto recovered = storage::recover_file(*again, {number, false});
        ASSERT_TRUE(recovered) << recovered.error().text();
        EXPECT_EQ(recovered->epoch.number, number);
        expect_equal(read_netcdf((copy / "out.nc").string()), references.at(number));
        EXPECT_FALSE(file_exists((copy / "out.nc.part").string()));
        EXPECT_FALSE(file_exists((copy / "out.nc.part.epochs").string()));
        seen.insert(number);
        fs::remove_all(copy);
        if (HasFailure()) return;
      }
    }
    EXPECT_GE(seen.size(), references.size() - 1) << "snapshots between all epochs";
  }

  TemporaryDirectory directory_;
  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam().format);
};

TEST_P(StoreEpoch, a_crash_at_any_write_leaves_a_file_that_comes_back) {
  constexpr unsigned seed = 20261122;
  const double crash_share = GetParam().format == Format::netcdf4 ? 0.03 : 0.25;  // about 30 crashes
  fs::create_directories(directory_.path() / "run");
  auto disk = std::make_shared<SnapshotDisk>(directory_.path() / "run", directory_.path() / "crashes",
                                             "out.nc.part", crash_share, seed);
  auto asked = request((directory_.path() / "run" / "out.nc").string());
  const Source source = sample_data(asked.schema, *asked.layout);
  if (GetParam().append) {
    make_before(source);
    fs::copy(directory_.file("before.nc"), asked.path);
  }
  asked.disk = disk;
  const auto actions = plan(*asked.layout, GetParam().append ? 4 : 0, seed);
  std::map<std::uint64_t, ReadFile> references;
  for (const Action& action : actions)
    if (action.epoch > 0) references.emplace(action.epoch, reference(actions, action.epoch, source));

  auto leader = store_->create(asked);
  ASSERT_TRUE(leader) << leader.error().text();
  std::vector<std::unique_ptr<storage::File>> members;
  for (std::size_t m = 0; m < GetParam().members; ++m) {
    auto share = (*leader)->share();
    ASSERT_TRUE(share) << share.error().text();
    auto its = asked;
    its.server = m + 1;
    auto member = store_->join(its, *share, std::make_shared<LeaderPlacer>(**leader));
    ASSERT_TRUE(member) << member.error().text();
    members.push_back(std::move(*member));
  }
  std::set<std::size_t> done;  // ahead of their turn
  const auto write_ahead = [&](std::size_t from, std::uint64_t records) {
    // Servers need not be at the epoch: later records may already be on the disk.
    for (std::size_t i = from; i < actions.size() && i < from + 25; ++i) {
      if (actions[i].epoch > 0) break;
      if (!actions[i].frame || actions[i].frame->record < records || done.contains(i)) continue;
      const std::size_t writer = actions[i].frame->frame % (members.size() + 1);
      put(writer == 0 ? **leader : *members[writer - 1], asked, **leader, actions[i], source);
      done.insert(i);
    }
  };
  for (std::size_t number = 0; number < actions.size(); ++number) {
    const Action& action = actions[number];
    if (done.contains(number)) continue;
    if (action.epoch > 0 && action.epoch % 2 == 0) write_ahead(number + 1, action.records);
    if (action.epoch == 0) {
      const std::size_t writer = action.frame ? action.frame->frame % (members.size() + 1) : 0;
      put(writer == 0 ? **leader : *members[writer - 1], asked, **leader, action, source);
      continue;
    }
    const storage::Epoch epoch{action.epoch, fmt::format("epoch {}", action.epoch), "", action.records};
    std::vector<storage::MemberEpoch> parts;
    for (auto& member : members) {
      auto part = member->mark_member_epoch(epoch);
      ASSERT_TRUE(part) << part.error().text();
      parts.push_back(std::move(*part));
    }
    auto marked = (*leader)->mark_epoch(epoch, parts);
    ASSERT_TRUE(marked) << marked.error().text();
    disk->completed = action.epoch;
  }
  disk->take();
  for (auto& member : members) {
    auto account = member->hand_over();
    ASSERT_TRUE(account) << account.error().text();
    ASSERT_TRUE((*leader)->take(*account));
  }
  auto published = (*leader)->publish();
  ASSERT_TRUE(published) << published.error().text();
  disk->on = false;
  EXPECT_GT(disk->snapshots.size(), 10U);
  EXPECT_LT(disk->snapshots.size(), 90U) << "this takes long";
  EXPECT_FALSE(file_exists(asked.path + ".part.epochs")) << "of no use any more";
  expect_recovered(*disk, references);
  // The published file equals the one that one writer creates without epochs.
  std::vector<Action> all(actions);
  all.push_back({{}, {}, 99, 0});
  const ReadFile whole = reference(all, 99, source);
  expect_equal(read_netcdf(asked.path), whole);
}

INSTANTIATE_TEST_SUITE_P(, StoreEpoch,
                         testing::Values(EpochCase{Format::netcdf4, 0}, EpochCase{Format::netcdf4, 2},
                                         EpochCase{Format::netcdf4, 0, true}, EpochCase{Format::cdf5, 0},
                                         EpochCase{Format::cdf5, 2}, EpochCase{Format::cdf2, 0, true}),
                         name_of_case);

class StoreEpochRefusal : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(StoreEpochRefusal, a_file_without_an_epoch_or_still_being_written_is_refused) {
  const auto store = storage::make_store(Format::netcdf4);
  const auto asked = request_of(directory_.file("out.nc"), epoch_schema(Format::netcdf4), Format::netcdf4);
  EXPECT_FALSE(storage::find_recoverable(asked.path));
  auto file = store->create(asked);
  ASSERT_TRUE(file);
  const auto nothing = storage::find_recoverable(asked.path);
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().text().find("open when an epoch completed"), std::string::npos)
      << nothing.error().text();
  ASSERT_TRUE((*file)->mark_epoch({1, "one", "", 0}, {}));
  const auto found = storage::find_recoverable(asked.path);
  ASSERT_TRUE(found) << found.error().text();
  auto busy = storage::recover_file(*found, {});
  ASSERT_FALSE(busy);
  EXPECT_NE(busy.error().text().find("still being written"), std::string::npos) << busy.error().text();
  (*file)->abandon();
  auto unknown = storage::recover_file(*found, {7, false});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text().find("has no epoch 7"), std::string::npos) << unknown.error().text();
  ASSERT_TRUE(storage::recover_file(*found, {}));
  EXPECT_EQ(read_netcdf(asked.path).records, 0U);
}

TEST_F(StoreEpochRefusal, a_new_file_of_the_name_takes_older_logs_away) {
  const auto store = storage::make_store(Format::cdf5);
  const auto asked = request_of(directory_.file("out.nc"), epoch_schema(Format::cdf5), Format::cdf5);
  auto file = store->create(asked);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->mark_epoch({1, "one", "", 0}, {}));
  (*file)->abandon();
  EXPECT_TRUE(file_exists(asked.path + ".part.epochs"));
  ASSERT_TRUE(store->create(asked));
  EXPECT_FALSE(file_exists(asked.path + ".part.epochs"));
}

// ---- read while it is written

class StoreReadable : public testing::TestWithParam<Format> {
 protected:
  /// The values of `c` that another process sees, one per record.
  [[nodiscard]] std::vector<int> seen(const std::string& path) const {
    const std::string text = output_of("ncdump -v c " + path);
    std::vector<int> values;
    const std::size_t begin = text.find(" c = ");
    if (begin == std::string::npos) return values;
    std::istringstream numbers(text.substr(begin + 5));
    for (std::string word; numbers >> word && word != ";";)
      if (word != ",") values.push_back(word == "_," || word == "_" ? -1 : std::stoi(word));
    return values;
  }
  TemporaryDirectory directory_;
};

Schema readable_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 300).dimension("x", 200);
  schema.variable("a", Type::float32, {"time", "y", "x"});
  schema.variable("c", Type::int32, {"time"});
  return schema;
}

TEST_P(StoreReadable, others_see_the_last_epoch_while_output_goes_on) {
  const auto store = storage::make_store(GetParam());
  auto asked = request_of(directory_.file("out.nc"), readable_schema(), GetParam());
  asked.readable = true;
  const Source source = [&](std::uint32_t variable, std::uint64_t record) {
    const std::size_t count = variable == 1 ? 1 : 300 * 200;
    std::vector<std::byte> bytes(count * 4);
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<std::int32_t>(100 + record);
      const auto value = static_cast<float>(number);
      std::memcpy(bytes.data() + i * 4, variable == 1 ? static_cast<const void*>(&number) : &value, 4);
    }
    return bytes;
  };
  auto file = store->create(asked);
  ASSERT_TRUE(file) << file.error().text();
  const std::string part = asked.path + ".part";
  for (std::uint64_t record = 0; record < 3; ++record) write_record(**file, asked, record, source);
  ASSERT_TRUE((*file)->mark_epoch({1, "three", "", 3}, {}));
  EXPECT_EQ(seen(part), (std::vector<int>{100, 101, 102}));
  for (std::uint64_t record = 3; record < 8; ++record) {
    write_record(**file, asked, record, source);
    EXPECT_EQ(seen(part), (std::vector<int>{100, 101, 102})) << "not before the next epoch";
  }
  ASSERT_TRUE((*file)->mark_epoch({2, "eight", "", 8}, {}));
  EXPECT_EQ(seen(part).size(), 8U);
  if (GetParam() == Format::netcdf4) {
    // Another process has it open, like HDF5: the data that it has found stay valid.
    const int reader = ::open(part.c_str(), O_RDONLY);
    ASSERT_EQ(::flock(reader, LOCK_SH | LOCK_NB), 0) << "the writer keeps readers out";
    write_record(**file, asked, 8, source);
    ASSERT_TRUE((*file)->mark_epoch({3, "nine", "", 9}, {}));
    EXPECT_EQ(seen(part).size(), 8U);
    ::close(reader);
    ASSERT_TRUE((*file)->mark_epoch({4, "nine again", "", 9}, {}));
    EXPECT_EQ(seen(part).size(), 9U);
  }
  // A second writer is still refused.
  const auto second = store->create(asked);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict) << second.error().text();
  ASSERT_TRUE((*file)->publish());
  EXPECT_EQ(seen(asked.path).size(), GetParam() == Format::netcdf4 ? 9U : 8U);
}

INSTANTIATE_TEST_SUITE_P(, StoreReadable, testing::Values(Format::netcdf4, Format::cdf5),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST_F(StoreEpochRefusal, what_cannot_be_read_while_it_is_written_is_refused) {
  const auto store = storage::make_store(Format::netcdf4);
  Schema schema = readable_schema();
  schema.variable("packed", Type::float32, {"time", "y", "x"}).with_chunk({4, 300, 200}).with_deflate(1);
  auto asked = request_of(directory_.file("packed.nc"), schema, Format::netcdf4);
  asked.readable = true;
  const auto packed = store->create(asked);
  ASSERT_FALSE(packed);
  EXPECT_NE(packed.error().text().find("span 4 records"), std::string::npos) << packed.error().text();
  auto plain = request_of(directory_.file("plain.nc"), readable_schema(), Format::netcdf4);
  plain.readable = true;
  auto file = store->create(plain);
  ASSERT_TRUE(file) << file.error().text();
  const auto shared = (*file)->share();
  ASSERT_FALSE(shared);
  EXPECT_NE(shared.error().text().find("written by one server"), std::string::npos) << shared.error().text();
}

}  // namespace
}  // namespace afterbay::test
