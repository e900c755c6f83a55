// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "storage/block_writer/disk.hpp"
#include "storage/store.hpp"

namespace afterbay::test {

/// The store of a format on another disk, for files that it creates, not for those that it joins.
class StoreOnDisk : public storage::Store {
 public:
  StoreOnDisk(Format format, std::shared_ptr<storage::Disk> disk)
      : store_(storage::make_store(format)), disk_(std::move(disk)) {}
  Result<std::unique_ptr<storage::File>> create(const storage::FileRequest& request) override {
    storage::FileRequest changed = request;
    changed.disk = disk_;
    return store_->create(changed);
  }
  Result<std::unique_ptr<storage::File>> join(const storage::FileRequest& request,
                                              std::span<const std::byte> share,
                                              std::shared_ptr<storage::Placer> placer) override {
    return store_->join(request, share, std::move(placer));
  }

 private:
  std::unique_ptr<storage::Store> store_;
  std::shared_ptr<storage::Disk> disk_;
};

}  // namespace afterbay::test
