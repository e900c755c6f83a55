// SPDX-License-Identifier: Apache-2.0
// `recover_file` with logs of other files, short files, failures on the way and damaged input.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "base/crc64.hpp"
#include "conformance/shared_files.hpp"
#include "mutator.hpp"
#include "storage/artifact.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/epoch/recover.hpp"
#include "storage/epoch/withheld_structure.hpp"

namespace afterbay::test {
namespace {

namespace fs = std::filesystem;

Schema recover_schema(Format format) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 20).dimension("x", 30);
  schema.variable("a", Type::float32, {"time", "y", "x"});
  schema.variable("b", Type::float64, {"time", "y"}).with_fill(Values{-7.5});
  if (format == Format::netcdf4)
    schema.variable("spanned", Type::float32, {"time", "y"}).with_chunk({4, 20}).with_deflate(1);
  return schema;
}

constexpr std::uint64_t epochs = 3;
constexpr std::uint64_t records_per_epoch = 3;

class Recover : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] storage::FileRequest request(storage::Existing existing = storage::Existing::replace) const {
    return request_of(path_, recover_schema(GetParam()), GetParam(), existing);
  }

  std::unique_ptr<storage::File> begin() {
    auto file = store_->create(request());
    EXPECT_TRUE(file) << file.error().text();
    return *std::move(file);
  }

  /// A run that is killed after its last epoch, with two more records.
  void leave_part(std::uint64_t count = epochs) {
    const auto asked = request();
    const Source source = sample_data(asked.schema, *asked.layout);
    auto file = begin();
    for (std::uint64_t record = 0; record < count * records_per_epoch + 2; ++record) {
      write_record(*file, asked, record, source);
      const std::uint64_t next = record + 1;
      if (next % records_per_epoch != 0) continue;
      ASSERT_TRUE(file->mark_epoch(
          {next / records_per_epoch, std::to_string(next), "2026-01-01T00:00:00Z", next}, {}));
    }
    file->abandon();
  }

  /// The file published by a run that ends after `count` records.
  ReadFile reference(std::uint64_t count) const {
    const std::string path = directory_.file("reference.nc");
    fs::remove(path);
    const auto asked = request_of(path, recover_schema(GetParam()), GetParam(), storage::Existing::replace);
    const Source source = sample_data(asked.schema, *asked.layout);
    auto file = store_->create(asked);
    for (std::uint64_t record = 0; record < count; ++record) write_record(**file, asked, record, source);
    EXPECT_TRUE((*file)->publish());
    return read_netcdf(path);
  }

  void expect_epoch(std::uint64_t number, bool copied = false) const {
    const auto found = storage::find_recoverable(path_, copied);
    ASSERT_TRUE(found) << found.error().text();
    const auto recovered = storage::recover_file(*found, {number, true});
    ASSERT_TRUE(recovered) << recovered.error().text();
    expect_equal(read_netcdf(path_), reference(number * records_per_epoch));
    for (const auto& entry : fs::directory_iterator(directory_.path()))
      EXPECT_FALSE(entry.path().filename().string().starts_with("out.nc.part")) << entry.path();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  std::string path_ = directory_.file("out.nc");
  std::string part_ = path_ + ".part";
  std::string log_ = part_ + ".epochs";
};

TEST_P(Recover, a_log_left_without_its_file_is_gone_before_the_next_run_writes) {
  leave_part();
  fs::remove(part_);
  fs::copy(log_, log_ + ".5");
  begin()->abandon();
  EXPECT_TRUE(fs::exists(part_));
  EXPECT_FALSE(fs::exists(log_));
  EXPECT_FALSE(fs::exists(log_ + ".5"));
}

TEST_P(Recover, a_log_of_another_run_is_refused_and_replaces_no_complete_file) {
  leave_part();
  const std::string stale = directory_.file("stale");
  fs::copy(log_, stale);
  const auto asked = request();
  const Source source = sample_data(asked.schema, *asked.layout);
  auto complete = begin();
  for (std::uint64_t record = 0; record < 12; ++record) write_record(*complete, asked, record, source);
  ASSERT_TRUE(complete->publish());
  auto next = begin();
  write_record(*next, asked, 0, source);
  next->abandon();
  fs::copy(stale, log_);  // as left by a version of this library that did not remove it
  const auto found = storage::find_recoverable(path_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::conflict) << found.error().text();
  EXPECT_NE(found.error().text().find("belongs to another file"), std::string::npos);
  expect_equal(read_netcdf(path_), reference(12));
}

TEST_P(Recover, a_file_that_is_shorter_than_at_the_epoch_is_refused) {
  leave_part();
  const auto logged = storage::read_epoch_log(log_);
  ASSERT_TRUE(logged);
  std::uint64_t had = 0;
  for (const auto& record : logged->records)
    if (const auto* epoch = std::get_if<storage::LoggedEpoch>(&record.what)) had = epoch->part_bytes;
  ASSERT_GT(had, 1000U);
  fs::resize_file(part_, had - 1);
  const auto found = storage::find_recoverable(path_);
  ASSERT_TRUE(found) << found.error().text();
  const auto looked_at = storage::check_recoverable(*found, 3);
  ASSERT_FALSE(looked_at) << "status must not offer it";
  EXPECT_EQ(looked_at.error().code, ErrorCode::format);
  EXPECT_TRUE(storage::check_recoverable(*found, 1));
  const auto short_file = storage::recover_file(*found, {});
  ASSERT_FALSE(short_file);
  EXPECT_EQ(short_file.error().code, ErrorCode::format);
  EXPECT_NE(short_file.error().text().find(std::to_string(had - 1) + " bytes"), std::string::npos)
      << short_file.error().text();
  EXPECT_NE(short_file.error().text().find(std::to_string(had) + " at epoch 3"), std::string::npos);
  EXPECT_EQ(fs::file_size(part_), had - 1) << "nothing was changed";
  EXPECT_FALSE(fs::exists(path_));
}

/// Like `a_file_that_is_shorter...`, but a recovery has begun before: its remains show how short it
/// may have made the file.
TEST_P(Recover, a_file_that_is_cut_off_after_a_failed_recovery_is_refused) {
  leave_part();
  const auto found = storage::find_recoverable(path_);
  ASSERT_TRUE(found) << found.error().text();
  storage::RecoverOptions options{};
  options.before_name = [](const storage::Recovered&) -> Result<> { return fail(ErrorCode::io, "no"); };
  ASSERT_FALSE(storage::recover_file(*found, options));
  const std::uint64_t left = fs::file_size(part_);
  fs::resize_file(part_, left / 2);
  const auto looked_at = storage::check_recoverable(*found, epochs);
  ASSERT_FALSE(looked_at) << "status must not offer it";
  EXPECT_EQ(looked_at.error().code, ErrorCode::format) << looked_at.error().text();
  const auto recovered = storage::recover_file(*found, {});
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().code, ErrorCode::format) << recovered.error().text();
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(fs::file_size(part_), left / 2) << "nothing was changed";
}

/// The part file was removed; another run created one of the same name, with its own epoch.
TEST_P(Recover, an_epoch_of_a_file_without_a_name_is_not_complete_and_leaves_the_log_of_another_run) {
  for (const bool logged_before : {false, true}) {
    SCOPED_TRACE(logged_before);
    const auto asked = request();
    const Source source = sample_data(asked.schema, *asked.layout);
    auto ours = begin();
    if (logged_before) {
      ASSERT_TRUE(ours->mark_epoch({1, "1", "2026-01-01T00:00:00Z", 0}, {}));
    }
    fs::remove(part_);
    leave_part();
    const std::string theirs = bytes_of_file(log_);
    write_record(*ours, asked, 0, source);
    const auto marked = ours->mark_epoch({2, "2", "2026-01-01T00:00:00Z", 1}, {});
    ASSERT_FALSE(marked) << "said to be durable, but nobody will find it";
    EXPECT_EQ(marked.error().code, ErrorCode::conflict) << marked.error().text();
    EXPECT_EQ(bytes_of_file(log_), theirs);
    ours->abandon();
    expect_epoch(epochs);
    fs::remove(path_);
  }
}

TEST_P(Recover, an_epoch_whose_log_was_removed_is_not_complete) {
  auto file = begin();
  ASSERT_TRUE(file->mark_epoch({1, "1", "2026-01-01T00:00:00Z", 0}, {}));
  fs::remove(log_);
  const auto marked = file->mark_epoch({2, "2", "2026-01-01T00:00:00Z", 0}, {});
  ASSERT_FALSE(marked);
  EXPECT_EQ(marked.error().code, ErrorCode::conflict) << marked.error().text();
  EXPECT_NE(marked.error().text().find(log_), std::string::npos) << marked.error().text();
  file->abandon();
}

/// Killed after the file got its name, before the part name and the logs were removed.
TEST_P(Recover, a_published_file_that_kept_its_part_name_is_not_changed) {
  const auto asked = request();
  const Source source = sample_data(asked.schema, *asked.layout);
  auto file = begin();
  write_record(*file, asked, 0, source);
  ASSERT_TRUE(file->mark_epoch({1, "1", "2026-01-01T00:00:00Z", 1}, {}));
  const std::string log = bytes_of_file(log_);
  for (std::uint64_t record = 1; record < 4; ++record) write_record(*file, asked, record, source);
  ASSERT_TRUE(file->publish());
  ASSERT_FALSE(fs::exists(part_) || fs::exists(log_));
  fs::create_hard_link(path_, part_);
  write_bytes(log_, log);
  const auto found = storage::find_recoverable(path_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::bad_state) << found.error().text();
  expect_equal(read_netcdf(path_), reference(4));
  begin()->abandon();
  expect_equal(read_netcdf(path_), reference(4));
  EXPECT_EQ(fs::hard_link_count(path_), 1U) << "the next run does not write to the published file";
}

TEST_P(Recover, logs_of_another_run_stay_when_a_recovery_or_publication_ends) {
  leave_part();
  const auto logged = storage::read_epoch_log(log_);
  ASSERT_TRUE(logged);
  storage::PartIdentity another = logged->part;
  ++another.token[0];
  storage::remove_epoch_logs(part_, another);
  EXPECT_TRUE(fs::exists(log_));
  storage::remove_epoch_logs(part_, logged->part);
  EXPECT_FALSE(fs::exists(log_));
}

TEST_P(Recover, no_run_begins_the_file_anew_while_it_is_recovered) {
  leave_part();
  const auto found = storage::find_recoverable(path_);
  ASSERT_TRUE(found);
  storage::RecoverOptions options{};
  options.before_name = [&](const storage::Recovered&) -> Result<> {
    const auto refused = store_->create(request());
    EXPECT_EQ(refused ? ErrorCode::ok : refused.error().code, ErrorCode::conflict);
    return {};
  };
  ASSERT_TRUE(storage::recover_file(*found, options));
  expect_equal(read_netcdf(path_), reference(epochs * records_per_epoch));
}

// The server that created the file died; another one of the run, which writes it too, did not.
TEST_P(Recover, a_file_is_not_recovered_while_another_server_has_it_open) {
  leave_part();
  const auto found = storage::find_recoverable(path_);
  ASSERT_TRUE(found);
  {
    const storage::Descriptor member(::open(part_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(storage::lock_member(member.get()), 0);
    const auto refused = storage::recover_file(*found, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_NE(refused.error().text().find("another one of its run has not"), std::string::npos)
        << refused.error().text();
    EXPECT_TRUE(fs::exists(part_));
  }
  ASSERT_TRUE(storage::recover_file(*found, {}));
  expect_equal(read_netcdf(path_), reference(epochs * records_per_epoch));
}

TEST_P(Recover, a_failure_on_the_way_to_any_epoch_leaves_the_others) {
  for (const std::uint64_t failing : {1, 2, 3})
    for (const std::uint64_t wanted : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} fails, then {}", failing, wanted));
      leave_part();
      const auto found = storage::find_recoverable(path_);
      ASSERT_TRUE(found) << found.error().text();
      storage::RecoverOptions options{failing, true};
      options.before_name = [](const storage::Recovered&) -> Result<> {
        return fail(ErrorCode::io, "the journal cannot be written");
      };
      ASSERT_FALSE(storage::recover_file(*found, options));
      expect_epoch(wanted);
      if (HasFailure()) return;
    }
}

/// The index of chunks of the older file is overwritten for the first time between two epochs.
TEST_P(Recover, any_epoch_of_a_file_that_is_appended_to_comes_back) {
  constexpr std::uint64_t after = 6;
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 20).dimension("x", 30);
  const bool classic = GetParam() != Format::netcdf4;
  schema.variable("plain", Type::float64, {"time", "y", "x"});
  for (const char* const name : {"a", "b"}) {
    auto& variable = schema.variable(name, Type::float32, {"time", "y", "x"});
    if (!classic) variable.with_chunk({4, 10, 15}).with_deflate(4);
  }
  const auto write = [&](const std::string& path, std::uint64_t first, std::uint64_t end, bool marks) {
    const auto asked = request_of(path, schema, GetParam(),
                                  first > 0 ? storage::Existing::append : storage::Existing::replace);
    const Source source = sample_data(asked.schema, *asked.layout);
    auto file = store_->create(asked);
    ASSERT_TRUE(file) << file.error().text();
    for (std::uint64_t record = first; record < end; ++record) {
      write_record(**file, asked, record, source);
      if (marks) {
        ASSERT_TRUE((*file)->mark_epoch({record - first + 1, "", "2026-01-01T00:00:00Z", record + 1}, {}));
      }
    }
    if (marks) return (*file)->abandon();
    ASSERT_TRUE((*file)->publish());
  };
  const std::string older = directory_.file("older.nc");
  // First a new chunk, then one that contains records already and is encoded again.
  for (std::uint64_t turn = 0; turn < 2 * after; ++turn) {
    const std::uint64_t before = turn < after ? 12 : 14, wanted = turn % after + 1;
    SCOPED_TRACE(fmt::format("{} records, epoch {}", before, wanted));
    write(older, 0, before, false);
    fs::copy_file(older, path_, fs::copy_options::overwrite_existing);
    write(path_, before, before + after, true);
    const auto found = storage::find_recoverable(path_);
    ASSERT_TRUE(found) << found.error().text();
    const auto recovered = storage::recover_file(*found, {wanted, true});
    ASSERT_TRUE(recovered) << recovered.error().text();
    const std::string reference = directory_.file("reference.nc");
    write(reference, 0, before + wanted, false);
    expect_equal(read_netcdf(path_), read_netcdf(reference));
    if (HasFailure()) return;
  }
}

/// One frame per variable; of each kind of storage one that is put before the epoch and one that is
/// put after.
Schema schema_of_two_sides(Format format) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 20).dimension("x", 30);
  for (const std::string side : {"before", "after"}) {
    schema.variable("fixed_" + side, Type::float64, {"y", "x"});
    schema.variable("one_" + side, Type::float32, {"time", "y", "x"});
    if (format != Format::netcdf4) continue;
    schema.variable("span_" + side, Type::float32, {"time", "y"}).with_chunk({4, 20});
    schema.variable("packed_" + side, Type::float32, {"time", "y", "x"}).with_deflate(1);
    schema.variable("packed_span_" + side, Type::float32, {"time", "y"}).with_chunk({4, 20}).with_deflate(1);
  }
  return schema;
}

class RecoverTwoSides : public Recover {
 protected:
  storage::FileRequest request_two_sides(const std::string& path,
                                         storage::Existing existing = storage::Existing::replace,
                                         std::shared_ptr<storage::Disk> disk = nullptr) const {
    auto asked =
        request_of(path, schema_of_two_sides(GetParam()), GetParam(), existing, {4u << 20, 4u << 20, 1});
    asked.disk = std::move(disk);
    return asked;
  }
  /// Writes the frames of one side: those of records [first, end), and the fixed ones with record
  /// 0.
  static void write_side(storage::File& file, const storage::FileRequest& asked, const char* side,
                         std::uint64_t first, std::uint64_t end, std::uint64_t of_epochs,
                         const Source& source) {
    const model::FileLayout& layout = *asked.layout;
    for (std::size_t f = 0; f < layout.frames.size(); ++f) {
      const std::uint32_t variable = layout.pieces[layout.frames[f].first_piece].variable;
      if (!asked.schema.variables[variable].name.ends_with(side)) continue;
      const bool record = layout.variables[variable].record;
      for (std::uint64_t r = first; r < (record ? end : std::min<std::uint64_t>(end, 1)); ++r) {
        const auto written = write_frame(file, asked, f, r, source, of_epochs);
        ASSERT_TRUE(written) << written.error().text();
      }
    }
  }
  void expect_recovered(std::uint64_t number, const std::string& reference) const {
    const auto found = storage::find_recoverable(path_);
    ASSERT_TRUE(found) << found.error().text();
    const auto recovered = storage::recover_file(*found, {number, true});
    ASSERT_TRUE(recovered) << recovered.error().text();
    expect_equal(read_netcdf(path_), read_netcdf(reference));
  }
};

// A rank that was ahead of the others put variables after the epoch, into records that others had
// before: the recovered file contained them.
TEST_P(RecoverTwoSides, what_was_put_after_an_epoch_is_not_in_it) {
  constexpr std::uint64_t records = 6;
  const std::string reference = directory_.file("reference.nc");
  for (const std::uint64_t number : {1, 2}) {
    SCOPED_TRACE(number);
    const auto write = [&](const std::string& path, bool marks) {
      const auto asked = request_two_sides(path);
      const Source source = sample_data(asked.schema, *asked.layout);
      auto file = store_->create(asked);
      ASSERT_TRUE(file) << file.error().text();
      write_side(**file, asked, "before", 0, records, 0, source);
      if (marks || number == 2) write_side(**file, asked, "after", 0, records - 1, 1, source);
      if (!marks) {
        ASSERT_TRUE((*file)->publish());
        return;
      }
      const storage::Epoch first{1, "1", "2026-01-01T00:00:00Z", records};
      const storage::Epoch second{2, "2", "2026-01-01T00:00:00Z", records};
      ASSERT_TRUE((*file)->mark_epoch(first, {}));
      if (number == 2) {
        ASSERT_TRUE((*file)->mark_epoch(second, {}));
      }
      (*file)->abandon();
    };
    write(reference, false);
    write(path_, true);
    expect_recovered(number, reference);
  }
}

/// Calls a function once, when the log of epochs is about to be made.
class BusyDisk : public storage::Disk {
 public:
  int open(const char* path, int flags, mode_t mode) override {
    if (std::string_view(path).ends_with(".epochs") && (flags & O_CREAT) != 0)
      if (const auto now = std::exchange(then, {})) now();
    return Disk::open(path, flags, mode);
  }
  std::function<void()> then;
};

// What was written while the epoch was being marked got places that the log did not know: the
// recovered file had zeros there.
TEST_P(RecoverTwoSides, what_is_written_while_an_epoch_is_marked_leaves_fill_values) {
  constexpr std::uint64_t records = 6;
  const std::string reference = directory_.file("reference.nc");
  const auto write = [&](const std::string& path, bool marks) {
    const auto disk = std::make_shared<BusyDisk>();
    const auto asked = request_two_sides(path, storage::Existing::replace, disk);
    const Source source = sample_data(asked.schema, *asked.layout);
    auto file = store_->create(asked);
    ASSERT_TRUE(file) << file.error().text();
    write_side(**file, asked, "before", 0, records, 0, source);
    if (!marks) {
      ASSERT_TRUE((*file)->publish());
      return;
    }
    disk->then = [&] { write_side(**file, asked, "after", 0, 1, 1, source); };
    ASSERT_TRUE((*file)->mark_epoch({1, "1", "2026-01-01T00:00:00Z", records}, {}));
    EXPECT_FALSE(disk->then);
    (*file)->abandon();
  };
  write(reference, false);
  write(path_, true);
  expect_recovered(1, reference);
}

// Values that an appended file had were replaced after an epoch, and were those of the recovered
// file.
TEST_P(RecoverTwoSides, values_that_were_replaced_after_an_epoch_come_back) {
  constexpr std::uint64_t records = 5;
  const std::string older = directory_.file("older.nc");
  const std::string reference = directory_.file("reference.nc");
  for (const std::uint64_t number : {1, 2}) {
    SCOPED_TRACE(number);
    const auto write = [&](const std::string& path, bool marks) {
      const auto asked = request_two_sides(path, storage::Existing::append);
      const Source source = noise_data(asked.schema, *asked.layout);
      auto file = store_->create(asked);
      ASSERT_TRUE(file) << file.error().text();
      write_side(**file, asked, "before", records, records + 1, 0, source);
      if (marks) {
        ASSERT_TRUE((*file)->mark_epoch({1, "1", "2026-01-01T00:00:00Z", records + 1}, {}));
      }
      if (marks || number == 2) {
        write_side(**file, asked, "after", 0, 2, 1, source);
        write_side(**file, asked, "before", records + 1, records + 2, 1, source);
      }
      if (!marks) {
        ASSERT_TRUE((*file)->publish());
        return;
      }
      ASSERT_TRUE((*file)->mark_epoch({2, "2", "2026-01-01T00:00:00Z", records + 2}, {}));
      write_side(**file, asked, "before", 0, 2, 2, source);
      (*file)->abandon();
    };
    {
      const auto asked = request_two_sides(older);
      const Source source = sample_data(asked.schema, *asked.layout);
      auto file = store_->create(asked);
      ASSERT_TRUE(file) << file.error().text();
      for (const char* const side : {"before", "after"})
        write_side(**file, asked, side, 0, records, 0, source);
      ASSERT_TRUE((*file)->publish());
    }
    for (const std::string& path : {reference, path_})
      fs::copy_file(older, path, fs::copy_options::overwrite_existing);
    write(reference, false);
    write(path_, true);
    expect_recovered(number, reference);
  }
}

TEST_P(Recover, files_that_were_moved_or_copied_together_come_back) {
  leave_part();
  // Another inode without attributes: the result of `cp`.
  fs::copy(part_, directory_.file("copy"));
  fs::rename(directory_.file("copy"), part_);
  const auto refused = storage::find_recoverable(path_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("--copied"), std::string::npos) << refused.error().text();
  expect_epoch(2, true);
  // A moved directory.
  leave_part();
  fs::create_directory(directory_.file("elsewhere"));
  fs::rename(part_, directory_.file("elsewhere/out.nc.part"));
  fs::rename(log_, directory_.file("elsewhere/out.nc.part.epochs"));
  const auto moved = storage::find_recoverable(directory_.file("elsewhere/out.nc"));
  ASSERT_TRUE(moved) << moved.error().text();
  const auto recovered = storage::recover_file(*moved, {});
  ASSERT_TRUE(recovered) << recovered.error().text();
  expect_equal(read_netcdf(directory_.file("elsewhere/out.nc")), reference(epochs * records_per_epoch));
}

TEST_P(Recover, symbolic_links_are_not_followed) {
  const std::string victim = directory_.file("victim");
  write_bytes(victim, "precious");
  fs::create_symlink(victim, log_);
  leave_part();
  EXPECT_EQ(bytes_of_file(victim), "precious");
  fs::rename(part_, directory_.file("real"));
  fs::create_symlink(directory_.file("real"), part_);
  EXPECT_FALSE(storage::find_recoverable(path_));
}

// Before, it waited for the writer of the pipe.
TEST_P(Recover, a_pipe_in_the_place_of_the_log_is_refused) {
  const std::string pipe = directory_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto log = storage::EpochLog::open(pipe, storage::Disk::real());
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, ErrorCode::format);
  EXPECT_NE(log.error().text().find("is not a regular file"), std::string::npos);
}

/// Gives the records of a damaged log valid checksums, so that their contents are read.
void seal(std::string& log) {
  constexpr std::size_t magic_bytes = 18;
  constexpr std::size_t identity_bytes = 32;
  constexpr std::size_t head_bytes = 24;
  const auto sum = [&log](std::size_t at, std::size_t count, std::uint64_t before) {
    return crc64(std::as_bytes(std::span(log)).subspan(at, count), before);
  };
  if (log.size() < magic_bytes + identity_bytes + 8) return;
  std::uint64_t checksum = sum(magic_bytes, identity_bytes, 0);
  std::memcpy(log.data() + magic_bytes + identity_bytes, &checksum, 8);
  for (std::size_t at = magic_bytes + identity_bytes + 8; log.size() - at >= head_bytes;) {
    std::uint64_t size_bytes = 0;
    std::memcpy(&size_bytes, log.data() + at + 8, 8);
    if (size_bytes > log.size() - at - head_bytes) return;
    checksum = sum(at + head_bytes, size_bytes, sum(at, head_bytes - 8, 0));
    std::memcpy(log.data() + at + head_bytes - 8, &checksum, 8);
    at += head_bytes + size_bytes;
  }
}

/// AFTERBAY_TEST_MUTANTS: number of mutants, AFTERBAY_TEST_SEED: seed. A damaged file may be
/// restored with wrong values, but nothing worse may happen.
TEST_P(Recover, damaged_files_and_logs_end_nothing) {
  const char* const asked = std::getenv("AFTERBAY_TEST_MUTANTS");
  const std::uint64_t mutants = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 120;
  const char* const chosen = std::getenv("AFTERBAY_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  leave_part();
  const std::string part = bytes_of_file(part_);
  const std::string log = bytes_of_file(log_);
  const Mutator parts(part, 2 * seed - 1);
  const Mutator logs(log, 2 * seed);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit before = limit;
  limit.rlim_cur = 64u << 20;  // because of damaged numbers, not because of the test's disk
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  std::uint64_t recovered = 0;
  double longest_s = 0;
  for (std::uint64_t i = 0; i < mutants; ++i) {
    write_bytes(part_, i % 4 == 0 ? parts.mutant(i) : part);
    std::string damaged = i % 4 == 0 ? log : logs.mutant(i);
    if (i % 4 != 1) seal(damaged);
    write_bytes(log_, damaged);
    const auto begin = std::chrono::steady_clock::now();
    const auto found = storage::find_recoverable(path_, true);
    if (found && !found->epochs.empty()) {
      const auto number = found->epochs[i % found->epochs.size()].number;
      if (storage::recover_file(*found, {number, true})) ++recovered;
    }
    longest_s =
        std::max(longest_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::signal(SIGXFSZ, handler);
  ::setrlimit(RLIMIT_FSIZE, &before);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  EXPECT_GT(recovered, 0U);
  EXPECT_LT(longest_s, 60) << "the time is bounded";
  EXPECT_LT(used.ru_maxrss, 2l << 20) << "KiB: so is the memory";
  std::printf("%lu mutants, %lu recovered, longest %.3f s, %ld MiB\n", mutants, recovered, longest_s,
              used.ru_maxrss >> 10);
}

INSTANTIATE_TEST_SUITE_P(, Recover, testing::Values(Format::netcdf4, Format::cdf5),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });
INSTANTIATE_TEST_SUITE_P(, RecoverTwoSides, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

TEST(WithheldStructure, places_behind_the_last_byte_do_not_overflow) {
  constexpr std::uint64_t last = ~std::uint64_t{0};
  storage::WithheldStructure withheld;
  withheld.put(10, 20, 0);
  withheld.put(1000, 50, 20);
  withheld.drop(1010, last - 5);  // its end would be byte 1004
  EXPECT_EQ(withheld.end(), 1010U);
  withheld.put(last - 3, 100, 70);
  EXPECT_EQ(withheld.end(), last);
  std::vector<std::byte> bytes(30);
  std::uint64_t reads = 0;
  ASSERT_TRUE(withheld.read(0, bytes, [&](std::uint64_t, std::span<std::byte>) -> Result<> {
    ++reads;
    return {};
  }));
  EXPECT_EQ(reads, 1U);
}

}  // namespace
}  // namespace afterbay::test
