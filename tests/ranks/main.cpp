// SPDX-License-Identifier: Apache-2.0
// Runs one rank test on every rank of MPI_COMM_WORLD. The results of the ranks are combined: one
// failing rank fails the test, and only the output of failing ranks is shown. If a rank's test
// fails while others still wait for it in MPI, it ends the job after a short time instead of
// hanging.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include "ranks/rank_test.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
// Plugins stay loaded, so that the leak report can name them and lsan.supp can suppress them.
extern "C" [[gnu::visibility("default")]] int dlclose(void*) { return 0; }
#endif

namespace afterbay::testing {
namespace {

std::map<std::string, int>& declared_ranks() {
  static std::map<std::string, int> ranks;
  return ranks;
}

MPI_Comm& test_comm() {
  static MPI_Comm comm = MPI_COMM_NULL;
  return comm;
}

// Failures are printed at once, marked with the rank, so that they are visible even if the job then
// hangs.
class RankListener : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo& info) override {
    const auto found = declared_ranks().find(std::string(info.test_suite_name()) + "." + info.name());
    if (found == declared_ranks().end()) {
      ADD_FAILURE() << "declare tests in tests/ranks with RANK_TEST, not with TEST";
    } else if (found->second != size()) {
      ADD_FAILURE() << "needs " << found->second << " ranks, runs with " << size() << ": start it with ctest";
    }
  }
  void OnTestPartResult(const ::testing::TestPartResult& part) override {
    if (part.passed()) return;
    const char* file = part.file_name() != nullptr ? part.file_name() : "(unknown file)";
    std::fprintf(stderr, "[rank %d] %s:%d: %s\n%s\n", rank(), file, part.line_number(),
                 part.skipped() ? "skipped" : "failure", part.message());
    std::fflush(stderr);
  }
};

// Sums a flag over all ranks; a rank that never arrives ends the job.
int sum_over_ranks(int value, std::chrono::seconds deadline) {
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  const auto end = std::chrono::steady_clock::now() + deadline;
  int done = 0;
  while (true) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return sum;
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "[rank %d] the other ranks did not end the test within %lld s\n", rank(),
                   static_cast<long long>(deadline.count()));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // MPI has no timed wait
  }
}

int run_on_all_ranks() {
  MPI_Comm_dup(MPI_COMM_WORLD, &test_comm());
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new RankListener);
  const bool failed = RUN_ALL_TESTS() != 0;
  const auto& outcome = *::testing::UnitTest::GetInstance();
  const bool skipped = outcome.skipped_test_count() > 0;
  const bool ran = outcome.test_to_run_count() == 1;

  const std::chrono::seconds deadline(failed ? 10 : 90);
  const int failing = sum_over_ranks(failed || !ran ? 1 : 0, deadline);
  const int skipping = sum_over_ranks(skipped ? 1 : 0, deadline);
  if (failing == 0) MPI_Comm_free(&test_comm());
  if (rank() == 0) {
    if (!ran)
      std::fprintf(stderr, "the filter must name exactly one test, it names %d\n",
                   outcome.test_to_run_count());
    std::printf("%d of %d ranks failed\n", failing, size());
  }
  if (failing > 0) return 1;
  return skipping > 0 ? 77 : 0;
}

// What the name of the suite ends with, in the filter that names one test; otherwise the least that
// is needed.
int thread_level() {
  const std::string filter = GTEST_FLAG_GET(filter);
  if (filter.find("Multiple.") != std::string::npos) return MPI_THREAD_MULTIPLE;
  if (filter.find("Serialized.") != std::string::npos) return MPI_THREAD_SERIALIZED;
  return MPI_THREAD_FUNNELED;
}

// Leaks of MPI_Init are ignored.
void initialise_mpi(int& argc, char**& argv) {
#if defined(__SANITIZE_ADDRESS__)
  const __lsan::ScopedDisabler unwatched;
#endif
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, thread_level(), &provided);
}

}  // namespace

MPI_Comm comm() { return test_comm(); }

int rank() {
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return value;
}

int size() {
  int value = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return value;
}

void barrier() { MPI_Barrier(comm()); }

RankTestEntry::RankTestEntry(const char* suite, const char* name, int ranks) {
  declared_ranks()[std::string(suite) + "." + name] = ranks;
}

}  // namespace afterbay::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  afterbay::testing::initialise_mpi(argc, argv);
  const int code = afterbay::testing::run_on_all_ranks();
  MPI_Finalize();
  return code;
}
