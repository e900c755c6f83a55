// SPDX-License-Identifier: Apache-2.0
// MemoryStore: files in memory, for tests that inspect the output of a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/thread_safety.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// A published file.
struct MemoryFile {
  struct VariableData {
    /// Per record (one entry for fixed variables): the dense bytes, little-endian, in C order.
    std::vector<std::vector<std::byte>> records;
    std::vector<std::vector<std::string>> strings;  ///< the same for string variables
  };
  Schema schema;
  std::uint64_t records = 0;
  std::vector<VariableData> variables;  ///< in the order of the schema
};

/// Keeps published files by name. Any thread may call it; files that are still referenced outlive
/// it.
class MemoryStore : public Store {
 public:
  MemoryStore();
  Result<std::unique_ptr<File>> create(const FileRequest& request) override;

  /// A published file; null if there is none.
  [[nodiscard]] std::shared_ptr<const MemoryFile> find(const std::string& path) const;
  /// Names of the published files, sorted.
  [[nodiscard]] std::vector<std::string> files() const;
  /// Dense little-endian bytes of one record of a published variable (record 0 for fixed ones).
  [[nodiscard]] Result<std::vector<std::byte>> record(const std::string& path, const std::string& variable,
                                                      std::uint64_t record) const;

  struct Registry {
    mutable Mutex mutex;
    std::map<std::string, std::shared_ptr<const MemoryFile>> published AFTERBAY_GUARDED_BY(mutex);
    std::set<std::string> open AFTERBAY_GUARDED_BY(mutex);  ///< names of unfinished files
  };

 private:
  std::shared_ptr<Registry> registry_;
};

/// The store as a MemoryStore; null if it has another format.
MemoryStore* memory_store_of(Store& store) noexcept;

}  // namespace afterbay::storage
