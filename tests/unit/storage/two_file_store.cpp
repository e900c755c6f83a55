// SPDX-License-Identifier: Apache-2.0
#include "unit/storage/two_file_store.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "storage/block_writer/block_writer.hpp"
#include "storage/block_writer/part_directory.hpp"
#include "storage/open_part.hpp"

namespace afterbay::test {
namespace {

constexpr const char* structure_name = "structure";
constexpr const char* data_name = "values/data";

class TwoFiles : public storage::File {
 public:
  TwoFiles(const storage::FileRequest& request, storage::PartDirectory part)
      : schema_(request.schema),
        layout_(request.layout),
        direct_io_(request.direct_io),
        checksum_(request.checksum),
        part_(std::move(part)) {
    for (const model::VariableLayout& it : layout_->variables) {
      std::uint64_t& section = it.record ? record_bytes_ : fixed_bytes_;
      begins_.push_back(section);
      section += it.shape.product() * 4;
    }
  }

  Result<> begin() {
    AFTERBAY_TRY_ASSIGN(structure_, create(structure_name));
    AFTERBAY_TRY_ASSIGN(data_, create(data_name));
    return {};
  }

  [[nodiscard]] std::uint64_t records() const override { return 0; }

  Result<storage::WriteCost> write(std::span<const storage::PieceWrite> pieces) override {
    if (!data_.writer) return fail(storage::closed_error(part_.path()));
    AFTERBAY_TRY(storage::check_pieces(*layout_, schema_, pieces));
    std::vector<storage::Extent> extents;
    storage::WriteCost cost;
    for (const storage::PieceWrite& it : pieces) {
      extents.push_back({offset_of(it.piece, it.record), it.bytes});
      if (layout_->variables[it.piece.variable].record) reach(it.record + 1);
      cost.bytes_in += it.bytes.size();
    }
    AFTERBAY_TRY(data_.writer->write(extents, cost));
    return cost;
  }

  Result<storage::WriteCost> write_strings(std::uint32_t, std::uint64_t,
                                           std::span<const std::string>) override {
    return fail(make_error(ErrorCode::wrong_type, "the test store holds no strings").in_file(part_.path()));
  }

  void reach(std::uint64_t records) override {
    std::uint64_t now = records_;
    while (now < records && !records_.compare_exchange_weak(now, records)) {
    }
  }

  Result<storage::Published> finish() override {
    if (!data_.writer) return fail(storage::closed_error(part_.path()));
    auto published = storage::in_file(complete(), part_.path());
    close_files();
    if (!published) part_.close();
    return published;
  }
  storage::Artifact* part() noexcept override { return &part_; }

  void give_back_space() noexcept override { part_.give_back_space(); }
  void abandon() noexcept override {
    close_files();
    part_.close();
  }
  void discard() noexcept {
    close_files();
    part_.discard();
  }
  [[nodiscard]] std::string engine() const override { return "buffered"; }

 private:
  struct OpenFile {
    storage::Descriptor descriptor;
    std::unique_ptr<storage::BlockWriter> writer;
  };

  Result<OpenFile> create(const char* name) {
    OpenFile made;
    AFTERBAY_TRY_ASSIGN(made.descriptor, part_.create_file(name));
    AFTERBAY_TRY_ASSIGN(made.writer, storage::BlockWriter::open(made.descriptor.get(), part_.file_path(name),
                                                                direct_io_, part_.shared_disk()));
    if (checksum_) made.writer->keep_checksum();
    return made;
  }

  [[nodiscard]] std::uint64_t offset_of(const model::Piece& piece, std::uint64_t record) const {
    const bool has_records = layout_->variables[piece.variable].record;
    return begins_[piece.variable] + layout_->slab_offset(piece) +
           (has_records ? fixed_bytes_ + record * record_bytes_ : 0);
  }

  Result<storage::Published> complete() {
    std::string text;
    for (std::size_t v = 0; v < schema_.variables.size(); ++v)
      text += fmt::format("{} {} {}\n", schema_.variables[v].name, name_of(schema_.variables[v].type),
                          layout_->variables[v].shape.product() * 4);
    text += fmt::format("records {}\n", records_.load());
    storage::Published published;
    published.records = records_;
    AFTERBAY_TRY(structure_.writer->write_structure(0, std::as_bytes(std::span(text))));
    std::vector<ArtifactFile> files;
    AFTERBAY_TRY_ASSIGN(files.emplace_back(), end(structure_, structure_name, text.size()));
    AFTERBAY_TRY_ASSIGN(files.emplace_back(),
                        end(data_, data_name, fixed_bytes_ + published.records * record_bytes_));
    storage::set_files(published, std::move(files));
    return published;
  }

  static Result<ArtifactFile> end(const OpenFile& file, const char* name, std::uint64_t bytes) {
    ArtifactFile ended{name, bytes};
    AFTERBAY_TRY(file.writer->truncate(bytes));
    AFTERBAY_TRY_ASSIGN(ended.checksum, file.writer->finish_checksum());
    return ended;
  }

  void close_files() noexcept {
    structure_ = {};
    data_ = {};
  }

  Schema schema_;
  std::shared_ptr<const model::FileLayout> layout_;
  DirectIo direct_io_;
  bool checksum_;
  storage::PartDirectory part_;
  OpenFile structure_;
  OpenFile data_;
  std::uint64_t fixed_bytes_ = 0;
  std::uint64_t record_bytes_ = 0;
  std::vector<std::uint64_t> begins_;
  std::atomic<std::uint64_t> records_{0};
};

std::vector<std::byte> big_endian(float value, std::uint64_t bytes) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = std::byte((bits >> (24 - 8 * (i % 4))) & 0xff);
  return made;
}

}  // namespace

Result<std::unique_ptr<storage::File>> TwoFileStore::create(const storage::FileRequest& request) {
  AFTERBAY_TRY(storage::check_request(request, Format::cdf5));
  storage::FileRequest claim = request;
  if (disk_) claim.disk = disk_;
  AFTERBAY_TRY_ASSIGN(storage::PartDirectory part,
                      storage::in_file(storage::PartDirectory::claim(claim), request.path));
  auto files = std::make_unique<TwoFiles>(request, std::move(part));
  if (auto begun = storage::in_file(files->begin(), request.path); !begun) {
    files->discard();
    return fail(std::move(begun).error());
  }
  return files;
}

storage::FileRequest TwoFileStore::request(const std::string& path, storage::Existing existing,
                                           std::uint64_t points) {
  storage::FileRequest request;
  request.path = path;
  request.schema.dimension("time", unlimited).dimension("x", points);
  request.schema.variable("T", Type::float32, {"time", "x"});
  request.schema.variable("z", Type::float32, {"x"});
  auto layout = model::make_layout(request.schema, Format::cdf5, {});
  request.layout = std::make_shared<const model::FileLayout>(std::move(layout.value()));
  request.existing = existing;
  request.direct_io = DirectIo::off;
  request.checksum = true;
  return request;
}

Result<> TwoFileStore::write(storage::File& file, const storage::FileRequest& request, float value,
                             std::uint64_t records) {
  for (const model::Piece& piece : request.layout->pieces) {
    const bool has_records = request.layout->variables[piece.variable].record;
    const std::vector<std::byte> bytes = big_endian(value, piece.bytes);
    for (std::uint64_t record = 0; record < (has_records ? records : 1); ++record) {
      const storage::PieceWrite write{piece, record, bytes};
      AFTERBAY_TRY(file.write({&write, 1}));
    }
  }
  return {};
}

std::vector<float> TwoFileStore::read(const std::string& path) {
  std::ifstream file(path + "/" + data_name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<float> values(bytes.size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = 0;
    for (std::size_t b = 0; b < 4; ++b) bits = bits << 8 | static_cast<unsigned char>(bytes[4 * i + b]);
    values[i] = std::bit_cast<float>(bits);
  }
  return values;
}

}  // namespace afterbay::test
