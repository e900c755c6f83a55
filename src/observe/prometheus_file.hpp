// SPDX-License-Identifier: Apache-2.0
// PrometheusFile: the file of one server for Prometheus, which no other session writes at the same time.
#pragma once

#include <string>

#include "base/result.hpp"
#include "observe/server_state.hpp"

namespace afterbay::observe {

/// The file that has the name is always one that its session holds a lock on. Where another session holds it,
/// this one writes to the next name, "run-2.prom". Files of sessions that have ended are replaced. On file
/// systems without locks every session writes to the first name. For one thread.
class PrometheusFile {
 public:
  explicit PrometheusFile(std::string path) : path_(std::move(path)) {}
  ~PrometheusFile() { let_go(); }
  PrometheusFile(const PrometheusFile&) = delete;
  PrometheusFile& operator=(const PrometheusFile&) = delete;

  /// Puts the state in the place of the one before, whole or not at all (by rename).
  Result<> write(const ServerState& state);

 private:
  /// 0, EEXIST if another session writes there, or an errno.
  int try_write(const std::string& name, const std::string& text);
  int replace(const std::string& name, const std::string& beside, bool is_new);
  [[nodiscard]] bool is_ours(const std::string& name) const;
  void let_go();

  std::string path_;
  int turn_ = 1;
  int owned_ = -1;  ///< what was written last, locked; -1: nothing yet
};

}  // namespace afterbay::observe
