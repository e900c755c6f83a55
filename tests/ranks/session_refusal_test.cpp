// SPDX-License-Identifier: Apache-2.0
// What does not fit into the node is refused by every rank, before the session opens.
#include <sys/resource.h>

#include <string>

#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

SessionOptions quiet() {
  SessionOptions options;
  return options.set("report.table", "off").set("journal.directory", "off").set("deadline", "30s");
}

/// Opens a session, which fails on this rank too.
void expect_refused(const SessionOptions& options, const std::string& part, const std::string& advice) {
  try {
    const Session session = open_session(MPI_COMM_WORLD, options);
    FAIL() << "rank " << rank() << " has a session";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::resources);
    const std::string text = failure.error().text();
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find(advice), std::string::npos) << text;
  }
  barrier();
}

RANK_TEST(SessionRefusal, memory_that_the_node_lacks, 4) {
  expect_refused(quiet().set("memory.server", "8TiB"), "of memory are free on this node",
                 "set memory.server: ");
}

RANK_TEST(SessionRefusal, memory_of_one_pool_that_the_node_lacks, 4) {
  expect_refused(quiet()
                     .set("pools.small.servers", "1")
                     .set("pools.big.servers", "1")
                     .set("pools.big.memory.server", "8TiB"),
                 "1 I/O server of pool 'big': ", "set pools.big.memory.server: ");
}

/// On a node that has no server, one of its ranks checks. Ranks 0 and 1 send through the frontend 2
/// to the server 3.
RANK_TEST(SessionRefusal, memory_that_a_node_without_servers_lacks, 4) {
  expect_refused(quiet().set("topology", "tiered").set("memory.frontend", "8TiB").set("nodes", "0,0,0,1"),
                 "1 frontend: ", "set memory.frontend: ");
}

RANK_TEST(SessionRefusal, files_that_a_process_may_not_open, 4) {
  rlimit usual{};
  ::getrlimit(RLIMIT_NOFILE, &usual);
  rlimit few = usual;
  few.rlim_cur = 100;
  ::setrlimit(RLIMIT_NOFILE, &few);
  expect_refused(quiet(), "100 files open (ulimit -n)", "raise the limit to 1");
  ::setrlimit(RLIMIT_NOFILE, &usual);
}

}  // namespace
}  // namespace afterbay::testing
