// SPDX-License-Identifier: Apache-2.0
// Netcdf4File: one unfinished netCDF-4 file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "storage/epoch/epoch_log.hpp"
#include "storage/ledger.hpp"
#include "storage/netcdf4/dataset.hpp"
#include "storage/netcdf4/file_driver.hpp"
#include "storage/netcdf4/netcdf4_structure.hpp"
#include "storage/netcdf4/piece_writer.hpp"
#include "storage/netcdf4/placed_chunks.hpp"
#include "storage/netcdf4/string_records.hpp"
#include "storage/netcdf4/unwritten_values.hpp"
#include "storage/open_part.hpp"
#include "storage/store.hpp"
#include "storage/structure/structure_cache.hpp"

namespace afterbay::storage {

/// Writes its own pieces in the same way as its members write theirs: with a PieceWriter, whose
/// placer it is.
class Netcdf4File : public File, private Placer {
 public:
  Netcdf4File(const FileRequest& request, OpenPart opened);
  Netcdf4File(const Netcdf4File&) = delete;
  Netcdf4File& operator=(const Netcdf4File&) = delete;
  ~Netcdf4File() override { Netcdf4File::abandon(); }

  /// Creates the structure (of a new file), unless it is cached, and opens it with HDF5.
  Result<> begin(StructureCache<Netcdf4Structure>& structures);
  /// Removes a file that could not be begun.
  void discard() noexcept;
  void give_back_space() noexcept override { part_.give_back_space(); }

  [[nodiscard]] std::uint64_t records() const override { return present_; }
  Result<WriteCost> write(std::span<const PieceWrite> pieces) override;
  Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                  std::span<const std::string> values) override;
  Result<std::vector<std::byte>> share() override;
  Result<std::vector<std::uint64_t>> place(std::span<const PlaceRequest> requests) override;
  Result<> take(std::span<const std::byte> account) override;
  void reach(std::uint64_t records) override { ledger_.reach(records); }
  Result<> note_errors(const model::LargestErrors& errors) override;
  Result<WriteCost> mark_epoch(const Epoch& epoch, std::span<const MemberEpoch> members) override;
  Result<Published> finish() override;
  PartFile* part() noexcept override { return &part_; }
  void abandon() noexcept override;
  [[nodiscard]] std::string engine() const override;
  [[nodiscard]] Striping striping() const override { return striping_; }

 private:
  Result<> open_library(const Netcdf4Structure* structure);
  [[nodiscard]] StorageKind kind_of(const model::Piece& piece, std::uint64_t record) const;
  [[nodiscard]] Result<> check_record(std::uint32_t variable, std::uint64_t record) const;
  Result<WriteCost> write_pieces(std::span<const PieceWrite> pieces);
  Result<> write_through(const PieceWrite& write, WriteCost& cost);
  [[nodiscard]] Result<> check_place(const PlaceRequest& request) const;
  enum class Noted { no, yes };
  Result<std::vector<std::uint64_t>> place_all(std::span<const PlaceRequest> requests, Noted noted);
  Result<std::uint64_t> place_one(const PlaceRequest& request);
  Result<std::uint64_t> place_plain(const model::Piece& piece, std::uint64_t record);
  // Epochs: see netcdf4_epoch.cpp.
  Result<WriteCost> mark(const Epoch& epoch, std::span<const MemberEpoch> members);
  Result<> keep_older_values(std::span<const PieceWrite> pieces);
  Result<LoggedEpoch> flush_structure(const Epoch& epoch);
  [[nodiscard]] Result<> check_readable() const;
  Result<> make_readable(WriteCost& cost);
  Result<> settle(std::uint64_t cut);

  Result<Published> complete();
  void close_writer() noexcept;
  Result<> close_library(std::uint64_t records);
  void leave_library() noexcept;

  Schema schema_;
  std::shared_ptr<const model::FileLayout> layout_;
  PartFile part_;
  std::unique_ptr<BlockWriter> writer_;
  bool appended_;
  bool readable_;
  /// In a readable file: shared by writes, exclusive while it is made readable.
  std::shared_mutex writes_;
  Striping striping_;
  std::uint64_t present_;  ///< number of records when it was opened
  std::unique_ptr<FileDriver> driver_;
  Hdf5Id file_;                    ///< used with a LibraryLock only, like the datasets
  std::vector<Dataset> datasets_;  ///< one per schema variable, in the same order
  StringRecords strings_;          ///< used with a LibraryLock only
  std::shared_ptr<ByteAllowance> chunk_memory_;
  std::optional<PieceWriter> pieces_;
  std::optional<PlaceholderBytes> placeholder_;  ///< used with a LibraryLock only
  Ledger ledger_;
  std::unique_ptr<EpochLog> log_;  ///< set after the first epoch; outlives the driver's use of it
  // Set by `begin`.
  std::optional<PlacedChunks> placed_;
  std::optional<UnwrittenValues> unwritten_;
};

}  // namespace afterbay::storage
