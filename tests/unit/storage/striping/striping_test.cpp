// SPDX-License-Identifier: Apache-2.0
// File systems, the choice of stripes, and commands run beside an MPI program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/run_command.hpp"
#include "base/units.hpp"
#include "scratch_directory.hpp"
#include "storage/striping/file_system.hpp"
#include "storage/striping/lfs.hpp"
#include "storage/striping/stripes.hpp"

namespace afterbay::storage {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(StorageFileSystem, is_known_by_its_magic_number) {
  EXPECT_EQ(file_system_of_magic(0x0BD00BD0).name, "Lustre");
  EXPECT_EQ(file_system_of_magic(0x0BD00BD0).stripes, FileSystem::Stripes::per_file);
  EXPECT_EQ(file_system_of_magic(0x47504653).name, "GPFS");
  EXPECT_EQ(file_system_of_magic(0x47504653).stripes, FileSystem::Stripes::its_own);
  EXPECT_EQ(file_system_of_magic(0x6969).name, "NFS");
  EXPECT_EQ(file_system_of_magic(0xEF53).name, "ext4");
  EXPECT_EQ(file_system_of_magic(0xEF53).stripes, FileSystem::Stripes::none);
  EXPECT_EQ(file_system_of_magic(0x58465342).name, "XFS");
  EXPECT_EQ(file_system_of_magic(0x01021994).name, "tmpfs");
  EXPECT_EQ(file_system_of_magic(0x794C7630).name, "overlay");
  EXPECT_EQ(file_system_of_magic(0x1234).name, "file system 0x1234");
}

TEST(StorageFileSystem, of_real_directories) {
  EXPECT_EQ(file_system_of("/dev/shm").name, "tmpfs");
  EXPECT_EQ(file_system_of("/nowhere/at/all").name, "an unknown file system");
}

struct Choice {
  const char* name;
  StripePolicy policy;
  std::uint64_t file_bytes;
  Stripes expected;
};

class StorageStripes : public testing::TestWithParam<Choice> {};

TEST_P(StorageStripes, fit_the_file) {
  EXPECT_EQ(choose_stripes(GetParam().policy, GetParam().file_bytes), GetParam().expected)
      << text_of(choose_stripes(GetParam().policy, GetParam().file_bytes));
}

INSTANTIATE_TEST_SUITE_P(
    policies, StorageStripes,
    testing::Values(
        Choice{"small", {}, 63 * MiB, {1, MiB}}, Choice{"one_writer", {}, 64 * MiB, {4, MiB}},
        Choice{"few_writers", {.writers = 95}, 64 * MiB, {4, MiB}},
        Choice{"many_writers", {.writers = 96}, 64 * MiB, {-1, MiB}},
        Choice{"many_writers_small", {.writers = 96}, 63 * MiB, {1, MiB}},
        Choice{"shared_1_gib", {}, GiB, {4, 4 * MiB}},
        Choice{"shared_8_gib", {.writers = 96}, 8 * GiB, {-1, 8 * MiB}},
        Choice{"shared_64_gib", {}, 64 * GiB, {4, 16 * MiB}},
        Choice{"shared_1_tib", {.writers = 1000}, 1024 * GiB, {-1, 32 * MiB}},
        Choice{"own_file", {.own_file = true}, 8 * GiB, {1, 8 * MiB}},
        Choice{"count_given", {.count = 4}, MiB, {4, MiB}},
        Choice{"all_given", {.count = -1}, MiB, {-1, MiB}},
        Choice{"size_given", {.size_bytes = 2 * MiB}, GiB, {4, 2 * MiB}},
        Choice{"both_given", {.count = 2, .size_bytes = 2 * MiB, .own_file = true}, GiB, {2, 2 * MiB}}),
    [](const auto& one) { return one.param.name; });

TEST(StorageStripesEstimate, counts_fixed_variables_once_and_records_sixteen_times) {
  model::FileLayout layout;
  layout.variables.resize(2);
  layout.variables[0].slab_bytes = 1000;
  layout.variables[1].slab_bytes = 10;
  layout.variables[1].record = true;
  EXPECT_EQ(estimated_bytes(layout), 1000u + 16 * 10);
  layout.variables[1].slab_bytes = std::uint64_t{1} << 62;
  EXPECT_EQ(estimated_bytes(layout), ~std::uint64_t{0});
}

TEST(StorageLfs, stripes_are_read_from_what_getstripe_prints) {
  EXPECT_THAT(
      parse_stripes("/scratch/a.nc\nlmm_stripe_count:  4\nlmm_stripe_size:   1048576\nlmm_pattern:       "
                    "raid0\nlmm_layout_gen:    0\nlmm_stripe_offset: 1\n\tobdidx\t objid\t objid\t group\n"
                    "\t     1\t   354\t 0x162\t     0\n"),
      testing::ElementsAre(Stripes{4, MiB}));
  const auto components = parse_stripes(
      "a.nc\n  lcm_layout_gen:    2\n  lcm_mirror_count:  1\n  lcm_entry_count:   2\n    lcme_id:            "
      " 1\n"
      "    lcme_flags:          init\n    lcme_extent.e_start: 0\n    lcme_extent.e_end:   1048576\n"
      "      lmm_stripe_count:  1\n      lmm_stripe_size:   1048576\n      lmm_pattern:       raid0\n"
      "      lmm_objects:\n      - 0: { l_ost_idx: 1, l_fid: [0x100010000:0x2:0x0] }\n\n    lcme_id:         "
      "    2\n"
      "    lcme_flags:          0\n      lmm_stripe_count:  -1\n      lmm_stripe_size:   4194304\n");
  EXPECT_THAT(components, testing::ElementsAre(Stripes{1, MiB}, Stripes{-1, 4 * MiB}));
  for (const char* other : {"", "a.nc has no stripe info\n", "lmm_stripe_count: many\nlmm_stripe_size: 1\n",
                            "lmm_stripe_size: 1048576\n", "lmm_stripe_count: 4"})
    EXPECT_THAT(parse_stripes(other), testing::IsEmpty()) << other;
}

TEST(StorageLfs, targets_are_counted_in_what_osts_prints) {
  EXPECT_EQ(parse_targets("OBDS:\n0: fs00-OST0000_UUID ACTIVE\n1: fs00-OST0001_UUID INACTIVE\n"),
            (TargetCounts{2, 1}));
  EXPECT_EQ(parse_targets("OBDS::\n10: fs00-OST000a_UUID ACTIVE"), (TargetCounts{1, 1}));
  EXPECT_EQ(parse_targets("lfs osts: no Lustre file system\nx: y\n"), (TargetCounts{0, 0}));
}

TEST(StorageRunCommand, gives_what_the_command_wrote) {
  EXPECT_EQ(output_of({"echo", "one", "two"}, 10s).value_or("failed"), "one two\n");
  const auto much = output_of({"sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x"}, 30s);
  EXPECT_EQ(much.value_or("").size(), 100'000u);
  EXPECT_LT(output_of({"sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x"}, 30s, 1000).value_or("").size(),
            2000u);
  EXPECT_FALSE(output_of({"sh", "-c", "echo one; exit 1"}, 10s));
}

TEST(StorageRunCommand, ends_well) { EXPECT_TRUE(run_command({"true"}, 10s)); }

TEST(StorageRunCommand, tells_what_the_command_wrote_on_stderr) {
  const auto done = run_command({"sh", "-c", "echo one >&2; echo two >&2; exit 7"}, 10s);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::io);
  EXPECT_THAT(done.error().text(), HasSubstr("ended with status 7: one two"));
}

TEST(StorageRunCommand, is_missing) {
  const auto done = run_command({"afterbay-no-such-command", "-c"}, 10s);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(),
              HasSubstr("`afterbay-no-such-command -c` cannot be started: No such file"));
}

TEST(StorageRunCommand, is_killed_at_the_deadline_with_its_children) {
  const auto start = std::chrono::steady_clock::now();
  const auto done = run_command({"sh", "-c", "sleep 600; true"}, 200ms);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::timed_out);
  EXPECT_THAT(done.error().text(), HasSubstr("did not end within 200 ms and was killed"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 300s);
}

/// As at the deadline.
TEST(StorageRunCommand, tells_what_a_killed_command_wrote) {
  const test::Directory directory;
  const std::filesystem::path begun = directory.path / "begun";
  std::atomic<bool> stop{false};
  std::jthread stopper([&] {
    for (int look = 0; look < 6000 && !std::filesystem::exists(begun); ++look)
      std::this_thread::sleep_for(10ms);
    stop = true;
  });
  Command command{{"sh", "-c", "echo begun >&2; : > '" + begun.string() + "'; sleep 600; true"}};
  command.stop = &stop;
  const auto done = run_command(command, 600s);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::timed_out);
  EXPECT_THAT(done.error().text(), HasSubstr("was killed early because the run ends: begun"));
}

TEST(StorageRunCommand, that_writes_more_than_a_pipe_holds_does_not_hang) {
  const auto done = run_command({"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1"}, 30s);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(), HasSubstr("ended with status 1: xxx"));
  EXPECT_LT(done.error().text().size(), 8000u);
}

TEST(StorageRunCommand, that_closes_its_stderr_is_waited_for) {
  const auto done = run_command({"sh", "-c", "exec 2>&-; sleep 0.2; exit 3"}, 30s);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(), HasSubstr("ended with status 3"));
}

TEST(StorageRunCommand, works_where_the_program_ignores_its_children) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_TRUE(run_command({"true"}, 10s));
  std::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace afterbay::storage
