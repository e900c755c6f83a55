// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/netcdf4_store.hpp"

#include <utility>

#include "storage/netcdf4/netcdf4_file.hpp"
#include "storage/netcdf4/netcdf4_member.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {

Result<std::unique_ptr<File>> Netcdf4Store::create(const FileRequest& request) {
  AFTERBAY_TRY(check_request(request, Format::netcdf4));
  AFTERBAY_TRY_ASSIGN(OpenPart opened, open_part(request));
  auto file = std::make_unique<Netcdf4File>(request, std::move(opened));
  if (auto begun = in_file(file->begin(structures_), request.path); !begun) {
    file->discard();
    return fail(std::move(begun).error());
  }
  return file;
}

void Netcdf4Store::prepare(const FileRequest& request) {
  if (!check_definition(request, Format::netcdf4)) return;
  static_cast<void>(structures_.get(request.schema, request.layout, [&request] {
    return make_netcdf4_structure(request.schema, *request.layout);
  }));
}

Result<std::unique_ptr<File>> Netcdf4Store::join(const FileRequest& request, std::span<const std::byte> share,
                                                 std::shared_ptr<Placer> placer) {
  AFTERBAY_TRY(check_request(request, Format::netcdf4));
  if (!placer)
    return fail(make_error(ErrorCode::invalid_argument, "{} cannot be joined without a placer for its pieces",
                           request.path)
                    .in_file(request.path));
  AFTERBAY_TRY_ASSIGN(Netcdf4Share opened, in_file(open_netcdf4_share(share, *request.layout), request.path));
  AFTERBAY_TRY_ASSIGN(MemberPart part, in_file(MemberPart::open(request, opened.part), request.path));
  auto file = std::make_unique<Netcdf4Member>(request, std::move(part), std::move(opened.variables),
                                              std::move(placer));
  AFTERBAY_TRY(in_file(file->check(), request.path));
  return file;
}

std::unique_ptr<Store> make_netcdf4_store() { return std::make_unique<Netcdf4Store>(); }

}  // namespace afterbay::storage
