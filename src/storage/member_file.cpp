// SPDX-License-Identifier: Apache-2.0
#include "storage/member_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "storage/block_writer/system_error.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {
namespace {

tl::unexpected<Error> leader_only(const std::string& path, const char* what) {
  return fail(make_error(ErrorCode::bad_state, "{} was created by another server: {} is left to that server",
                         path, what)
                  .in_file(path));
}

constexpr std::size_t length_bytes = 8;

}  // namespace

std::vector<std::byte> member_account(const Ledger& ledger, const FileChecksum* checksum) {
  const std::vector<std::byte> pieces = ledger.sealed();
  std::vector<std::byte> account;
  std::uint64_t length = pieces.size();
  for (std::size_t i = 0; i < length_bytes; ++i, length >>= 8)
    account.push_back(static_cast<std::byte>(length & 0xff));
  account.insert(account.end(), pieces.begin(), pieces.end());
  if (checksum == nullptr) return account;
  const std::vector<std::byte> sums = checksum->sealed();
  account.insert(account.end(), sums.begin(), sums.end());
  return account;
}

namespace {

/// Splits an account into the part about pieces and the rest.
Result<std::pair<std::span<const std::byte>, std::span<const std::byte>>> parts_of(
    std::span<const std::byte> account) {
  std::uint64_t length = 0;
  for (std::size_t i = std::min(length_bytes, account.size()); i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(account[i]);
  if (account.size() < length_bytes || length > account.size() - length_bytes)
    return fail(
        ErrorCode::format,
        "the account of a shared file that another server sent is incomplete: run the same version of "
        "the library on all servers");
  return std::pair(account.subspan(length_bytes, length), account.subspan(length_bytes + length));
}

}  // namespace

Result<> take_member_epoch(std::span<const std::byte> account, Ledger& written) {
  AFTERBAY_TRY_ASSIGN(const auto parts, parts_of(account));
  return written.take_first_records(parts.first);
}

Result<> take_account(std::span<const std::byte> account, Ledger& ledger, FileChecksum* checksum) {
  AFTERBAY_TRY_ASSIGN(const auto parts, parts_of(account));
  const auto [pieces, sums] = parts;
  if (!sums.empty()) {
    FileChecksum trial;
    AFTERBAY_TRY(trial.take(sums));
  }
  AFTERBAY_TRY(ledger.take(pieces));
  if (checksum == nullptr || sums.empty()) return {};
  return checksum->take(sums);
}

Result<MemberPart> MemberPart::open(const FileRequest& request, const LeaderPart& leader) {
  MemberPart part{request.path, request.disk ? request.disk : Disk::real(), {}, nullptr};
  const std::string name = part_path(request.path);
  part.file = Descriptor(part.disk->open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0));
  if (!part.file.open()) {
    const int number = errno;
    return fail(
        system_error(number, "join", name)
            .in_file(request.path)
            .add("another server has created it: all servers that write one file must see the same file "
                 "system under the same name"));
  }
  if (!leader.is(part.file.get()))
    return fail(
        make_error(ErrorCode::conflict,
                   "{} was removed, renamed or replaced since another server of this run created it: does "
                   "another run write files of the same name, or does somebody clean up in this directory?",
                   name)
            .in_file(request.path));
  if (const int number = lock_member(part.file.get()); number != 0 && !has_no_locks(number))
    return fail(
        system_error(number, "lock", name).in_file(request.path).add("joining it: is it being recovered?"));
  const bool off = request.direct_io == DirectIo::automatic && !leader.direct;
  AFTERBAY_TRY_ASSIGN(part.writer, BlockWriter::open(part.file.get(), name,
                                                     off ? DirectIo::off : request.direct_io, part.disk));
  if (request.checksum) part.writer->keep_checksum();
  AFTERBAY_TRY(part.writer->share());
  return part;
}

MemberFile::MemberFile(const FileRequest& request, MemberPart part)
    : schema_(request.schema),
      layout_(request.layout),
      part_(std::move(part)),
      ledger_(*layout_, 0, false, request.epochs),
      server_(request.server) {}

Result<WriteCost> MemberFile::write(std::span<const PieceWrite> pieces) {
  if (!part_.writer) return fail(closed_error(part_.path));
  return in_file(write_pieces(pieces), part_.path);
}

Result<WriteCost> MemberFile::write_pieces(std::span<const PieceWrite> pieces) {
  AFTERBAY_TRY(check_pieces(*layout_, schema_, pieces));
  WriteCost cost;
  for (const PieceWrite& write : pieces) cost.bytes_in += write.bytes.size();
  AFTERBAY_TRY(put(pieces, cost));
  for (const PieceWrite& write : pieces) ledger_.mark(write.piece, write.record, write.epochs);
  return cost;
}

Result<WriteCost> MemberFile::write_strings(std::uint32_t, std::uint64_t, std::span<const std::string>) {
  return leader_only(part_.path, "writing strings");
}

Result<Published> MemberFile::finish() { return leader_only(part_.path, "publishing"); }

Result<std::vector<std::byte>> MemberFile::hand_over() {
  if (!part_.writer) return fail(closed_error(part_.path));
  auto account = in_file(complete(), part_.path);
  abandon();
  return account;
}

Result<std::vector<std::byte>> MemberFile::complete() {
  WriteCost cost;
  AFTERBAY_TRY(put_rest(cost));
  AFTERBAY_TRY(part_.writer->sync());
  return member_account(ledger_, part_.writer->checksum());
}

Result<MemberEpoch> MemberFile::mark_member_epoch(const Epoch& epoch) {
  if (!part_.writer) return fail(closed_error(part_.path));
  return in_file(mark(epoch), part_.path);
}

Result<MemberEpoch> MemberFile::mark(const Epoch& epoch) {
  const auto written = ledger_.copy(ledger_.records());
  written->leave_out(epoch.number);
  ledger_.settle(epoch.number);
  MemberEpoch part{server_, false, member_account(*written, nullptr)};
  AFTERBAY_TRY_ASSIGN(part.logged, log_rest(*written));
  AFTERBAY_TRY(part_.writer->sync());
  if (!part.logged) return part;
  LoggedEpoch marked;
  marked.epoch = epoch;
  AFTERBAY_TRY(log_->commit(marked));
  return part;
}

Result<EpochLog*> MemberFile::epoch_log() {
  if (!log_) {
    AFTERBAY_TRY_ASSIGN(log_, EpochLog::create(part_path(part_.path), server_, part_.disk, part_.file.get()));
  }
  return log_.get();
}

void MemberFile::abandon() noexcept {
  part_.writer.reset();
  part_.file.reset();
}

std::string MemberFile::engine() const {
  return part_.writer && part_.writer->direct() ? "direct" : "buffered";
}

}  // namespace afterbay::storage
