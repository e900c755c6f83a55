// SPDX-License-Identifier: Apache-2.0
#include "storage/cdf/cdf_store.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "storage/cdf/cdf_member.hpp"
#include "storage/cdf/cdf_pieces.hpp"
#include "storage/cdf/header.hpp"
#include "storage/cdf/limits.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/fill.hpp"
#include "storage/ledger.hpp"
#include "storage/member_file.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {
namespace {

/// Up to this size, several never-written records are filled with one write.
constexpr std::uint64_t most_small_record_bytes = 1u << 20;
constexpr std::uint64_t most_fill_bytes = 4u << 20;

class CdfFile : public File {
 public:
  CdfFile(const FileRequest& request, OpenPart opened)
      : schema_(request.schema),
        layout_(request.layout),
        part_(std::move(opened.part)),
        writer_(std::move(opened.writer)),
        appended_(opened.appended),
        readable_(request.readable),
        epochs_(request.epochs),
        striping_(std::move(opened.striping)) {}

  /// Writes or reads the header, and writes the constant values of a new file.
  Result<> begin(StructureCache<CdfStructure>& structures) {
    if (!appended_) {
      AFTERBAY_TRY_ASSIGN(const auto structure, structures.get(schema_, layout_, [this] {
        return make_cdf_structure(schema_, *layout_);
      }));
      header_ = structure->header;
      header_bytes_ = structure->image.size();
      AFTERBAY_TRY(writer_->write_structure(0, structure->image));
    } else {
      AFTERBAY_TRY_ASSIGN(header_, read_cdf_header(*writer_));
      AFTERBAY_TRY_ASSIGN(header_bytes_, writer_->size_bytes());
      AFTERBAY_TRY(check_whole(header_bytes_));
      if (!schema_.variables.empty()) header_bytes_ = header_.first_byte_of_data();
    }
    AFTERBAY_TRY(find_variables());
    ledger_.emplace(*layout_, appended_ ? header_.records : 0, appended_, epochs_);
    pieces_.emplace(schema_, *layout_, offsets_, *writer_, *ledger_);
    return appended_ ? Result<>{} : write_constants();
  }

  [[nodiscard]] std::uint64_t records() const override { return appended_ ? header_.records : 0; }

  Result<WriteCost> write(std::span<const PieceWrite> pieces) override {
    if (!writer_) return fail(closed_error(part_.path()));
    std::shared_lock<std::shared_mutex> write(writes_, std::defer_lock);
    if (readable_) write.lock();
    return in_file(write_pieces(pieces), part_.path());
  }

  Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t,
                                  std::span<const std::string> values) override {
    AFTERBAY_TRY(check_strings(*layout_, schema_, variable, values.size()));
    return fail(make_error(ErrorCode::wrong_type, "{} files cannot hold strings", name_of(layout_->format))
                    .in_file(part_.path()));
  }

  void reach(std::uint64_t records) override { ledger_->reach(records); }

  Result<> note_errors(const model::LargestErrors& errors) override {
    errors_ = errors;
    return {};
  }

  Result<Published> finish() override {
    if (!writer_) return fail(closed_error(part_.path()));
    auto published = in_file(complete(), part_.path());
    close_writer();
    if (!published) part_.close();
    return published;
  }
  PartFile* part() noexcept override { return &part_; }

  Result<std::vector<std::byte>> share() override {
    if (!writer_) return fail(closed_error(part_.path()));
    if (appended_) return fail(appended_error(part_.path()));
    if (readable_) return fail(readable_error(part_.path()));
    AFTERBAY_TRY(in_file(writer_->share(), part_.path()));
    return seal(offsets_, LeaderPart::of(part_.descriptor(), writer_->direct()), *layout_);
  }

  Result<std::vector<std::uint64_t>> place(std::span<const PlaceRequest>) override {
    return fail(make_error(ErrorCode::bad_state,
                           "{}: positions in {} files follow from their header and need not be requested",
                           part_.path(), name_of(layout_->format))
                    .in_file(part_.path()));
  }

  Result<> take(std::span<const std::byte> account) override {
    if (!writer_) return fail(closed_error(part_.path()));
    return in_file(take_account(account, *ledger_, writer_->checksum()), part_.path());
  }

  Result<WriteCost> mark_epoch(const Epoch& epoch, std::span<const MemberEpoch> members) override {
    if (!writer_) return fail(closed_error(part_.path()));
    return in_file(mark(epoch, members), part_.path());
  }

  void abandon() noexcept override {
    close_writer();
    part_.close();
  }

  void give_back_space() noexcept override { part_.give_back_space(); }

  /// Removes a file that could not be begun.
  void discard() noexcept {
    close_writer();
    part_.discard();
  }

  [[nodiscard]] std::string engine() const override {
    return writer_ && writer_->direct() ? "direct" : "buffered";
  }
  [[nodiscard]] Striping striping() const override { return striping_; }

 private:
  void close_writer() noexcept {
    pieces_.reset();
    writer_.reset();
  }

  Result<> find_variables() {
    offsets_.record_bytes = header_.record_bytes;
    for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
      const Variable& variable = schema_.variables[v];
      const bool in_order = v < header_.variables.size() && header_.variables[v].name == variable.name;
      const CdfVariable* found = in_order ? &header_.variables[v] : header_.find(variable.name);
      if (found == nullptr)
        return fail(make_error(ErrorCode::format, "variable '{}' is not in the file's header", variable.name)
                        .in_variable(variable.name));
      offsets_.begins.push_back(found->begin);
    }
    return {};
  }

  Result<WriteCost> write_pieces(std::span<const PieceWrite> pieces) {
    AFTERBAY_TRY(check_pieces(*layout_, schema_, pieces));
    WriteCost cost;
    for (const PieceWrite& write : pieces) cost.bytes_in += write.bytes.size();
    if (appended_ && log_) AFTERBAY_TRY(keep_older_values(pieces));
    AFTERBAY_TRY(pieces_->write(pieces, cost));
    for (const PieceWrite& write : pieces) ledger_->mark(write.piece, write.record, write.epochs);
    return cost;
  }

  /// Epochs of this run need the values that the file held before: logs values that are about to be
  /// overwritten.
  Result<> keep_older_values(std::span<const PieceWrite> pieces) {
    bool kept = false;
    std::vector<std::byte> bytes;
    for (const PieceWrite& write : pieces) {
      if (layout_->variables[write.piece.variable].record && write.record >= header_.records) continue;
      const std::uint64_t offset = offsets_.offset_of(*layout_, write.piece, write.record);
      bytes.resize(write.piece.bytes);
      AFTERBAY_TRY(writer_->read(offset, bytes));
      AFTERBAY_TRY(log_->add_before(offset, bytes));
      AFTERBAY_TRY(log_->add(LoggedData{offset, bytes.size()}));
      kept = true;
    }
    return kept ? log_->sync() : Result<>();
  }

  Result<> write_constants() {
    WriteCost cost;
    for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
      const Variable& variable = schema_.variables[v];
      if (variable.constant.empty()) continue;
      std::vector<std::byte> bytes = variable.constant.bytes;
      to_file_order(bytes, size_of(variable.type), true);
      const Extent extent{offsets_.begins[v], bytes};
      AFTERBAY_TRY(writer_->write({&extent, 1}, cost));
    }
    return {};
  }

  Result<> fill_missing(WriteCost& cost) {
    std::vector<std::optional<FillPattern>> patterns(schema_.variables.size());
    const auto fill_piece = [&](const model::Piece& piece, std::uint64_t record) -> Result<> {
      auto& pattern = patterns[piece.variable];
      if (!pattern) pattern.emplace(schema_.variables[piece.variable], true);
      const std::uint64_t offset = offsets_.offset_of(*layout_, piece, record);
      const Extent extent{offset, pattern->at(offset, piece.bytes)};
      return writer_->write({&extent, 1}, cost);
    };
    if (header_.record_bytes > most_small_record_bytes) return ledger_->for_each_missing(fill_piece);
    std::vector<std::byte> records;
    return ledger_->for_each_missing(fill_piece, [&](std::uint64_t first, std::uint64_t count) {
      return fill_records(first, count, records, cost);
    });
  }

  /// Fills small records of which nothing was written, several per write. `records` is kept between
  /// calls: as many whole records as one write contains, full of fill values.
  Result<> fill_records(std::uint64_t first, std::uint64_t count, std::vector<std::byte>& records,
                        WriteCost& cost) {
    const std::uint64_t step = std::max<std::uint64_t>(1, most_fill_bytes / header_.record_bytes);
    const std::uint64_t begin = offsets_.first_byte_of_records(*layout_);
    if (records.empty()) records = records_of_fill(step, begin);
    for (const std::uint64_t end = first + count; first < end; first += step) {
      const std::uint64_t bytes = std::min(step, end - first) * header_.record_bytes;
      const Extent extent{begin + first * header_.record_bytes, std::span(records).first(bytes)};
      AFTERBAY_TRY(writer_->write({&extent, 1}, cost));
    }
    return {};
  }

  [[nodiscard]] std::vector<std::byte> records_of_fill(std::uint64_t count, std::uint64_t begin) const {
    std::vector<std::byte> records(count * header_.record_bytes);
    for (std::size_t v = 0; v < offsets_.begins.size(); ++v) {
      if (!layout_->variables[v].record) continue;
      const FillPattern pattern(schema_.variables[v], true);
      const std::uint64_t bytes = layout_->variables[v].shape.product() * size_of(schema_.variables[v].type);
      for (std::uint64_t r = 0; r < count; ++r)
        pattern.apply(
            std::span(records).subspan(offsets_.begins[v] - begin + r * header_.record_bytes, bytes));
    }
    return records;
  }

  /// Passes the offset and the bytes of each number in the header to `write`.
  template <class Write>
  Result<> for_each_error(Write&& write) const {
    for (const model::LargestError& it : errors_) {
      const CdfVariable* const found = header_.find(schema_.variables[it.variable].name);
      if (found == nullptr || found->largest_error_at == 0) continue;
      if (appended_) {
        std::array<std::byte, sizeof(double)> known{};
        AFTERBAY_TRY(writer_->read(found->largest_error_at, known));
        if (decode_number(known) > it.value) continue;
      }
      AFTERBAY_TRY(write(found->largest_error_at, encode_number(it.value)));
    }
    return {};
  }

  Result<> write_errors() {
    return for_each_error([this](std::uint64_t offset, const std::vector<std::byte>& bytes) {
      return writer_->write_structure(offset, bytes);
    });
  }

  /// The header contains the number of records when the file is complete; until then the log does,
  /// and the header of a readable file.
  Result<WriteCost> mark(const Epoch& epoch, std::span<const MemberEpoch> members) {
    WriteCost cost;
    const auto written = ledger_->copy(epoch.records);
    for (const MemberEpoch& member : members) AFTERBAY_TRY(take_member_epoch(member.account, *written));
    written->leave_out(epoch.number);
    ledger_->settle(epoch.number);
    ledger_->reach(epoch.records);
    if (!log_) {
      AFTERBAY_TRY_ASSIGN(
          log_, EpochLog::create(part_.part_path(), std::nullopt, part_.shared_disk(), part_.descriptor()));
    }
    AFTERBAY_TRY(log_->add_structure(4, encode_record_count(header_.version, epoch.records)));
    AFTERBAY_TRY(
        for_each_error([this](std::uint64_t offset, const std::vector<std::byte>& bytes) -> Result<> {
          AFTERBAY_TRY(log_->add_structure(offset, bytes));
          return {};
        }));
    LoggedEpoch marked;
    marked.epoch = epoch;
    marked.format = layout_->format;
    marked.size_bytes = header_.file_bytes(epoch.records, header_bytes_);
    marked.cut = log_->end();
    AFTERBAY_TRY(written->for_each_missing([&](const model::Piece& piece, std::uint64_t record) -> Result<> {
      const Variable& variable = schema_.variables[piece.variable];
      std::vector<std::byte> element = fill_of(variable).bytes;
      to_file_order(element, element.size(), true);
      return log_->add(
          LoggedFill{offsets_.offset_of(*layout_, piece, record), piece.bytes, std::move(element)});
    }));
    AFTERBAY_TRY(writer_->sync());
    AFTERBAY_TRY(log_->commit(marked));
    if (readable_) AFTERBAY_TRY(show(epoch.records, cost));
    return cost;
  }

  /// Writes fill values for missing data, then the number of records, which is one write of 4 or 8
  /// bytes.
  Result<> show(std::uint64_t records, WriteCost& cost) {
    const std::unique_lock<std::shared_mutex> alone(writes_);
    AFTERBAY_TRY(fill_missing(cost));
    AFTERBAY_TRY(write_errors());
    return writer_->write_structure(4, encode_record_count(header_.version, records));
  }

  /// A file that is appended to must be complete: zeros must not replace values that were cut off.
  Result<> check_whole(std::uint64_t size_bytes) const {
    const std::uint64_t end = header_.end_of_values();
    if (end <= size_bytes) return {};
    return fail(
        make_error(ErrorCode::format,
                   "nothing can be appended: by its header ({} records) its values end at byte {}, "
                   "but the file has {} bytes: it is damaged or was cut off; restore it, or start a new "
                   "file",
                   header_.records, end, size_bytes)
            .in_file(part_.path()));
  }

  Result<Published> complete() {
    Published published;
    AFTERBAY_TRY(fill_missing(published.cost));
    published.records = ledger_->records();
    AFTERBAY_TRY(write_errors());
    AFTERBAY_TRY(writer_->write_structure(4, encode_record_count(header_.version, published.records)));
    published.size_bytes = header_.file_bytes(published.records, header_bytes_);
    AFTERBAY_TRY(writer_->truncate(published.size_bytes));
    AFTERBAY_TRY_ASSIGN(published.checksum, writer_->finish_checksum());
    return published;
  }

  Schema schema_;
  std::shared_ptr<const model::FileLayout> layout_;
  PartFile part_;
  std::unique_ptr<BlockWriter> writer_;
  bool appended_;
  bool readable_;
  std::uint64_t epochs_;  ///< FileRequest::epochs
  /// In a readable file: shared by writes, exclusive while it is made readable.
  std::shared_mutex writes_;
  Striping striping_;
  CdfHeader header_;
  std::uint64_t header_bytes_ = 0;
  CdfOffsets offsets_;
  std::optional<Ledger> ledger_;
  std::optional<CdfPieces> pieces_;
  model::LargestErrors errors_;
  std::unique_ptr<EpochLog> log_;  ///< set after the first epoch
};

}  // namespace

Result<std::unique_ptr<File>> CdfStore::create(const FileRequest& request) {
  AFTERBAY_TRY(check_request(request, format_));
  AFTERBAY_TRY(in_file(check_classic_limits(request.schema, *request.layout), request.path));
  AFTERBAY_TRY_ASSIGN(OpenPart opened, open_part(request));
  auto file = std::make_unique<CdfFile>(request, std::move(opened));
  if (auto begun = in_file(file->begin(structures_), request.path); !begun) {
    file->discard();
    return fail(std::move(begun).error());
  }
  return file;
}

void CdfStore::prepare(const FileRequest& request) {
  if (!check_definition(request, format_) || !check_classic_limits(request.schema, *request.layout)) return;
  static_cast<void>(structures_.get(request.schema, request.layout, [&request] {
    return make_cdf_structure(request.schema, *request.layout);
  }));
}

Result<std::unique_ptr<File>> CdfStore::join(const FileRequest& request, std::span<const std::byte> share,
                                             std::shared_ptr<Placer>) {
  AFTERBAY_TRY(check_request(request, format_));
  AFTERBAY_TRY_ASSIGN(CdfShare opened, in_file(open_cdf_share(share, *request.layout), request.path));
  AFTERBAY_TRY_ASSIGN(MemberPart part, in_file(MemberPart::open(request, opened.part), request.path));
  return std::make_unique<CdfMember>(request, std::move(part), std::move(opened.offsets));
}

std::unique_ptr<Store> make_cdf5_store() { return std::make_unique<CdfStore>(Format::cdf5); }
std::unique_ptr<Store> make_cdf2_store() { return std::make_unique<CdfStore>(Format::cdf2); }

}  // namespace afterbay::storage
