// SPDX-License-Identifier: Apache-2.0
// MemberFile: the common part of all formats for members of a shared file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/leader_part.hpp"
#include "storage/ledger.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// The account that a member hands over: the pieces that it wrote, and the checksums that it knows
/// (null: none).
std::vector<std::byte> member_account(const Ledger& ledger, const FileChecksum* checksum);
/// Adds the pieces of a member's account, for records that the ledger has, to a copy of the
/// leader's ledger.
Result<> take_member_epoch(std::span<const std::byte> account, Ledger& written);
/// Adds a member's account to the leader's own. On failure (see Ledger::take) nothing is added.
Result<> take_account(std::span<const std::byte> account, Ledger& ledger, FileChecksum* checksum);

/// The leader's part file, opened by another process: without a lock (which the leader has), and
/// without creating or truncating anything.
struct MemberPart {
  std::string path;  ///< final name
  std::shared_ptr<Disk> disk;
  Descriptor file;
  std::unique_ptr<BlockWriter> writer;  ///< null when closed

  /// Fails with conflict if another file has the leader's name now.
  static Result<MemberPart> open(const FileRequest& request, const LeaderPart& leader);
};

class MemberFile : public File {
 public:
  MemberFile(const MemberFile&) = delete;
  MemberFile& operator=(const MemberFile&) = delete;

  [[nodiscard]] std::uint64_t records() const override { return 0; }
  Result<WriteCost> write(std::span<const PieceWrite> pieces) override;
  Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                  std::span<const std::string> values) override;
  Result<Published> finish() override;
  Result<std::vector<std::byte>> hand_over() override;
  Result<MemberEpoch> mark_member_epoch(const Epoch& epoch) override;
  /// The part file is not changed: it belongs to the leader.
  void abandon() noexcept override;
  [[nodiscard]] std::string engine() const override;

 protected:
  MemberFile(const FileRequest& request, MemberPart part);

  /// Writes pieces that belong to the layout, and adds to the cost.
  virtual Result<> put(std::span<const PieceWrite> pieces, WriteCost& cost) = 0;
  /// Writes pieces that were held back.
  virtual Result<> put_rest(WriteCost&) { return {}; }
  /// Logs pieces that were held back and belong to `written`; returns whether there are any.
  virtual Result<bool> log_rest(const Ledger& /*written*/) { return false; }
  /// The member's own log, created when it is first needed.
  Result<EpochLog*> epoch_log();

  Schema schema_;
  std::shared_ptr<const model::FileLayout> layout_;
  MemberPart part_;
  Ledger ledger_;

 private:
  Result<MemberEpoch> mark(const Epoch& epoch);
  Result<WriteCost> write_pieces(std::span<const PieceWrite> pieces);
  Result<std::vector<std::byte>> complete();

  std::uint64_t server_;
  std::unique_ptr<EpochLog> log_;
};

}  // namespace afterbay::storage
