// SPDX-License-Identifier: Apache-2.0
// A whole session in a rank test: opened over the test's ranks, served or run; errors are failures
// of the test.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "afterbay/afterbay.hpp"
#include "ranks/rank_test.hpp"

namespace afterbay::testing {

/// Little memory and small blocks, so that a small run fills and reuses all of it.
inline SessionOptions small_session(int servers) {
  SessionOptions options;
  options.set("memory.server", "2MiB").set("memory.block", "64KiB").set("memory.small_block", "16KiB");
  options.set("chunk", "16KiB").set("deadline", "20s").set("report.table", "off");
  if (servers > 0) return options.set("servers", std::to_string(servers));
  return options.set("topology", "inline");
}

/// Serves, or runs `model` on the model ranks and finalizes; then waits for the other ranks, so
/// that rank 0 may check the files.
inline void run_session(const SessionOptions& options, const std::function<void(Session&)>& model) {
  try {
    Session session = open_session(comm(), options);
    if (session.is_server()) {
      session.serve();
    } else {
      model(session);
      session.finalize();
    }
  } catch (const Failure& failure) {
    FAIL() << failure.what();
  }
  barrier();
}

/// One of `parts` nearly equal parts of `n`: its start and its length.
inline std::pair<std::uint64_t, std::uint64_t> share(std::uint64_t n, int parts, int part) {
  const auto cut = [&](int i) {
    return n * static_cast<std::uint64_t>(i) / static_cast<std::uint64_t>(parts);
  };
  return {cut(part), cut(part + 1) - cut(part)};
}

}  // namespace afterbay::testing
