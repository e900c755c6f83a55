// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/netcdf4_store.hpp"

#include <utility>

#include "storage/netcdf4/netcdf4_file.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {

Result<std::unique_ptr<File>> Netcdf4Store::create(const FileRequest& request) {
  AFTERBAY_TRY(check_request(request, Format::netcdf4));
  AFTERBAY_TRY_ASSIGN(OpenPart opened, open_part(request));
  auto file = std::make_unique<Netcdf4File>(request, std::move(opened));
  if (auto begun = in_file(file->begin(), request.path); !begun) {
    file->discard();
    return fail(std::move(begun).error());
  }
  return file;
}

}  // namespace afterbay::storage
