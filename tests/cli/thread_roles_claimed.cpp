// SPDX-License-Identifier: Apache-2.0
// A task of a worker that claims to run in the ingest thread; see thread_roles_test.py.
#include "server/workers.hpp"

namespace afterbay::server {

void submit(Workers& workers, int& state) {
  workers.submit([&state]() AFTERBAY_REQUIRES(ingest_thread) { ++state; });
}

}  // namespace afterbay::server
