// SPDX-License-Identifier: Apache-2.0
// Reading files, by real ranks over every transport.
#include "input_session.hpp"
#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

void exercise(const SessionOptions& options, int mode) {
  if (rank() == 0) test::inputs::write_file("input.nc", mode);
  run_session(options, [&](Session& session) {
    test::inputs::expect_right(session, "input.nc", mode == NC_NETCDF4);
    test::inputs::write_and_read(session, mode == NC_NETCDF4 ? "netcdf4" : "cdf5", "");
  });
}

RANK_TEST(SessionInput, over_shared_memory, 5) { exercise(small_session(1), NC_NETCDF4); }
RANK_TEST(SessionInput, over_mpi, 5) { exercise(small_session(1).set("transport", "mpi"), NC_64BIT_DATA); }
RANK_TEST(SessionInput, two_servers_on_declared_nodes, 6) {
  exercise(small_session(2).set("nodes", "0,0,0,1,1,1"), NC_NETCDF4);
}
RANK_TEST(SessionInput, inline_synchronous, 3) { exercise(small_session(0), NC_64BIT_OFFSET); }
RANK_TEST(SessionInput, inline_synchronous_servers_of_two_nodes, 4) {
  exercise(small_session(0).set("nodes", "0,0,1,1"), NC_NETCDF4);
}
RANK_TEST(SessionInput, inline_thread, 3) {
  exercise(small_session(0).set("inline.mode", "thread"), NC_NETCDF4);
}

}  // namespace
}  // namespace afterbay::testing
