// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "storage/block_writer/disk.hpp"
#include "storage/store.hpp"

namespace afterbay::test {

/// The store of a format on another disk.
class StoreOnDisk : public storage::Store {
 public:
  StoreOnDisk(Format format, std::shared_ptr<storage::Disk> disk)
      : store_(storage::make_store(format)), disk_(std::move(disk)) {}
  Result<std::unique_ptr<storage::File>> create(const storage::FileRequest& request) override {
    storage::FileRequest changed = request;
    changed.disk = disk_;
    return store_->create(changed);
  }

 private:
  std::unique_ptr<storage::Store> store_;
  std::shared_ptr<storage::Disk> disk_;
};

}  // namespace afterbay::test
