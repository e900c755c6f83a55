// SPDX-License-Identifier: Apache-2.0
#include "storage/cdf/cdf_store.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "storage/cdf/header.hpp"
#include "storage/cdf/limits.hpp"
#include "storage/fill.hpp"
#include "storage/ledger.hpp"
#include "storage/open_part.hpp"
#include "storage/record_reach.hpp"
#include "storage/structure/build_structure.hpp"

namespace afterbay::storage {
namespace {

/// Up to this size never-written records are filled many at a time.
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
        striping_(std::move(opened.striping)) {}

  /// Writes or reads the header, and writes the constant values of a new file.
  Result<> begin() {
    if (!appended_) {
      AFTERBAY_TRY_ASSIGN(const Structure structure, build_structure(schema_, *layout_, part_.directory()));
      AFTERBAY_TRY_ASSIGN(header_, parse_structure(structure));
      header_bytes_ = schema_.variables.empty() ? structure.size_bytes : header_.first_byte_of_data();
      AFTERBAY_TRY(copy_structure(structure, header_bytes_, *writer_));
    } else {
      AFTERBAY_TRY_ASSIGN(header_, read_cdf_header(*writer_));
      AFTERBAY_TRY_ASSIGN(header_bytes_, writer_->size_bytes());
      if (!schema_.variables.empty()) header_bytes_ = header_.first_byte_of_data();
    }
    AFTERBAY_TRY(find_variables());
    ledger_.emplace(*layout_, appended_ ? header_.records : 0, appended_);
    return appended_ ? Result<>{} : write_constants();
  }

  [[nodiscard]] std::uint64_t records() const override { return appended_ ? header_.records : 0; }

  Result<WriteCost> write(std::span<const PieceWrite> pieces) override {
    if (!writer_) return fail(closed_error(part_.path()));
    return in_file(write_pieces(pieces), part_.path());
  }

  Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t,
                                  std::span<const std::string> values) override {
    AFTERBAY_TRY(check_strings(*layout_, schema_, variable, values.size()));
    return fail(make_error(ErrorCode::wrong_type, "{} files cannot hold strings", name_of(layout_->format))
                    .in_file(part_.path()));
  }

  Result<WriteCost> publish() override {
    if (!writer_) return fail(closed_error(part_.path()));
    auto cost = in_file(finish(), part_.path());
    abandon();
    return cost;
  }

  void abandon() noexcept override {
    writer_.reset();
    part_.close();
  }

  /// Takes back a file that could not be begun.
  void discard() noexcept {
    writer_.reset();
    part_.discard();
  }

  [[nodiscard]] std::string engine() const override {
    return writer_ && writer_->direct() ? "direct" : "buffered";
  }
  [[nodiscard]] Striping striping() const override { return striping_; }

 private:
  Result<CdfHeader> parse_structure(const Structure& structure) {
    AFTERBAY_TRY_ASSIGN(auto memory, BlockWriter::open(structure.file.get(), "the temporary structure",
                                                       DirectIo::off, Disk::real()));
    return read_cdf_header(*memory);
  }

  Result<> find_variables() {
    for (const Variable& variable : schema_.variables) {
      const CdfVariable* found = header_.find(variable.name);
      if (found == nullptr)
        return fail(make_error(ErrorCode::format, "variable '{}' is not in the file's header", variable.name)
                        .in_variable(variable.name));
      begins_.push_back(found->begin);
    }
    return {};
  }

  [[nodiscard]] std::uint64_t offset_of(const model::Piece& piece, std::uint64_t record) const {
    const std::uint64_t record_offset =
        layout_->variables[piece.variable].record ? record * header_.record_bytes : 0;
    return begins_[piece.variable] + record_offset + piece.slab_offset;
  }

  Result<> check_record(std::uint32_t variable, std::uint64_t record) const {
    AFTERBAY_TRY(check_reach(schema_, *layout_, variable, record, ledger_->records(),
                             [this] { return writer_->free_bytes(); }));
    if (!layout_->variables[variable].record || record < most_records(layout_->format)) return {};
    const std::string& name = schema_.variables[variable].name;
    return fail(make_error(ErrorCode::invalid_argument,
                           "record {} of variable '{}' is more than a {} file can count", record, name,
                           name_of(layout_->format))
                    .in_variable(name));
  }

  Result<WriteCost> write_pieces(std::span<const PieceWrite> pieces) {
    AFTERBAY_TRY(check_pieces(*layout_, schema_, pieces));
    WriteCost cost;
    std::vector<Extent> extents;
    extents.reserve(pieces.size());
    for (const PieceWrite& write : pieces) {
      AFTERBAY_TRY(check_record(write.piece->variable, write.record));
      extents.push_back({offset_of(*write.piece, write.record), write.bytes});
      cost.bytes_in += write.bytes.size();
    }
    AFTERBAY_TRY(writer_->write(extents, cost));
    for (const PieceWrite& write : pieces) ledger_->mark(*write.piece, write.record);
    return cost;
  }

  Result<> write_constants() {
    for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
      const Variable& variable = schema_.variables[v];
      if (variable.constant.empty()) continue;
      std::vector<std::byte> bytes = variable.constant.bytes;
      to_file_order(bytes, size_of(variable.type), true);
      AFTERBAY_TRY(writer_->write_structure(begins_[v], bytes));
    }
    return {};
  }

  Result<> fill_missing(WriteCost& cost) {
    std::vector<std::optional<FillPattern>> patterns(schema_.variables.size());
    const auto fill_piece = [&](const model::Piece& piece, std::uint64_t record) -> Result<> {
      auto& pattern = patterns[piece.variable];
      if (!pattern) pattern.emplace(schema_.variables[piece.variable], true);
      const std::uint64_t offset = offset_of(piece, record);
      const Extent extent{offset, pattern->at(offset, piece.bytes)};
      return writer_->write({&extent, 1}, cost);
    };
    if (header_.record_bytes > most_small_record_bytes) return ledger_->for_each_missing(fill_piece);
    std::vector<std::byte> records;
    return ledger_->for_each_missing(fill_piece, [&](std::uint64_t first, std::uint64_t count) {
      return fill_records(first, count, records, cost);
    });
  }

  /// Small records of which nothing was written, many in one write. `records` is kept between calls: as
  /// many whole records as one write takes, full of fill values.
  Result<> fill_records(std::uint64_t first, std::uint64_t count, std::vector<std::byte>& records,
                        WriteCost& cost) {
    const std::uint64_t step = std::max<std::uint64_t>(1, most_fill_bytes / header_.record_bytes);
    const std::uint64_t begin = first_byte_of_records();
    if (records.empty()) records = records_of_fill(step, begin);
    for (const std::uint64_t end = first + count; first < end; first += step) {
      const std::uint64_t bytes = std::min(step, end - first) * header_.record_bytes;
      const Extent extent{begin + first * header_.record_bytes, std::span(records).first(bytes)};
      AFTERBAY_TRY(writer_->write({&extent, 1}, cost));
    }
    return {};
  }

  [[nodiscard]] std::uint64_t first_byte_of_records() const {
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t v = 0; v < begins_.size(); ++v)
      if (layout_->variables[v].record) begin = std::min(begin, begins_[v]);
    return begin;
  }

  [[nodiscard]] std::vector<std::byte> records_of_fill(std::uint64_t count, std::uint64_t begin) const {
    std::vector<std::byte> records(count * header_.record_bytes);
    for (std::size_t v = 0; v < begins_.size(); ++v) {
      if (!layout_->variables[v].record) continue;
      const FillPattern pattern(schema_.variables[v], true);
      const std::uint64_t bytes = layout_->variables[v].shape.product() * size_of(schema_.variables[v].type);
      for (std::uint64_t r = 0; r < count; ++r)
        pattern.apply(std::span(records).subspan(begins_[v] - begin + r * header_.record_bytes, bytes));
    }
    return records;
  }

  Result<WriteCost> finish() {
    WriteCost cost;
    AFTERBAY_TRY(fill_missing(cost));
    const std::uint64_t count = ledger_->records();
    AFTERBAY_TRY(writer_->write_structure(4, encode_record_count(header_.version, count)));
    AFTERBAY_TRY(writer_->truncate(header_.file_bytes(count, header_bytes_)));
    AFTERBAY_TRY(part_.publish());
    return cost;
  }

  Schema schema_;
  std::shared_ptr<const model::FileLayout> layout_;
  PartFile part_;
  std::unique_ptr<BlockWriter> writer_;
  bool appended_;
  Striping striping_;
  CdfHeader header_;
  std::uint64_t header_bytes_ = 0;
  std::vector<std::uint64_t> begins_;  ///< offset of each schema variable
  std::optional<Ledger> ledger_;
};

}  // namespace

Result<std::unique_ptr<File>> CdfStore::create(const FileRequest& request) {
  AFTERBAY_TRY(check_request(request, format_));
  AFTERBAY_TRY(in_file(check_classic_limits(request.schema, *request.layout), request.path));
  AFTERBAY_TRY_ASSIGN(OpenPart opened, open_part(request));
  auto file = std::make_unique<CdfFile>(request, std::move(opened));
  if (auto begun = in_file(file->begin(), request.path); !begun) {
    file->discard();
    return fail(std::move(begun).error());
  }
  return file;
}

}  // namespace afterbay::storage
