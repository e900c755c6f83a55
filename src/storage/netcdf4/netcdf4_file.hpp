// SPDX-License-Identifier: Apache-2.0
// Netcdf4File: one netCDF-4 file in the making.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/fill.hpp"
#include "storage/ledger.hpp"
#include "storage/netcdf4/chunk_assembly.hpp"
#include "storage/netcdf4/dataset.hpp"
#include "storage/netcdf4/file_driver.hpp"
#include "storage/open_part.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

class Netcdf4File : public File {
 public:
  Netcdf4File(const FileRequest& request, OpenPart opened);
  Netcdf4File(const Netcdf4File&) = delete;
  Netcdf4File& operator=(const Netcdf4File&) = delete;
  ~Netcdf4File() override { Netcdf4File::abandon(); }

  /// Makes the structure (of a new file) and opens it with HDF5.
  Result<> begin();
  /// Takes back a file that could not be begun.
  void discard() noexcept;

  [[nodiscard]] std::uint64_t records() const override { return present_; }
  Result<WriteCost> write(std::span<const PieceWrite> pieces) override;
  Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                  std::span<const std::string> values) override;
  Result<WriteCost> publish() override;
  void abandon() noexcept override;
  [[nodiscard]] std::string engine() const override;
  [[nodiscard]] Striping striping() const override { return striping_; }

 private:
  /// A piece on its way: what is to be placed (encoded, if the variable has filters) and written.
  struct Job {
    PieceWrite piece;
    std::optional<codec::EncodedChunk> encoded;
  };
  /// The file as the home of assembled chunks.
  class Home;

  Result<> open_datasets();
  [[nodiscard]] Placement placement_of(const model::Piece& piece, std::uint64_t record) const;
  /// Whether the piece is one of a compressed chunk of several records.
  [[nodiscard]] bool assembles(const model::Piece& piece, std::uint64_t record) const;
  Result<> check_assembly() const;
  [[nodiscard]] Result<> check_record(std::uint32_t variable, std::uint64_t record) const;
  Result<Job> prepare(const PieceWrite& piece);
  Result<> assemble(const PieceWrite& piece, WriteCost& cost);
  Result<Extent> place(const Job& job);
  Result<std::uint64_t> place_span(const model::Piece& piece, std::uint64_t record);
  Result<> write_jobs(std::span<const Job> jobs, WriteCost& cost);
  Result<WriteCost> write_pieces(std::span<const PieceWrite> pieces);
  Result<WriteCost> finish();
  Result<> fill_missing(WriteCost& cost);
  Result<> fill_span(std::uint32_t variable, const model::Piece& piece, WriteCost& cost);
  Result<> fill_strings();
  Result<> fill_strings(std::uint32_t variable, std::uint64_t first, std::uint64_t end);
  Result<> fill_piece(const PieceWrite& target, WriteCost& cost);
  Result<> close_library(std::uint64_t records);

  Schema schema_;
  std::shared_ptr<const model::FileLayout> layout_;
  PartFile part_;
  std::unique_ptr<BlockWriter> writer_;
  bool appended_;
  Striping striping_;
  std::uint64_t present_;  ///< records that were there when it was opened
  std::unique_ptr<FileDriver> driver_;
  Hdf5Id file_;                    ///< used under a LibraryLock only, as the datasets
  std::vector<Dataset> datasets_;  ///< one a schema variable, same order
  std::vector<FillPattern> fills_;
  std::vector<std::vector<bool>> strings_written_;  ///< by variable and record; guarded by the library lock
  std::shared_ptr<ByteAllowance> chunk_memory_;
  ChunkAssembly assembly_;
  Ledger ledger_;
};

}  // namespace afterbay::storage
