// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/netcdf4_file.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "storage/library_lock.hpp"
#include "storage/record_reach.hpp"
#include "storage/structure/build_structure.hpp"

namespace afterbay::storage {
namespace {

/// Adds the time until its end to a counter.
class Stopwatch {
 public:
  explicit Stopwatch(std::uint64_t& total_ns) : total_ns_(total_ns) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    total_ns_ += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_)
            .count());
  }

 private:
  std::uint64_t& total_ns_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Records that follow each other.
struct Run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

std::vector<Run> missing_runs(const Ledger& ledger, const model::Piece& piece, std::uint64_t first,
                              std::uint64_t end) {
  std::vector<Run> runs;
  for (std::uint64_t record = first; record < end; ++record) {
    if (ledger.has(piece, record)) continue;
    if (runs.empty() || runs.back().first + runs.back().count != record) runs.push_back({record, 0});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

Netcdf4File::Netcdf4File(const FileRequest& request, OpenPart opened)
    : schema_(request.schema),
      layout_(request.layout),
      part_(std::move(opened.part)),
      writer_(std::move(opened.writer)),
      appended_(opened.appended),
      striping_(std::move(opened.striping)),
      present_(opened.records),
      driver_(std::make_unique<FileDriver>(*writer_)),
      strings_written_(schema_.variables.size()),
      chunk_memory_(request.chunk_memory ? request.chunk_memory
                                         : std::make_shared<ByteAllowance>(default_chunk_memory_bytes)),
      assembly_(chunk_memory_),
      ledger_(*layout_, opened.records, opened.appended) {}

Result<> Netcdf4File::begin() {
  for (const Variable& variable : schema_.variables) fills_.emplace_back(variable, false);
  if (!appended_) {
    AFTERBAY_TRY_ASSIGN(const Structure structure, build_structure(schema_, *layout_, part_.directory()));
    AFTERBAY_TRY(copy_structure(structure, structure.size_bytes, *writer_));
  }
  return open_datasets();
}

Result<> Netcdf4File::open_datasets() {
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const Hdf5Id access, driver_->access_list());
  file_ = Hdf5Id(H5Fopen(writer_->path().c_str(), H5F_ACC_RDWR, access.get()));
  if (!file_.valid()) return fail(driver_->error("open the file"));
  datasets_.reserve(schema_.variables.size());
  for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
    AFTERBAY_TRY_ASSIGN(Dataset dataset,
                        Dataset::open(file_.get(), *driver_, schema_.variables[v], layout_->variables[v]));
    datasets_.push_back(std::move(dataset));
  }
  AFTERBAY_TRY(check_assembly());
  return driver_->check("open the file");
}

/// A chunk that could never be held is refused now, not when memory is short.
Result<> Netcdf4File::check_assembly() const {
  for (const model::Piece& piece : layout_->pieces) {
    const Dataset& dataset = datasets_[piece.variable];
    if (dataset.placement() != Placement::chunks || dataset.span() < 2 || !dataset.codec().active()) continue;
    const std::uint64_t most_bytes = chunk_memory_->limit_bytes();
    if (piece.bytes <= most_bytes / dataset.span()) continue;
    return fail(make_error(ErrorCode::resources,
                           "a compressed chunk of variable '{}' has {} records of {} bytes, more than the {} "
                           "bytes of memory for such chunks (memory.chunks): give it fewer records, or raise "
                           "the setting",
                           dataset.name(), dataset.span(), piece.bytes, most_bytes)
                    .in_variable(dataset.name()));
  }
  return {};
}

std::string Netcdf4File::engine() const { return writer_ && writer_->direct() ? "direct" : "buffered"; }

/// Chunks that hold records of before are left to HDF5, which knows what is in them.
Placement Netcdf4File::placement_of(const model::Piece& piece, std::uint64_t record) const {
  const Dataset& dataset = datasets_[piece.variable];
  if (dataset.placement() != Placement::chunks || !appended_) return dataset.placement();
  const bool old =
      !layout_->variables[piece.variable].record || record / dataset.span() * dataset.span() < present_;
  return old ? Placement::library : Placement::chunks;
}

/// Records that were never written take no room, so that only their number is checked.
Result<> Netcdf4File::check_record(std::uint32_t variable, std::uint64_t record) const {
  return check_reach(schema_, *layout_, variable, record, ledger_.records());
}

Result<WriteCost> Netcdf4File::write(std::span<const PieceWrite> pieces) {
  if (!writer_) return fail(closed_error(part_.path()));
  return in_file(write_pieces(pieces), part_.path());
}

Result<WriteCost> Netcdf4File::write_pieces(std::span<const PieceWrite> pieces) {
  AFTERBAY_TRY(check_pieces(*layout_, schema_, pieces));
  for (const PieceWrite& write : pieces) AFTERBAY_TRY(check_record(write.piece->variable, write.record));
  WriteCost cost;
  std::vector<Job> jobs;
  jobs.reserve(pieces.size());
  {
    const Stopwatch watch(cost.encode_ns);
    for (const PieceWrite& piece : pieces) {
      cost.bytes_in += piece.bytes.size();
      if (assembles(*piece.piece, piece.record)) continue;
      AFTERBAY_TRY_ASSIGN(Job job, prepare(piece));
      jobs.push_back(std::move(job));
    }
  }
  AFTERBAY_TRY(write_jobs(jobs, cost));
  for (const PieceWrite& piece : pieces)
    if (assembles(*piece.piece, piece.record)) AFTERBAY_TRY(assemble(piece, cost));
  for (const PieceWrite& piece : pieces) ledger_.mark(*piece.piece, piece.record);
  return cost;
}

Result<> Netcdf4File::write_jobs(std::span<const Job> jobs, WriteCost& cost) {
  if (jobs.empty()) return {};
  std::vector<Extent> extents;
  extents.reserve(jobs.size());
  {
    const Stopwatch watch(cost.place_ns);
    const LibraryLock lock;
    for (const Job& job : jobs) {
      AFTERBAY_TRY_ASSIGN(const Extent extent, place(job));
      extents.push_back(extent);
    }
    AFTERBAY_TRY(driver_->check("place data"));
  }
  return writer_->write(extents, cost);
}

/// Encodes what has filters; no lock is held.
Result<Netcdf4File::Job> Netcdf4File::prepare(const PieceWrite& piece) {
  Job job{piece, std::nullopt};
  const Dataset& dataset = datasets_[piece.piece->variable];
  if (placement_of(*piece.piece, piece.record) != Placement::chunks || !dataset.codec().active()) return job;
  AFTERBAY_TRY_ASSIGN(job.encoded, codec::encode(dataset.codec(), piece.bytes));
  return job;
}

bool Netcdf4File::assembles(const model::Piece& piece, std::uint64_t record) const {
  const Dataset& dataset = datasets_[piece.variable];
  return dataset.span() > 1 && dataset.codec().active() && placement_of(piece, record) == Placement::chunks;
}

class Netcdf4File::Home : public ChunkHome {
 public:
  Home(Netcdf4File& file, WriteCost& cost) : file_(file), cost_(cost) {}

  Result<> load(const ChunkKey& key, std::span<std::byte> chunk) override {
    auto loaded = read_back(key, chunk);
    if (loaded) return {};
    const std::string& name = file_.datasets_[key.variable].name();
    return fail(std::move(loaded).error().in_variable(name).add(fmt::format(
        "while reading back the chunk of variable '{}' that begins at record {}", name, key.first_record)));
  }

  Result<> store(const ChunkKey& key, std::span<const std::byte> chunk) override {
    Job job{{&piece(key), key.first_record, chunk}, std::nullopt};
    {
      const Stopwatch watch(cost_.encode_ns);
      AFTERBAY_TRY_ASSIGN(job.encoded, codec::encode(file_.datasets_[key.variable].codec(), chunk));
    }
    return file_.write_jobs({&job, 1}, cost_);
  }

 private:
  [[nodiscard]] const model::Piece& piece(const ChunkKey& key) const {
    return file_.layout_->pieces_of_variable(key.variable)[key.piece];
  }
  Result<> read_back(const ChunkKey& key, std::span<std::byte> chunk) {
    Dataset& dataset = file_.datasets_[key.variable];
    StoredChunk stored;
    {
      const Stopwatch watch(cost_.place_ns);
      const LibraryLock lock;
      AFTERBAY_TRY_ASSIGN(stored, dataset.find_chunk(piece(key), key.first_record));
    }
    const Stopwatch watch(cost_.encode_ns);
    codec::AlignedBuffer encoded(stored.size_bytes);
    AFTERBAY_TRY(file_.writer_->read(stored.offset, encoded.bytes()));
    const std::uint32_t skipped = codec::skipped_filters(dataset.codec(), stored.size_bytes, chunk.size());
    return codec::decode(dataset.codec(), std::as_const(encoded).bytes(), skipped, chunk);
  }

  Netcdf4File& file_;
  WriteCost& cost_;
};

Result<> Netcdf4File::assemble(const PieceWrite& piece, WriteCost& cost) {
  const std::uint32_t variable = piece.piece->variable;
  Home home(*this, cost);
  return assembly_.add(*piece.piece, piece.record, datasets_[variable].span(), piece.bytes, fills_[variable],
                       home);
}

/// Finds the place of a piece in the file; under a LibraryLock. What HDF5 wrote itself gives an empty
/// extent.
Result<Extent> Netcdf4File::place(const Job& job) {
  const model::Piece& piece = *job.piece.piece;
  Dataset& dataset = datasets_[piece.variable];
  switch (placement_of(piece, job.piece.record)) {
    case Placement::library:
      AFTERBAY_TRY(dataset.write_through(piece, job.piece.record, job.piece.bytes));
      return Extent{};
    case Placement::dense: {
      AFTERBAY_TRY_ASSIGN(const std::uint64_t offset,
                          dataset.place_dense(layout_->variables[piece.variable].slab_bytes));
      return Extent{offset + piece.slab_offset, job.piece.bytes};
    }
    case Placement::chunks: break;
  }
  if (!job.encoded && dataset.span() > 1) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t chunk, place_span(piece, job.piece.record));
    return Extent{chunk + job.piece.record % dataset.span() * piece.bytes, job.piece.bytes};
  }
  const std::span<const std::byte> bytes =
      job.encoded ? std::as_const(job.encoded->bytes).bytes() : job.piece.bytes;
  AFTERBAY_TRY_ASSIGN(
      const std::uint64_t offset,
      dataset.place_chunk(piece, job.piece.record, bytes, job.encoded ? job.encoded->skipped : 0));
  return Extent{offset, bytes};
}

/// Where the plain chunk of several records begins that holds `record`.
Result<std::uint64_t> Netcdf4File::place_span(const model::Piece& piece, std::uint64_t record) {
  Dataset& dataset = datasets_[piece.variable];
  AFTERBAY_TRY_ASSIGN(const PlaceholderBytes chunk, PlaceholderBytes::reserve(dataset.span() * piece.bytes));
  return dataset.place_chunk(piece, record, chunk.bytes(), 0);
}

Result<WriteCost> Netcdf4File::write_strings(std::uint32_t variable, std::uint64_t record,
                                             std::span<const std::string> values) {
  if (!writer_) return fail(closed_error(part_.path()));
  AFTERBAY_TRY(in_file(check_strings(*layout_, schema_, variable, values.size()), part_.path()));
  AFTERBAY_TRY(in_file(check_record(variable, record), part_.path()));
  WriteCost cost;
  {
    const Stopwatch watch(cost.place_ns);
    const LibraryLock lock;
    AFTERBAY_TRY(in_file(datasets_[variable].write_strings(record, values), part_.path()));
    AFTERBAY_TRY(in_file(driver_->check("write strings"), part_.path()));
    std::vector<bool>& written = strings_written_[variable];
    const std::uint64_t index = layout_->variables[variable].record ? record : 0;
    if (written.size() <= index) written.resize(index + 1);
    written[index] = true;
  }
  for (const std::string& text : values) cost.bytes_in += text.size();
  cost.bytes_out = cost.bytes_in;
  if (layout_->variables[variable].record) ledger_.reach(record + 1);
  return cost;
}

Result<WriteCost> Netcdf4File::publish() {
  if (!writer_) return fail(closed_error(part_.path()));
  auto cost = in_file(finish(), part_.path());
  abandon();
  return cost;
}

Result<WriteCost> Netcdf4File::finish() {
  WriteCost cost;
  Home home(*this, cost);
  AFTERBAY_TRY(assembly_.store_rest(home));
  AFTERBAY_TRY(fill_missing(cost));
  AFTERBAY_TRY(fill_strings());
  {
    const Stopwatch watch(cost.place_ns);
    AFTERBAY_TRY(close_library(ledger_.records()));
  }
  const Stopwatch watch(cost.write_ns);
  AFTERBAY_TRY(part_.publish());
  return cost;
}

/// Chunks that were never written need nothing: readers give the fill value for them. What is left are
/// holes in storage that was allocated: dense variables and plain chunks of several records.
Result<> Netcdf4File::fill_missing(WriteCost& cost) {
  for (std::uint32_t v = 0; v < datasets_.size(); ++v) {
    const std::span<const model::Piece> pieces = layout_->pieces_of_variable(v);
    if (datasets_[v].placement() == Placement::dense) {
      const auto has = [&](const model::Piece& piece) { return ledger_.has(piece, 0); };
      if (std::none_of(pieces.begin(), pieces.end(), has)) continue;
      for (const model::Piece& piece : pieces)
        if (!has(piece)) AFTERBAY_TRY(fill_piece({&piece, 0, {}}, cost));
    }
    if (datasets_[v].placement() == Placement::chunks && datasets_[v].span() > 1 &&
        !datasets_[v].codec().active())
      for (const model::Piece& piece : pieces) AFTERBAY_TRY(fill_span(v, piece, cost));
  }
  return {};
}

/// Fills the records that plain chunks of one piece miss, those after the last one too: a later append
/// finds fill values there, as netCDF-C leaves them.
Result<> Netcdf4File::fill_span(std::uint32_t variable, const model::Piece& piece, WriteCost& cost) {
  const std::uint64_t span = datasets_[variable].span();
  const std::uint64_t begin = appended_ ? (present_ + span - 1) / span * span : 0;  // older chunks are HDF5's
  for (const std::uint64_t first : ledger_.partly_written(piece, begin, span)) {
    for (const Run& run : missing_runs(ledger_, piece, first, first + span)) {
      Extent extent;
      {
        const LibraryLock lock;
        AFTERBAY_TRY_ASSIGN(extent.offset, place_span(piece, first));
      }
      extent.offset += (run.first - first) * piece.bytes;
      extent.bytes = fills_[variable].at(extent.offset, run.count * piece.bytes);
      AFTERBAY_TRY(writer_->write({&extent, 1}, cost));
    }
  }
  return {};
}

Result<> Netcdf4File::fill_piece(const PieceWrite& target, WriteCost& cost) {
  Extent extent;
  PieceWrite piece = target;
  FillPattern& fill = fills_[target.piece->variable];
  piece.bytes = fill.at(0, target.piece->bytes);
  {
    const LibraryLock lock;
    AFTERBAY_TRY_ASSIGN(extent, place(Job{piece, std::nullopt}));
  }
  extent.bytes = fill.at(extent.offset, target.piece->bytes);
  return writer_->write({&extent, 1}, cost);
}

/// HDF5 1.10 cannot read string records that were never written: give them their fill value.
Result<> Netcdf4File::fill_strings() {
  for (std::uint32_t v = 0; v < datasets_.size(); ++v) {
    if (schema_.variables[v].type != Type::string || !schema_.variables[v].constant.empty()) continue;
    const bool record = layout_->variables[v].record;
    const std::uint64_t end = record ? ledger_.records() : 1;
    const std::vector<bool>& written = strings_written_[v];
    const auto is_written = [&](std::uint64_t r) { return r < written.size() && written[r]; };
    for (std::uint64_t r = record ? present_ : (appended_ ? 1 : 0); r < end; ++r) {
      if (is_written(r)) continue;
      const std::uint64_t first = r;
      while (r < end && !is_written(r)) ++r;
      AFTERBAY_TRY(fill_strings(v, first, r));
    }
  }
  return {};
}

/// Many records at a time: a call of HDF5 costs as much as a thousand strings.
Result<> Netcdf4File::fill_strings(std::uint32_t variable, std::uint64_t first, std::uint64_t end) {
  constexpr std::uint64_t most_strings = 4096;
  const std::uint64_t record_strings = layout_->variables[variable].shape.product();
  const std::uint64_t step =
      std::max<std::uint64_t>(1, most_strings / std::max<std::uint64_t>(1, record_strings));
  const Values fill = fill_of(schema_.variables[variable]);
  const std::vector<std::string> values(std::min(step, end - first) * record_strings,
                                        fill.strings.empty() ? std::string() : fill.strings[0]);
  for (std::uint64_t record = first; record < end; record += step) {
    const LibraryLock lock;
    const std::uint64_t count = std::min(step, end - record) * record_strings;
    AFTERBAY_TRY(datasets_[variable].write_strings(record, std::span(values).first(count)));
  }
  return {};
}

/// Gives all record variables the same length and lets HDF5 write what it holds.
Result<> Netcdf4File::close_library(std::uint64_t records) {
  const LibraryLock lock;
  for (Dataset& dataset : datasets_) {
    AFTERBAY_TRY(dataset.extend(records));
    dataset.close();
  }
  datasets_.clear();
  if (H5Fclose(file_.release()) < 0) return fail(driver_->error("close the file"));
  return driver_->check("close the file");
}

void Netcdf4File::abandon() noexcept {
  if (file_.valid()) {
    const LibraryLock lock;
    datasets_.clear();
    H5Fclose(file_.release());
  }
  driver_.reset();
  writer_.reset();
  part_.close();
}

void Netcdf4File::discard() noexcept {
  if (file_.valid()) {
    const LibraryLock lock;
    datasets_.clear();
    file_.reset();
  }
  driver_.reset();
  writer_.reset();
  part_.discard();
}

}  // namespace afterbay::storage
