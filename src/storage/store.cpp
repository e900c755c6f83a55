// SPDX-License-Identifier: Apache-2.0
#include "storage/store.hpp"

#include <array>

#include "storage/artifact.hpp"

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

Result<WriteCost> File::mark_epoch(const Epoch& epoch, std::span<const MemberEpoch>) {
  const Artifact* const unfinished = part();
  if (unfinished == nullptr) return WriteCost{};
  return fail(
      make_error(ErrorCode::bad_state,
                 "{} is open at epoch '{}', and its format keeps no epochs: close it before the epoch, "
                 "or write it in a format that keeps them",
                 unfinished->path(), epoch.name)
          .in_file(unfinished->path()));
}

Result<MemberEpoch> File::mark_member_epoch(const Epoch&) { return fail(not_shared().value()); }

void Store::prepare(const FileRequest&) {}

Result<std::unique_ptr<File>> Store::join(const FileRequest& request, std::span<const std::byte>,
                                          std::shared_ptr<Placer>) {
  auto refused = not_shared();
  refused.value().in_file(request.path);
  return refused;
}

#define AFTERBAY_ROW(NAME) std::unique_ptr<Store> make_##NAME##_store();
AFTERBAY_FORMATS(AFTERBAY_ROW)
#undef AFTERBAY_ROW

std::unique_ptr<Store> make_store(Format format) {
#define AFTERBAY_ROW(NAME) &make_##NAME##_store,
  constexpr std::array makers{AFTERBAY_FORMATS(AFTERBAY_ROW)};
#undef AFTERBAY_ROW
  return is_known(format) ? makers[static_cast<std::size_t>(format)]() : nullptr;
}

}  // namespace afterbay::storage
