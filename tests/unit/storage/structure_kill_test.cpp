// SPDX-License-Identifier: Apache-2.0
// Nothing remains if a process is killed while netCDF-C creates the structure of a file.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/structure/build_structure.hpp"

namespace afterbay::storage {
namespace {

/// Names that only Afterbay's files have, in the directory of temporary files.
std::set<std::string> leftovers() {
  std::set<std::string> found;
  for (const auto& directory : {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path(),
                                std::filesystem::current_path()}) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(directory, none))
      if (entry.path().filename().string().starts_with("afterbay-structure")) found.insert(entry.path());
  }
  return found;
}

Result<Structure> make(Format format) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 30).dimension("x", 40);
  schema.variable("lat", Type::float64, {"y"}).with_constant(std::vector<double>(30, 1.5));
  schema.variable("t", Type::float32, {"time", "y", "x"});
  const auto layout = model::make_layout(schema, format, {});
  if (!layout) return fail(layout.error());
  return build_structure(schema, *layout);
}

/// Creates a structure in a process that is killed before its system call of that number, or after
/// the last; returns whether it was killed. Nothing: processes cannot be traced here.
std::optional<bool> killed_before(int call, Format format) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    ::raise(SIGSTOP);
    ::_exit(make(format) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  for (int stop = 0; WIFSTOPPED(status); ++stop) {
    if (stop == call) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return true;
    }
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) return std::nullopt;
    ::waitpid(child, &status, 0);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return std::nullopt;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return false;
}

class StructureKill : public testing::TestWithParam<Format> {};

TEST_P(StructureKill, leaves_nothing_in_shared_memory_at_any_system_call) {
  ASSERT_TRUE(make(GetParam()));  // one-time initialization of the libraries is done
  const auto before = leftovers();
  int call = 1;
  for (;; ++call) {
    const auto killed = killed_before(call, GetParam());
    if (!killed) GTEST_SKIP() << "no process can be followed here (ptrace)";
    ASSERT_EQ(leftovers(), before) << "killed at stop " << call;
    if (!*killed) break;
    ASSERT_LT(call, 20'000);
  }
  EXPECT_GT(call, 3);
}

INSTANTIATE_TEST_SUITE_P(Formats, StructureKill, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& it) { return std::string(name_of(it.param)); });

}  // namespace
}  // namespace afterbay::storage
