// SPDX-License-Identifier: Apache-2.0
// CdfMember: a classic file that another process created. Only its offsets are known.
#pragma once

#include <span>
#include <utility>

#include "storage/cdf/cdf_pieces.hpp"
#include "storage/member_file.hpp"

namespace afterbay::storage {

class CdfMember : public MemberFile {
 public:
  CdfMember(const FileRequest& request, MemberPart part, CdfOffsets offsets)
      : MemberFile(request, std::move(part)),
        offsets_(std::move(offsets)),
        pieces_(schema_, *layout_, offsets_, *part_.writer, ledger_) {}

 private:
  Result<> put(std::span<const PieceWrite> pieces, WriteCost& cost) override {
    return pieces_.write(pieces, cost);
  }

  CdfOffsets offsets_;
  CdfPieces pieces_;
};

}  // namespace afterbay::storage
