// SPDX-License-Identifier: Apache-2.0
// Files that several servers write at the same time: a leader and members create the same file as
// one writer.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "conformance/shared_files.hpp"
#include "storage/artifact.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/byte_allowance.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

/// Variables with many frames, some of them large enough for direct I/O.
Schema large_schema(Format format) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("z", 6).dimension("y", 100).dimension("x", 90);
  schema.variable("a", Type::float32, {"time", "z", "y", "x"});
  schema.variable("b", Type::float64, {"time", "y", "x"});
  schema.variable("orography", Type::float64, {"z", "y", "x"});
  schema.variable("c", Type::int16, {"time"});
  if (format == Format::netcdf4) {
    schema.variable("packed", Type::float32, {"time", "y", "x"}).with_deflate(1);
    schema.variable("spanned", Type::float32, {"time", "y"}).with_chunk({4, 100}).with_deflate(2);
    schema.variable("long_span", Type::float64, {"time", "y", "x"}).with_chunk({5, 40, 90});
  }
  return schema;
}

struct Case {
  Schema schema;
  model::LayoutSizes sizes;
};

std::vector<Case> cases_of(Format format) {
  std::vector<Case> cases{{schema_of_types(format), {1024, 512}},
                          {large_schema(format), {256u << 10, 128u << 10}}};
  if (format == Format::netcdf4) cases.push_back({filtered_schema(), {8192, 4096}});
  return cases;
}

class SharedStore : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] Format format() const { return GetParam(); }
  [[nodiscard]] std::string path(const std::string& name = "out.nc") const { return directory_.file(name); }

  storage::FileRequest request(const std::string& name, const Case& made,
                               Existing existing = Existing::refuse) const {
    return request_of(path(name), made.schema, format(), existing, made.sizes);
  }
  storage::FileRequest small_request() const { return request("out.nc", cases_of(format()).front()); }

  /// The same jobs by one writer and by three, with several threads at the same time: the same
  /// file.
  void expect_same_as_one_writer(const Case& made, const std::vector<FrameJob>& jobs,
                                 storage::DirectIo direct_io) {
    auto alone = request("alone.nc", made, Existing::replace);
    auto shared = request("shared.nc", made, Existing::replace);
    shared.direct_io = direct_io;
    const Source source = sample_data(alone.schema, *alone.layout);
    auto file = store_->create(alone);
    ASSERT_TRUE(file) << file.error().text();
    for (const FrameJob& job : jobs) ASSERT_TRUE(write_frame(**file, alone, job.frame, job.record, source));
    ASSERT_TRUE((*file)->publish());
    SharedFile group(*store_, shared, 2);
    group.write(jobs, source, 4);
    group.publish();
    expect_equal(read_netcdf(path("shared.nc")), read_netcdf(path("alone.nc")));
    if (traits_of(format()).arithmetic_places)
      EXPECT_TRUE(file_bytes(path("shared.nc")) == file_bytes(path("alone.nc")));
    else
      output_of("h5dump -H " + path("shared.nc"));
  }

  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  TemporaryDirectory directory_;
};

TEST_P(SharedStore, three_servers_write_the_file_that_one_would) {
  for (const Case& made : cases_of(format())) {
    const auto layout = layout_of(made.schema, format(), made.sizes);
    ASSERT_GE(layout->frames.size(), 2u);
    for (const auto direct_io : {storage::DirectIo::automatic, storage::DirectIo::off})
      expect_same_as_one_writer(made, all_frames(*layout, 9), direct_io);
    const auto whole = request("shared.nc", made);
    expect_contents(read_netcdf(path("shared.nc")), whole, 9, sample_data(whole.schema, *whole.layout));
  }
}

TEST_P(SharedStore, what_none_of_three_servers_wrote_is_filled) {
  for (const Case& made : cases_of(format())) {
    const auto layout = layout_of(made.schema, format(), made.sizes);
    for (const std::size_t kept : {2u, 3u, 5u}) {
      std::vector<FrameJob> jobs = all_frames(*layout, 11);
      std::erase_if(jobs, [&](const FrameJob& job) { return (job.frame * 7 + job.record * 5) % kept != 0; });
      expect_same_as_one_writer(made, jobs, storage::DirectIo::automatic);
    }
  }
}

TEST_P(SharedStore, a_leader_may_have_nothing_to_write_and_a_member_neither) {
  const Case made = cases_of(format()).front();
  const auto shared = request("shared.nc", made);
  const Source source = sample_data(shared.schema, *shared.layout);
  SharedFile group(*store_, shared, 2);
  for (const FrameJob& job : all_frames(*shared.layout, 5))
    ASSERT_TRUE(write_frame(group.member(0), shared, job.frame, job.record, source));
  group.publish();
  expect_contents(read_netcdf(shared.path), shared, 5, source);
}

TEST_P(SharedStore, members_in_other_processes_write_in_place) {
  for (const Case& made : cases_of(format())) {
    const auto shared = request("shared.nc", made, Existing::replace);
    const Source source = sample_data(shared.schema, *shared.layout);
    auto leader = store_->create(shared);
    ASSERT_TRUE(leader) << leader.error().text();
    const auto share = (*leader)->share();
    ASSERT_TRUE(share) << share.error().text();
    std::vector<std::vector<FrameJob>> dealt(3);
    for (const FrameJob& job : all_frames(*shared.layout, 6)) dealt[job.frame % 3].push_back(job);
    std::vector<std::unique_ptr<MemberProcess>> members;
    for (std::size_t m = 1; m < 3; ++m)
      members.push_back(std::make_unique<MemberProcess>(*store_, shared, *share, dealt[m], source));
    {
      std::vector<std::jthread> threads;
      for (auto& member : members) threads.emplace_back([&] { member->serve(**leader); });
      for (const FrameJob& job : dealt[0])
        EXPECT_TRUE(write_frame(**leader, shared, job.frame, job.record, source));
    }
    for (auto& member : members) {
      ASSERT_EQ(member->failure(), "");
      const auto taken = (*leader)->take(member->account());
      ASSERT_TRUE(taken) << taken.error().text();
    }
    members.clear();  // they inherited the leader's lock at the fork, and readers respect it
    const auto published = (*leader)->publish();
    ASSERT_TRUE(published) << published.error().text();
    expect_checksum(shared, *published);
    expect_contents(read_netcdf(shared.path), shared, 6, source);
  }
}

TEST_P(SharedStore, a_member_that_dies_leaves_a_file_that_is_not_published) {
  const auto shared = small_request();
  const Source source = sample_data(shared.schema, *shared.layout);
  {
    SharedFile group(*store_, shared, 2);
    group.write(all_frames(*shared.layout, 2), source, 1);
    group.lose_member(1);
    group.leader().abandon();
  }
  EXPECT_FALSE(file_exists(shared.path));
  EXPECT_TRUE(file_exists(shared.path + ".part"));
}

TEST_P(SharedStore, members_keep_recovery_out_until_they_have_closed_the_file) {
  const auto shared = small_request();
  SharedFile group(*store_, shared, 2);
  group.leader().abandon();
  const storage::Descriptor part(::open((shared.path + ".part").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(part.open());
  EXPECT_EQ(storage::lock_out_members(part.get()), EWOULDBLOCK);
  group.lose_member(0);
  EXPECT_EQ(storage::lock_out_members(part.get()), EWOULDBLOCK);
  group.lose_member(0);
  EXPECT_EQ(storage::lock_out_members(part.get()), 0);
}

TEST_P(SharedStore, a_member_of_an_earlier_run_cannot_harm_the_file_of_a_later_one) {
  const auto shared = small_request();
  const Source source = sample_data(shared.schema, *shared.layout);
  SharedFile earlier(*store_, shared, 1);
  earlier.write(all_frames(*shared.layout, 1), source, 1);
  earlier.leader().abandon();  // its server died; the member does not know it yet
  SharedFile later(*store_, shared, 1);
  const Source noise = noise_data(shared.schema, *shared.layout);
  const auto jobs = all_frames(*shared.layout, 4);
  later.write(jobs, source, 1);
  for (const FrameJob& job : jobs)
    if (traits_of(format()).arithmetic_places || job.record == 0)  // netCDF-4: whose places are known
      static_cast<void>(write_frame(earlier.member(0), shared, job.frame, job.record, noise));
  later.publish();
  expect_contents(read_netcdf(shared.path), shared, 4, source);
}

TEST_P(SharedStore, a_file_that_is_appended_to_is_not_shared) {
  const auto first = small_request();
  const Source source = sample_data(first.schema, *first.layout);
  auto file = store_->create(first);
  ASSERT_TRUE(file);
  for (const FrameJob& job : all_frames(*first.layout, 2))
    ASSERT_TRUE(write_frame(**file, first, job.frame, job.record, source));
  ASSERT_TRUE((*file)->publish());
  auto more = first;
  more.existing = Existing::append;
  file = store_->create(more);
  ASSERT_TRUE(file) << file.error().text();
  const auto share = (*file)->share();
  ASSERT_FALSE(share);
  EXPECT_EQ(share.error().code, ErrorCode::bad_state);
  EXPECT_EQ(share.error().file, first.path);
  EXPECT_NE(share.error().message.find("written by one server"), std::string::npos) << share.error().message;
}

TEST_P(SharedStore, a_new_file_of_a_collection_that_appends_is_shared) {
  auto shared = small_request();
  shared.existing = Existing::append;
  const Source source = sample_data(shared.schema, *shared.layout);
  SharedFile group(*store_, shared, 2);
  group.write(all_frames(*shared.layout, 3), source, 2);
  group.publish();
  expect_contents(read_netcdf(shared.path), shared, 3, source);
}

TEST_P(SharedStore, broken_or_foreign_shares_are_refused) {
  const auto shared = small_request();
  auto leader = store_->create(shared);
  ASSERT_TRUE(leader) << leader.error().text();
  const auto share = (*leader)->share();
  ASSERT_TRUE(share) << share.error().text();
  const auto placer = std::make_shared<LeaderPlacer>(**leader);
  EXPECT_TRUE(store_->join(shared, *share, placer));
  const auto code = [&](std::span<const std::byte> bytes) {
    const auto joined = store_->join(shared, bytes, placer);
    return joined ? ErrorCode::ok : joined.error().code;
  };
  for (std::size_t i = 0; i < share->size(); ++i) {
    std::vector<std::byte> changed = *share;
    changed[i] ^= std::byte{0x10};
    EXPECT_EQ(code(changed), ErrorCode::format) << "byte " << i;
    EXPECT_EQ(code(std::span(*share).first(i)), ErrorCode::format) << i << " bytes";
  }
  const auto foreign = store_->create(request("other.nc", cases_of(format())[1]));
  ASSERT_TRUE(foreign) << foreign.error().text();
  EXPECT_EQ(code((*foreign)->share().value()), ErrorCode::conflict);
  const auto account = store_->join(shared, *share, placer).value()->hand_over();
  ASSERT_TRUE(account);
  EXPECT_EQ(code(*account), ErrorCode::format);
  (*leader)->abandon();
}

TEST_P(SharedStore, broken_accounts_and_pieces_written_by_two_are_refused) {
  const auto shared = small_request();
  const Source source = sample_data(shared.schema, *shared.layout);
  SharedFile group(*store_, shared, 1);
  std::size_t frame = 0;
  while (!shared.layout->frames[frame].record) ++frame;
  ASSERT_TRUE(write_frame(group.member(0), shared, frame, 2, source));
  const auto account = group.member(0).hand_over();
  ASSERT_TRUE(account) << account.error().text();
  for (std::size_t i = 0; i < account->size(); ++i) {
    std::vector<std::byte> changed = *account;
    changed[i] ^= std::byte{0x01};
    const auto refused = group.leader().take(changed);
    ASSERT_FALSE(refused) << "byte " << i;
    EXPECT_EQ(refused.error().code, ErrorCode::format);
    EXPECT_EQ(refused.error().file, shared.path);
  }
  ASSERT_TRUE(group.leader().take(*account));
  const auto twice = group.leader().take(*account);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::conflict);
  EXPECT_NE(twice.error().message.find("record 2"), std::string::npos) << twice.error().message;
  group.leader().abandon();
}

TEST_P(SharedStore, a_member_is_refused_what_is_the_leaders_and_the_other_way_round) {
  const auto shared = small_request();
  SharedFile group(*store_, shared, 1);
  storage::File& member = group.member(0);
  const storage::PlaceRequest place;
  const std::vector<std::string> strings{"one"};
  for (const ErrorCode code :
       {member.share().error().code, member.place({&place, 1}).error().code, member.take({}).error().code,
        member.publish().error().code, member.write_strings(0, 0, strings).error().code,
        group.leader().hand_over().error().code})
    EXPECT_EQ(code, ErrorCode::bad_state);
  const std::vector<std::byte> bytes(3);
  const storage::PieceWrite wrong{shared.layout->pieces[0], 0, bytes};
  EXPECT_EQ(member.write({&wrong, 1}).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(member.hand_over());
  EXPECT_EQ(member.hand_over().error().code, ErrorCode::bad_state);
  EXPECT_EQ(member.write({}).error().code, ErrorCode::bad_state);
  group.leader().abandon();
}

TEST_P(SharedStore, a_member_that_does_not_see_the_leaders_file_says_so) {
  const auto shared = small_request();
  auto leader = store_->create(shared);
  ASSERT_TRUE(leader);
  const auto share = (*leader)->share();
  ASSERT_TRUE(share);
  auto elsewhere = shared;
  elsewhere.path = path("elsewhere.nc");
  const auto joined = store_->join(elsewhere, *share, std::make_shared<LeaderPlacer>(**leader));
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, ErrorCode::io);
  EXPECT_EQ(joined.error().native, ENOENT);
  EXPECT_NE(joined.error().text().find("must see the same file system"), std::string::npos)
      << joined.error().text();
}

TEST_P(SharedStore, a_member_does_not_write_to_another_file_that_got_the_leaders_name) {
  auto shared = small_request();
  shared.existing = storage::Existing::replace;
  auto leader = store_->create(shared);
  ASSERT_TRUE(leader);
  const auto share = (*leader)->share();
  ASSERT_TRUE(share);
  ASSERT_EQ(::unlink((shared.path + ".part").c_str()), 0);
  auto theirs = store_->create(shared);
  ASSERT_TRUE(theirs) << theirs.error().text();
  const auto joined = store_->join(shared, *share, std::make_shared<LeaderPlacer>(**leader));
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, ErrorCode::conflict);
  EXPECT_NE(joined.error().text().find("renamed or replaced"), std::string::npos) << joined.error().text();
}

/// Like a network file system whose nodes do not know each other's caches; and a nearly full disk.
class UnsharedPages : public storage::Disk {
 public:
  std::atomic<bool> joined{false};
  std::atomic<int> late_cached_writes{0};  ///< neither direct nor through, since there are members
  std::atomic<std::int64_t> free{std::int64_t{1} << 40};

  bool shares_pages(const char*) override { return false; }
  std::int64_t free_bytes(int) override { return free; }
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    if (joined && (::fcntl(descriptor, F_GETFL) & (O_DIRECT | O_DSYNC)) == 0) ++late_cached_writes;
    return Disk::write(descriptor, bytes, count, offset);
  }
};

TEST_P(SharedStore, nothing_stays_in_a_nodes_cache_where_nodes_do_not_share_pages) {
  for (const Case& made : cases_of(format())) {
    const auto disk = std::make_shared<UnsharedPages>();
    auto shared = request("shared.nc", made, Existing::replace);
    shared.disk = disk;
    const Source source = sample_data(shared.schema, *shared.layout);
    SharedFile group(*store_, shared, 2);
    disk->joined = true;
    group.write(all_frames(*shared.layout, 6), source, 3);
    group.publish();
    EXPECT_EQ(disk->late_cached_writes, 0);
    expect_contents(read_netcdf(shared.path), shared, 6, source);
  }
}

TEST_P(SharedStore, records_that_others_wrote_need_no_room) {
  const auto disk = std::make_shared<UnsharedPages>();
  auto shared = request("shared.nc", cases_of(format())[1]);
  shared.disk = disk;
  const Source source = sample_data(shared.schema, *shared.layout);
  SharedFile group(*store_, shared, 2);
  std::vector<FrameJob> jobs = all_frames(*shared.layout, 20);
  const std::size_t late = shared.layout->frames.size() - 1;  // whose writer has only the last record
  ASSERT_TRUE(shared.layout->frames[late].record);
  std::erase_if(jobs, [&](const FrameJob& job) {
    return shared.layout->frames[job.frame].record && job.frame % 3 == late % 3 && job.record < 19;
  });
  ASSERT_GT(jobs.size(), 20u);
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.record < b.record; });
  for (const FrameJob& job : jobs) {
    if (job.record == 19) disk->free = 2 << 20;  // two records, not twenty
    const auto written = write_frame(group.of(job), shared, job.frame, job.record, source);
    ASSERT_TRUE(written) << written.error().text();
  }
  group.leader().abandon();
}

INSTANTIATE_TEST_SUITE_P(OnDisk, SharedStore, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST(SharedMemoryStore, files_in_memory_are_not_shared) {
  const auto store = storage::make_store(Format::memory);
  const auto request = request_of("out", schema_of_types(Format::memory), Format::memory);
  auto file = store->create(request);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->share().error().code, ErrorCode::bad_state);
  EXPECT_EQ(store->join(request, {}, nullptr).error().code, ErrorCode::bad_state);
}

class SharedNetcdf4 : public testing::Test {
 protected:
  std::unique_ptr<storage::Store> store_ = storage::make_store(Format::netcdf4);
  TemporaryDirectory directory_;
};

TEST_F(SharedNetcdf4, members_keep_all_records_of_packed_chunks_when_their_memory_is_short) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 50).dimension("x", 30);
  schema.variable("packed", Type::float32, {"time", "y", "x"}).with_chunk({16, 20, 30}).with_deflate(1);
  schema.variable("series", Type::float64, {"time"}).with_chunk({8}).with_deflate(4);
  auto shared =
      request_of(directory_.file("out.nc"), schema, Format::netcdf4, Existing::replace, {4096, 2400});
  ASSERT_GE(shared.layout->frames.size(), 3u);
  shared.chunk_memory = std::make_shared<storage::ByteAllowance>(2 * 16 * 20 * 30 * 4);
  for (const Source& source :
       {sample_data(shared.schema, *shared.layout), noise_data(shared.schema, *shared.layout)}) {
    std::vector<FrameJob> jobs;  // each chunk is left and revisited
    for (std::uint64_t n = 0; n < 48; ++n)
      for (std::size_t f = 0; f < shared.layout->frames.size(); ++f) jobs.push_back({f, n * 29 % 48});
    SharedFile group(*store_, shared, 2);
    group.write(jobs, source, 4);
    group.publish();
    EXPECT_EQ(shared.chunk_memory->used_bytes(), 0u);
    const ReadFile result = read_netcdf(shared.path);
    for (std::uint32_t v = 0; v < 2; ++v)
      EXPECT_TRUE(result.variables.at(schema.variables[v].name).values.bytes ==
                  expected_values(
                      schema, *shared.layout, v, 48, [](std::uint64_t) { return true; }, source)
                      .bytes)
          << schema.variables[v].name;
    output_of("h5dump -H " + shared.path);
  }
}

TEST_F(SharedNetcdf4, a_leader_refuses_places_that_make_no_sense) {
  const auto shared = request_of(directory_.file("out.nc"), filtered_schema(), Format::netcdf4);
  auto leader = store_->create(shared);
  ASSERT_TRUE(leader) << leader.error().text();
  const auto refused = [&](const storage::PlaceRequest& request) {
    const auto places = (*leader)->place({&request, 1});
    return places ? ErrorCode::ok : places.error().code;
  };
  const auto first_piece = [&](std::uint32_t v) { return shared.layout->variables[v].first_piece; };
  const std::uint32_t plain = first_piece(0);
  const std::uint32_t packed = first_piece(2);
  EXPECT_EQ(refused({static_cast<std::uint32_t>(shared.layout->pieces.size()), 0, 0, 0}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused({plain, 0, 100, 0}), ErrorCode::invalid_argument) << "encoded, but has no filters";
  EXPECT_EQ(refused({packed, 0, 0, 0}), ErrorCode::invalid_argument) << "not encoded, but has filters";
  EXPECT_EQ(refused({packed, 0, 13 * 7 * 4 + 1, 0}), ErrorCode::invalid_argument) << "larger than the chunk";
  EXPECT_EQ(refused({packed, 0, 10, 4}), ErrorCode::invalid_argument) << "no such filter";
  EXPECT_EQ(refused({plain, ~std::uint64_t{0}, 0, 0}), ErrorCode::invalid_argument) << "absurd record";
  EXPECT_EQ(refused({plain, 0, 0, 0}), ErrorCode::ok);
  EXPECT_EQ(store_->join(shared, (*leader)->share().value(), nullptr).error().code,
            ErrorCode::invalid_argument);
}

/// A leader that cannot be reached.
class LostLeader : public storage::Placer {
 public:
  Result<std::vector<std::uint64_t>> place(std::span<const storage::PlaceRequest>) override {
    return fail(ErrorCode::peer_lost, "the leader died");
  }
};

TEST_F(SharedNetcdf4, the_error_of_a_placer_reaches_the_writer) {
  const auto shared = request_of(directory_.file("out.nc"), filtered_schema(), Format::netcdf4);
  auto leader = store_->create(shared);
  ASSERT_TRUE(leader) << leader.error().text();
  auto member = store_->join(shared, (*leader)->share().value(), std::make_shared<LostLeader>());
  ASSERT_TRUE(member) << member.error().text();
  const auto written = write_frame(**member, shared, 0, 0, sample_data(shared.schema, *shared.layout));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::peer_lost);
  EXPECT_EQ(written.error().file, shared.path);
}

}  // namespace
}  // namespace afterbay::test
