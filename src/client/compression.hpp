// SPDX-License-Identifier: Apache-2.0
// The filters of a collection that has the setting `compress`.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "codec/trial.hpp"
#include "config/config.hpp"
#include "observe/records.hpp"

namespace afterbay::client {

struct Compression {
  std::string path;  ///< path of the file with the choice; empty: the collection has no `compress`
  codec::FilterLevels filters;
  /// Names of compressors: servers try chains with them on the first records. Empty: they do not.
  std::vector<std::string> trial_compressors;

  /// For the report.
  [[nodiscard]] observe::CompressRecord record() const;
};

/// The choice of an earlier session, if there is one in `directory`. Fails if the format has no
/// filters, or the file of the choice is damaged. Every rank reads the file; servers refuse a
/// collection for which ranks found different ones.
Result<Compression> compression_of(const std::string& collection, const std::string& directory, Format format,
                                   config::Compress compress);

/// Takes those filters out of a chain with which readers refuse it for the type: a rearrangement
/// after a checksum.
void leave_out_refused(FilterChain& chain, Type type);

}  // namespace afterbay::client
