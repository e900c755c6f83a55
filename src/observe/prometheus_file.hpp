// SPDX-License-Identifier: Apache-2.0
// PrometheusFile: the Prometheus file of one server, which no other session writes at the same
// time.
#pragma once

#include <string>

#include "base/result.hpp"
#include "observe/server_state.hpp"

namespace afterbay::observe {

/// A session always holds a lock on the file that has the name. If another session holds it, this
/// one uses the next name, "run-2.prom". Files of sessions that have ended are replaced. On file
/// systems without locks every session uses the first name. For one thread.
class PrometheusFile {
 public:
  explicit PrometheusFile(std::string path) : path_(std::move(path)) {}
  ~PrometheusFile() { let_go(); }
  PrometheusFile(const PrometheusFile&) = delete;
  PrometheusFile& operator=(const PrometheusFile&) = delete;

  /// Replaces the previous state atomically (by rename).
  Result<> write(const ServerState& state);

 private:
  /// Returns 0, EEXIST if another session writes there, or errno.
  int try_write(const std::string& name, const std::string& text);
  int replace(const std::string& name, const std::string& beside, bool is_new);
  [[nodiscard]] bool is_ours(const std::string& name) const;
  void let_go();

  std::string path_;
  int turn_ = 1;
  int owned_ = -1;  ///< the latest file, locked; -1: none yet
};

}  // namespace afterbay::observe
