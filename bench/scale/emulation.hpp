// SPDX-License-Identifier: Apache-2.0
// Parts of a session with many more ranks than processes: one process holds the real objects of one
// model rank, frontend or server, and of as many other ranks as a measurement needs. The objects
// are the library's own; only what they are connected with is emulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "transport/link.hpp"

namespace bench {

/// What is measured.
struct Case {
  std::size_t ranks = 100;   ///< model ranks
  std::size_t servers = 1;   ///< I/O servers of the session
  std::size_t clients = 0;   ///< ranks that one server or frontend handles; 0: 100, or as many as there are
  std::size_t points = 100;  ///< points of a map per rank
  std::size_t fields = 200;  ///< fields per collection
};

/// The settings without a configuration file and environment, and `settings` ("name=value").
std::unique_ptr<afterbay::config::Config> config_with(const std::vector<std::string>& settings);

/// Memory of this process, in bytes.
struct Memory {
  std::uint64_t resident = 0;  ///< pages that exist
  std::uint64_t heap = 0;      ///< allocated by malloc and not freed
};
Memory memory_now();
/// Bytes between two readings; 0 if it fell.
std::uint64_t grown(std::uint64_t before, std::uint64_t after);

double thread_cpu_s();

/// Aborts with the error's text: a measurement that is not what it says is worth nothing.
template <class T>
T must(afterbay::Result<T> result) {
  if (!result) throw afterbay::Failure(std::move(result).error());
  return std::move(*result);
}
inline void must(afterbay::Result<void> result) {
  if (!result) throw afterbay::Failure(std::move(result).error());
}

// The measurements; each returns its figures. Objects are not destroyed: the process ends.
nlohmann::json measure_model_rank(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_rank_calls(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_rank_open(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_frontend(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_server_memory(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_idle(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_computing(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_ingest(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_definitions(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_verdicts(const Case& it, const afterbay::config::Config& config);
nlohmann::json measure_start(const Case& it, const afterbay::config::Config& config);

}  // namespace bench
