// SPDX-License-Identifier: Apache-2.0
// Our types in netCDF-C's terms, and its errors in ours.
#pragma once

#include <netcdf.h>

#include <optional>
#include <string>
#include <vector>

#include "afterbay/types.hpp"
#include "base/result.hpp"

namespace afterbay::storage {

nc_type netcdf_type(Type type) noexcept;
std::optional<Type> type_of_netcdf(nc_type type) noexcept;

/// "cannot <doing>: <text of netCDF-C>", with the status as native code. A status above 0 is an
/// errno.
Error netcdf_error(int status, const std::string& doing);

/// Ok, or the error of doing so.
inline Result<> check_netcdf(int status, const std::string& doing) {
  if (status == NC_NOERR) return {};
  return fail(netcdf_error(status, doing));
}

/// Strings that netCDF-C allocated.
struct NetcdfStrings {
  explicit NetcdfStrings(std::size_t count) : pointers(count, nullptr) {}
  NetcdfStrings(const NetcdfStrings&) = delete;
  NetcdfStrings& operator=(const NetcdfStrings&) = delete;
  ~NetcdfStrings() {
    if (!pointers.empty()) nc_free_string(pointers.size(), pointers.data());
  }
  [[nodiscard]] std::vector<std::string> take() const {
    std::vector<std::string> strings;
    for (const char* text : pointers) strings.emplace_back(text == nullptr ? "" : text);
    return strings;
  }
  std::vector<char*> pointers;
};

/// The id of an open netCDF-C file, which is closed at the end of its life. Used only under a
/// LibraryLock.
class NetcdfHandle {
 public:
  explicit NetcdfHandle(int id) noexcept : id_(id) {}
  NetcdfHandle(const NetcdfHandle&) = delete;
  NetcdfHandle& operator=(const NetcdfHandle&) = delete;
  ~NetcdfHandle() {
    if (id_ >= 0) nc_close(id_);
  }
  [[nodiscard]] int id() const noexcept { return id_; }
  int close() noexcept { return nc_close(release()); }
  /// The caller closes it.
  int release() noexcept {
    const int id = id_;
    id_ = -1;
    return id;
  }

 private:
  int id_;
};

}  // namespace afterbay::storage
