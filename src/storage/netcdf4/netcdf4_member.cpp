// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/netcdf4_member.hpp"

#include <utility>

#include "storage/record_reach.hpp"

namespace afterbay::storage {

Netcdf4Member::Netcdf4Member(const FileRequest& request, MemberPart part,
                             std::vector<VariableStorage> storage, std::shared_ptr<Placer> placer)
    : MemberFile(request, std::move(part)),
      placer_(std::move(placer)),
      pieces_(schema_, *layout_, std::move(storage), *part_.writer, *placer_, request.chunk_memory) {}

/// The leader checks every request again; but it gets requests for chunks that are held back late.
Result<> Netcdf4Member::put(std::span<const PieceWrite> pieces, WriteCost& cost) {
  for (const PieceWrite& write : pieces)
    AFTERBAY_TRY(check_reach(schema_, *layout_, write.piece.variable, write.record, ledger_.records()));
  return pieces_.write(pieces, cost);
}

}  // namespace afterbay::storage
