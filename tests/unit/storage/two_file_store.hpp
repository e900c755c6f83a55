// SPDX-License-Identifier: Apache-2.0
// TwoFileStore: a store whose artifacts are directories, with the least that one needs. It shows
// that such a format needs nothing outside its folder, and tests what all of them share.
//
//     NAME/structure     text: a line per variable (name, type, bytes), and the number of records
//     NAME/values/data   fixed variables, then records, dense and big-endian
//
// The layout is that of cdf5. There are no fill values, strings or epochs, and one server writes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.hpp"

namespace afterbay::test {

class TwoFileStore : public storage::Store {
 public:
  /// `disk`: instead of that of the requests; null: that one.
  explicit TwoFileStore(std::shared_ptr<storage::Disk> disk = nullptr) : disk_(std::move(disk)) {}
  Result<std::unique_ptr<storage::File>> create(const storage::FileRequest& request) override;

  /// A request for a float variable T(time, x) with `points` points and a fixed variable z(x).
  static storage::FileRequest request(const std::string& path, storage::Existing existing,
                                      std::uint64_t points = 64);
  /// Writes all points of the request's variables with one value, `records` records of T.
  static Result<> write(storage::File& file, const storage::FileRequest& request, float value,
                        std::uint64_t records);
  /// The values of T and z in a published directory, read without the store; empty if there is
  /// none.
  static std::vector<float> read(const std::string& path);

 private:
  std::shared_ptr<storage::Disk> disk_;
};

}  // namespace afterbay::test
