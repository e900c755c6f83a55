// SPDX-License-Identifier: Apache-2.0
// CdfStore: the classic formats with 64-bit offsets, CDF-2 and CDF-5.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "storage/cdf/cdf_structure.hpp"
#include "storage/store.hpp"
#include "storage/structure/structure_cache.hpp"

namespace afterbay::storage {

/// netCDF-C creates the header, once for all files of a schema; then the offset of every byte
/// follows from arithmetic, so that any thread writes its pieces without coordination.
class CdfStore : public Store {
 public:
  explicit CdfStore(Format format) noexcept : format_(format) {}
  Result<std::unique_ptr<File>> create(const FileRequest& request) override;
  void prepare(const FileRequest& request) override;
  Result<std::unique_ptr<File>> join(const FileRequest& request, std::span<const std::byte> share,
                                     std::shared_ptr<Placer> placer) override;

 private:
  Format format_;
  StructureCache<CdfStructure> structures_;
};

}  // namespace afterbay::storage
