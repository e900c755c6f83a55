// SPDX-License-Identifier: Apache-2.0
// CdfStore: the classic formats with 64-bit offsets, CDF-2 and CDF-5.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "storage/store.hpp"

namespace afterbay::storage {

/// netCDF-C makes the header, once; from then on every byte's offset follows from arithmetic, so that
/// any thread writes its pieces without asking anybody.
class CdfStore : public Store {
 public:
  explicit CdfStore(Format format) noexcept : format_(format) {}
  Result<std::unique_ptr<File>> create(const FileRequest& request) override;
  Result<std::unique_ptr<File>> join(const FileRequest& request, std::span<const std::byte> share,
                                     std::shared_ptr<Placer> placer) override;

 private:
  Format format_;
};

}  // namespace afterbay::storage
