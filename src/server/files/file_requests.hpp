// SPDX-License-Identifier: Apache-2.0
// FileRequests: the stores of all formats, and what a server's requests to them have in common:
// settings, memory for chunks, storage targets. Any thread.
#pragma once

#include <functional>
#include <memory>

#include "config/config.hpp"
#include "server/files/output_file.hpp"
#include "storage/byte_allowance.hpp"
#include "storage/store.hpp"
#include "storage/striping/lfs.hpp"

namespace afterbay::server {

/// Makes the store of a format; tests supply a store whose files they can inspect.
using Stores = std::function<storage::Store&(Format)>;

class FileRequests {
 public:
  /// `server`: number of this server. `checksums`: checksums of whole files are computed.
  FileRequests(const config::Config& config, Stores stores, int server, bool checksums);

  [[nodiscard]] storage::Store& store(Format format) const { return stores_(format); }
  /// The request for a file, as every server of the file makes it, without its schema. `disk`:
  /// performs the system calls. `readable`: see storage::FileRequest.
  [[nodiscard]] storage::FileRequest request(const OutputFile& file, std::shared_ptr<storage::Disk> disk,
                                             bool readable) const;

 private:
  const config::Config& config_;
  const Stores stores_;
  const std::uint64_t server_;
  const bool checksums_;
  const std::shared_ptr<storage::ByteAllowance> chunk_memory_;  ///< shared by all files
  const std::shared_ptr<storage::KnownTargets> targets_ = std::make_shared<storage::KnownTargets>();
};

}  // namespace afterbay::server
