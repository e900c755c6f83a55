// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/variable_storage.hpp"

#include <utility>

#include "storage/sealed.hpp"

namespace afterbay::storage {

std::vector<std::byte> seal(const Netcdf4Share& share, const model::FileLayout& layout) {
  SealedWriter writer(SealedKind::netcdf4_share, digest_of(layout));
  share.part.write(writer);
  for (const VariableStorage& variable : share.variables) {
    writer.number(static_cast<std::uint64_t>(variable.placement));
    writer.number(variable.span);
    writer.number(variable.codec.shuffle ? 1 : 0);
    writer.number(static_cast<std::uint64_t>(variable.codec.deflate));
    writer.number(variable.codec.element_bytes);
  }
  return std::move(writer).finish();
}

Result<Netcdf4Share> open_netcdf4_share(std::span<const std::byte> bytes, const model::FileLayout& layout) {
  AFTERBAY_TRY_ASSIGN(SealedReader reader,
                      SealedReader::open(bytes, SealedKind::netcdf4_share, digest_of(layout)));
  Netcdf4Share share;
  AFTERBAY_TRY_ASSIGN(share.part, LeaderPart::read(reader));
  for (std::size_t v = 0; v < layout.variables.size(); ++v) {
    VariableStorage variable;
    AFTERBAY_TRY_ASSIGN(const std::uint64_t placement,
                        reader.number(static_cast<std::uint64_t>(Placement::library)));
    AFTERBAY_TRY_ASSIGN(variable.span, reader.number());
    AFTERBAY_TRY_ASSIGN(const std::uint64_t shuffle, reader.number(1));
    AFTERBAY_TRY_ASSIGN(const std::uint64_t deflate, reader.number(9));
    AFTERBAY_TRY_ASSIGN(variable.codec.element_bytes, reader.number(8));
    if (variable.span == 0)
      return fail(ErrorCode::format, "the description of a shared file has a chunk of no records");
    variable.placement = static_cast<Placement>(placement);
    variable.codec.shuffle = shuffle != 0;
    variable.codec.deflate = static_cast<int>(deflate);
    share.variables.push_back(variable);
  }
  AFTERBAY_TRY(reader.end());
  return share;
}

}  // namespace afterbay::storage
