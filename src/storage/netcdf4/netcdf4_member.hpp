// SPDX-License-Identifier: Apache-2.0
// Netcdf4Member: a netCDF-4 file that another process created. It does not call HDF5.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "storage/member_file.hpp"
#include "storage/netcdf4/piece_writer.hpp"

namespace afterbay::storage {

class Netcdf4Member : public MemberFile {
 public:
  Netcdf4Member(const FileRequest& request, MemberPart part, std::vector<VariableStorage> storage,
                std::shared_ptr<Placer> placer);

  /// Refuses variables that could never be written.
  [[nodiscard]] Result<> check() const { return pieces_.check_memory(); }

 private:
  Result<> put(std::span<const PieceWrite> pieces, WriteCost& cost) override;
  Result<> put_rest(WriteCost& cost) override { return pieces_.write_rest(cost); }
  Result<bool> log_rest(const Ledger& written) override {
    return pieces_.log_chunks(written, 0, [this] { return epoch_log(); });
  }

  std::shared_ptr<Placer> placer_;
  PieceWriter pieces_;
};

}  // namespace afterbay::storage
