// SPDX-License-Identifier: Apache-2.0
// The messages of a GRIB file and their places, for readers that fetch few of many.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace afterbay::storage::grib2 {

struct IndexedMessage {
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
  /// The keys of ecCodes' namespace "mars" (ecCodes documentation, "GRIB keys by namespace") in
  /// ecCodes' order, but that `param` has the short name if ecCodes knows one.
  std::vector<std::pair<std::string, std::string>> keys;
};

/// Calls `add` for each message of a GRIB file of edition 1 or 2, in the order of the file; reads
/// all of it once. Fails with io if the file cannot be read, with format if it has no messages or
/// ends within one, with invalid_argument if this build has no ecCodes.
Result<> index_messages(const std::string& path, const std::function<void(const IndexedMessage&)>& add);

}  // namespace afterbay::storage::grib2
