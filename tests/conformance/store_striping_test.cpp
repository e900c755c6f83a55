// SPDX-License-Identifier: Apache-2.0
// `lfs` sets stripes before a file has data. A fake `lfs` on the PATH records its calls and creates
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "conformance/store_harness.hpp"
#include "storage/striping/lfs.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;
using storage::StripeApply;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A file system with 6 storage targets, one of them out of use. Like the real command, it refuses
/// to set the stripes of an existing file, and sets no more stripes than there are targets.
constexpr const char* fake_lfs = R"sh(#!/bin/sh
tools=$(dirname "$0")
for path; do :; done
echo "$*" >> "$tools/calls"
case $1 in
setstripe)
  [ -e "$path" ] && { echo "lfs setstripe: $path: File exists" >&2; exit 17; }
  : > "$path"
  stat -c %i "$path" >> "$tools/made"
  echo "$3 $5" > "$tools/set-$(stat -c %i "$path")" ;;
getstripe)
  read -r count size < "$tools/set-$(stat -c %i "$path")" || exit 1
  [ "$count" -lt 0 ] || [ "$count" -gt 5 ] && count=5
  printf '%s\nlmm_stripe_count:  %s\nlmm_stripe_size:   %s\nlmm_pattern:       raid0\n' "$path" "$count" "$size"
  printf 'lmm_layout_gen:    0\nlmm_stripe_offset: 3\n\tobdidx\t\t objid\t\t objid\t\t group\n' ;;
osts)
  echo OBDS:
  for number in 0 1 2 3 4; do echo "$number: scratch-OST000${number}_UUID ACTIVE"; done
  echo "5: scratch-OST0005_UUID INACTIVE" ;;
esac
)sh";
constexpr const char* of_targets = ", of 6 OSTs, 5 of them active";

class StoreStriping : public testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(tools());
    install(fake_lfs);
    path_before_ = std::getenv("PATH");
    ::setenv("PATH", (tools().string() + ":" + path_before_).c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path_before_.c_str(), 1); }

  [[nodiscard]] std::filesystem::path tools() const { return directory_.path() / "tools"; }

  void install(const std::string& script) const {
    const auto lfs = tools() / "lfs";
    std::ofstream(lfs) << script;
    std::filesystem::permissions(lfs, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::vector<std::string> lines(const std::string& name) const {
    std::ifstream stream(tools() / name);
    std::vector<std::string> found;
    for (std::string line; std::getline(stream, line);) found.push_back(line);
    return found;
  }

  [[nodiscard]] std::vector<std::string> calls(const std::string& kind) const {
    std::vector<std::string> found = lines("calls");
    std::erase_if(found, [&](const std::string& line) { return !line.starts_with(kind + " "); });
    return found;
  }

  [[nodiscard]] storage::FileRequest request(Existing existing = Existing::refuse) const {
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", 181).dimension("x", 360);
    schema.variable("t", Type::float32, {"time", "y", "x"});
    schema.variable("orography", Type::float32, {"y", "x"});
    auto made = request_of(directory_.file("out.nc"), schema, GetParam(), existing);
    made.stripes.apply = StripeApply::always;
    return made;
  }

  /// Writes three records and checks them with another reader.
  storage::Striping write(const storage::FileRequest& request) {
    const Source source = sample_data(request.schema, *request.layout);
    auto file = store_->create(request);
    if (!file) {
      ADD_FAILURE() << file.error().text();
      return {};
    }
    write_fixed(**file, request, source);
    for (std::uint64_t record = 0; record < 3; ++record) write_record(**file, request, record, source);
    const auto published = (*file)->publish();
    EXPECT_TRUE(published) << published.error().text();
    expect_contents(read_netcdf(request.path), request, 3, source);
    return (*file)->striping();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  std::string path_before_;
};

TEST_P(StoreStriping, is_set_before_the_file_has_data) {
  auto made = request();
  made.stripes.expected_bytes = std::uint64_t{100} << 30;
  const auto striping = write(made);
  EXPECT_THAT(calls("setstripe"), ElementsAre("setstripe -c 4 -S 16777216 " + made.path + ".part"));
  EXPECT_EQ(striping.stripes, std::string("stripe count 4, size 16MiB") + of_targets);
  EXPECT_EQ(striping.warning, "");
  struct stat status {};
  ASSERT_EQ(::stat(made.path.c_str(), &status), 0);
  EXPECT_THAT(lines("made"), ElementsAre(std::to_string(status.st_ino))) << "another file than lfs made";
}

TEST_P(StoreStriping, of_a_small_file_is_one_stripe) {
  EXPECT_EQ(write(request()).stripes, std::string("stripe count 1, size 1MiB") + of_targets);
}

TEST_P(StoreStriping, that_is_reported_is_that_of_the_file_not_what_was_asked_for) {
  auto made = request();
  made.stripes.count = storage::StripePolicy::all;
  made.stripes.size_bytes = std::uint64_t{8} << 20;
  EXPECT_EQ(write(made).stripes, std::string("stripe count 5, size 8MiB") + of_targets);
}

TEST_P(StoreStriping, that_cannot_be_asked_for_is_not_known) {
  install(std::string(fake_lfs) + "[ $1 = setstripe ]\n");
  const auto striping = write(request());
  EXPECT_EQ(calls("setstripe").size(), 1u);
  EXPECT_EQ(striping.stripes, "stripes not known, number of OSTs not known");
  EXPECT_EQ(striping.warning, "");
}

TEST_P(StoreStriping, asks_for_the_targets_once_for_all_files_of_a_server) {
  auto made = request(Existing::replace);
  made.stripes.targets = std::make_shared<storage::KnownTargets>();
  for (int file = 0; file < 2; ++file) EXPECT_THAT(write(made).stripes, testing::EndsWith(of_targets));
  EXPECT_EQ(calls("getstripe").size(), 2u);
  EXPECT_EQ(calls("osts").size(), 1u);
}

TEST_P(StoreStriping, of_what_a_killed_run_left_behind_is_set_anew) {
  const auto made = request();
  std::ofstream(made.path + ".part") << "left behind";
  const auto striping = write(made);
  EXPECT_EQ(striping.warning, "");
  EXPECT_EQ(lines("made").size(), 1u);
  EXPECT_EQ(striping.stripes, std::string("stripe count 1, size 1MiB") + of_targets);
}

TEST_P(StoreStriping, of_an_appended_file_is_that_of_its_new_copy) {
  (void)write(request());
  auto made = request(Existing::append);
  auto file = store_->create(made);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ((*file)->records(), 3u);
  const Source source = sample_data(made.schema, *made.layout);
  write_record(**file, made, 3, source);
  ASSERT_TRUE((*file)->publish());
  expect_contents(read_netcdf(made.path), made, 4, source);
  EXPECT_EQ(lines("made").size(), 2u);
}

TEST_P(StoreStriping, that_fails_is_a_warning_and_the_file_is_written) {
  install("#!/bin/sh\necho 'lfs setstripe: no such OST pool' >&2\nexit 22\n");
  const auto striping = write(request());
  EXPECT_EQ(striping.stripes, "stripes not known, number of OSTs not known");
  EXPECT_THAT(striping.warning, HasSubstr("ended with status 22: lfs setstripe: no such OST pool"));
}

TEST_P(StoreStriping, without_lfs_is_a_warning_and_the_file_is_written) {
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_THAT(write(request()).warning, HasSubstr("cannot be started: No such file or directory"));
}

TEST_P(StoreStriping, by_an_lfs_that_hangs_ends_at_the_deadline) {
  install("#!/bin/sh\nsleep 60\n");
  auto made = request();
  made.stripes.deadline = std::chrono::milliseconds(100);
  EXPECT_THAT(write(made).warning, HasSubstr("did not end within 100 ms and was killed"));
}

TEST_P(StoreStriping, leaves_the_file_of_another_writer_alone) {
  const auto made = request();
  auto first = store_->create(made);
  ASSERT_TRUE(first) << first.error().text();
  const auto second = store_->create(made);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  ASSERT_TRUE((*first)->publish());
}

TEST_P(StoreStriping, is_not_set_on_a_local_file_system) {
  auto made = request();
  made.stripes.apply = StripeApply::automatic;
  const auto striping = write(made);
  EXPECT_THAT(lines("calls"), IsEmpty());
  EXPECT_EQ(striping.file_system, storage::file_system_of(directory_.path()).name);
  EXPECT_EQ(striping.warning, "");
}

TEST_P(StoreStriping, is_left_to_the_directory_where_nobody_wants_it) {
  auto made = request();
  made.stripes.apply = StripeApply::never;
  (void)write(made);
  EXPECT_THAT(lines("calls"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(formats, StoreStriping, testing::Values(Format::netcdf4, Format::cdf5),
                         [](const auto& one) { return std::string(name_of(one.param)); });

}  // namespace
}  // namespace afterbay::test
