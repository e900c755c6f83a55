// SPDX-License-Identifier: Apache-2.0
#include "afterbay/error.hpp"

#include <fmt/format.h>

namespace afterbay {

const char* name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::ok: return "ok";
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::unknown_name: return "unknown_name";
    case ErrorCode::wrong_type: return "wrong_type";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::bad_state: return "bad_state";
    case ErrorCode::would_block: return "would_block";
    case ErrorCode::timed_out: return "timed_out";
    case ErrorCode::peer_lost: return "peer_lost";
    case ErrorCode::exists: return "exists";
    case ErrorCode::no_space: return "no_space";
    case ErrorCode::io: return "io";
    case ErrorCode::format: return "format";
    case ErrorCode::resources: return "resources";
    case ErrorCode::mpi: return "mpi";
    case ErrorCode::internal: return "internal";
    case ErrorCode::stopped: return "stopped";
  }
  return "unknown";
}

std::string Error::text() const {
  std::string where;
  const auto say = [&where](const std::string& part) { where += (where.empty() ? "" : ", ") + part; };
  if (rank >= 0) say(fmt::format("rank {}", rank));
  if (!file.empty()) say(fmt::format("file {}", file));
  if (!variable.empty()) say(fmt::format("variable {}", variable));

  std::string all = where.empty() ? message : fmt::format("{}: {}", where, message);
  all += native != 0 ? fmt::format(" [{}, {}]", name_of(code), native) : fmt::format(" [{}]", name_of(code));
  for (const std::string& line : context) all += fmt::format("\n  {}", line);
  return all;
}

}  // namespace afterbay
