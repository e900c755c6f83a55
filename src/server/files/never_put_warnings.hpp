// SPDX-License-Identifier: Apache-2.0
// NeverPutWarnings: warnings about variables of complete files that no rank has put. Used by the
// ingest thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/ingest_thread.hpp"
#include "server/files/output_file.hpp"

namespace afterbay::server {

class NeverPutWarnings {
 public:
  /// The warning about the variables that a complete file lacks; "" if there is none. Each variable
  /// of a collection is reported once, however many files lack it.
  [[nodiscard]] std::string warning(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread);

 private:
  /// Variables that were warned of, by collection.
  std::map<std::uint32_t, std::set<std::uint32_t>> reported_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
