// SPDX-License-Identifier: Apache-2.0
// The memory that a session allocates of its limit: only what its output needs, in servers and in
// model ranks.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t memory_rows = 512, memory_columns = 512;  // 2 MiB per record

// The address sanitizer keeps freed memory resident (256 MiB by default), in addition to its own
// tables.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t most_growth = 512 * mib;
#else
constexpr std::uint64_t most_growth = 128 * mib;
#endif

/// The peak of this process's resident memory since `forget_peak`, in bytes.
std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kib = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> kib) break;
  return kib * 1024;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

/// Allocated shared memory of all servers and frontends that this process maps.
std::uint64_t allocated_shared_bytes() {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    struct stat status {};
    if (target.starts_with("/memfd:afterbay") && ::stat(entry.path().c_str(), &status) == 0)
      bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

SessionOptions with_much_memory() {
  SessionOptions options;
  options.set("memory.server", "1GiB").set("memory.frontend", "1GiB").set("report.table", "off");
  return options.set("deadline", "30s").set("chunk", "256KiB");
}

/// Four model ranks write a few records; no process may hold much more than these.
void expect_little_memory(const SessionOptions& options) {
  barrier();
  forget_peak();
  const std::uint64_t before = peak_resident_bytes();
  run_session(options, [](Session& session) {
    const auto [row, count] = share(memory_rows, session.model_size(), session.model_rank());
    session.decomposition("grid", Block{{memory_rows, memory_columns}, {row, 0}, {count, memory_columns}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", memory_rows).dimension("x", memory_columns);
    schema.variable("v", Type::float64, {"time", "y", "x"}).on("grid");
    OutputFile file = session.collection("history", schema, {.file = "history.nc"}).open();
    const std::vector<double> values(count * memory_columns, 1.0 + session.model_rank());
    for (std::uint64_t record = 0; record < 8; ++record) {
      file.put("v", record, values.data());
      session.end_step();
    }
    session.wait(file.close());
    const std::uint64_t shared = allocated_shared_bytes();
    EXPECT_LT(shared, 96 * mib);
    std::printf("rank %d: %.1f MiB of shared memory are allocated\n", rank(),
                static_cast<double>(shared) / mib);
  });
  const std::uint64_t grown = peak_resident_bytes() - before;
  std::printf("rank %d: resident memory grew by %.1f MiB\n", rank(), static_cast<double>(grown) / mib);
  EXPECT_LT(grown, most_growth);
}

RANK_TEST(SessionMemory, of_a_small_run_is_what_its_output_needs, 5) {
  expect_little_memory(with_much_memory().set("servers", "1"));
}

RANK_TEST(SessionMemory, of_a_small_run_over_mpi_is_what_its_output_needs, 5) {
  expect_little_memory(with_much_memory().set("servers", "1").set("transport", "mpi"));
}

RANK_TEST(SessionMemory, of_a_small_tiered_run_is_what_its_output_needs, 6) {
  expect_little_memory(with_much_memory().set("topology", "tiered").set("servers", "1"));
}

RANK_TEST(SessionMemory, of_a_small_inline_run_is_what_its_output_needs, 4) {
  expect_little_memory(with_much_memory().set("topology", "inline"));
}

}  // namespace
}  // namespace afterbay::testing
