// SPDX-License-Identifier: Apache-2.0
#include "storage/store.hpp"

#include "storage/cdf/cdf_store.hpp"
#include "storage/memory/memory_store.hpp"
#include "storage/netcdf4/netcdf4_store.hpp"

namespace afterbay::storage {
namespace {

tl::unexpected<Error> not_shared() {
  return fail(ErrorCode::bad_state,
              "a file of this format, or in this state, cannot be shared: let one server write it");
}

}  // namespace

Result<std::vector<std::byte>> File::share() { return not_shared(); }

Result<std::vector<std::uint64_t>> File::place(std::span<const PlaceRequest>) { return not_shared(); }

Result<> File::take(std::span<const std::byte>) { return not_shared(); }

Result<std::vector<std::byte>> File::hand_over() { return not_shared(); }

Result<WriteCost> File::mark_epoch(const Epoch&, std::span<const MemberEpoch>) { return WriteCost{}; }

Result<MemberEpoch> File::mark_member_epoch(const Epoch&) { return fail(not_shared().value()); }

void Store::prepare(const FileRequest&) {}

Result<std::unique_ptr<File>> Store::join(const FileRequest& request, std::span<const std::byte>,
                                          std::shared_ptr<Placer>) {
  auto refused = not_shared();
  refused.value().in_file(request.path);
  return refused;
}

std::unique_ptr<Store> make_store(Format format) {
  switch (format) {
    case Format::netcdf4: return std::make_unique<Netcdf4Store>();
    case Format::cdf5:
    case Format::cdf2: return std::make_unique<CdfStore>(format);
    case Format::memory: return std::make_unique<MemoryStore>();
  }
  return nullptr;
}

}  // namespace afterbay::storage
