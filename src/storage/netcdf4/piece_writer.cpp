// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/piece_writer.hpp"

#include <utility>

#include "base/caller_terms.hpp"
#include "storage/stopwatch.hpp"

namespace afterbay::storage {

PieceWriter::PieceWriter(const Schema& schema, const model::FileLayout& layout,
                         std::vector<VariableStorage> storage, BlockWriter& writer, Placer& placer,
                         std::shared_ptr<ByteAllowance> chunk_memory)
    : schema_(schema),
      layout_(layout),
      storage_(std::move(storage)),
      writer_(writer),
      placer_(placer),
      chunk_memory_(chunk_memory ? std::move(chunk_memory)
                                 : std::make_shared<ByteAllowance>(default_chunk_memory_bytes)),
      assembly_(chunk_memory_),
      dense_(storage_.size()) {
  for (const Variable& variable : schema.variables) fills_.emplace_back(variable, false);
}

Result<> PieceWriter::check_memory() const {
  for (std::uint32_t v = 0; v < storage_.size(); ++v) {
    const VariableStorage& storage = storage_[v];
    if (!storage.assembles() || layout_.variables[v].piece_count == 0) continue;
    const std::uint64_t most_bytes = chunk_memory_->limit_bytes();
    const model::Piece piece = layout_.pieces_of_variable(v)[0];  // all have this size
    if (piece.bytes <= most_bytes / storage.span) continue;
    const std::string& name = name_of(v);
    return fail(make_error(ErrorCode::resources,
                           "a compressed chunk of variable '{}' has {} records of {} bytes, more than the {} "
                           "bytes of memory for such chunks (memory.chunks): give it fewer records, or raise "
                           "the setting",
                           name, storage.span, piece.bytes, most_bytes)
                    .in_variable(name));
  }
  return {};
}

class PieceWriter::Home : public ChunkHome {
 public:
  Home(PieceWriter& pieces, WriteCost& cost) : pieces_(pieces), cost_(cost) {}

  Result<> load(const ChunkKey& key, std::span<std::byte> chunk) override {
    auto loaded = read_back(key, chunk);
    if (loaded) return {};
    const std::string& name = pieces_.name_of(key.variable);
    return fail(std::move(loaded).error().in_variable(name).add(
        fmt::format("while reading back the chunk of variable '{}' that begins at record {}", name,
                    said_index(key.first_record))));
  }

  Result<> store(const ChunkKey& key, std::span<const std::byte> chunk) override {
    const model::Piece piece = pieces_.layout_.pieces_of_variable(key.variable)[key.piece];
    std::optional<Job> job;
    {
      const Stopwatch watch(cost_.encode_ns);
      AFTERBAY_TRY_ASSIGN(job, pieces_.encode({piece, key.first_record, chunk}));
    }
    return pieces_.write_jobs({&*job, 1}, cost_);
  }

 private:
  Result<> read_back(const ChunkKey& key, std::span<std::byte> chunk) {
    StoredChunk stored;
    {
      const MutexLock lock(pieces_.mutex_);
      stored = pieces_.chunks_.at(key);
    }
    const Stopwatch watch(cost_.encode_ns);
    const codec::ChunkCodec& codec = pieces_.storage_[key.variable].codec;
    codec::AlignedBuffer encoded(stored.size_bytes);
    AFTERBAY_TRY(pieces_.writer_.read(stored.offset, encoded.bytes()));
    const std::uint32_t skipped = codec.skipped_filters(stored.size_bytes, chunk.size());
    codec::OwnWorkspace workspace;
    return codec.decode(std::as_const(encoded).bytes(), skipped, chunk, workspace);
  }

  PieceWriter& pieces_;
  WriteCost& cost_;
};

Result<> PieceWriter::write(std::span<const PieceWrite> pieces, WriteCost& cost) {
  std::vector<Job> jobs;
  jobs.reserve(pieces.size());
  {
    const Stopwatch watch(cost.encode_ns);
    for (const PieceWrite& piece : pieces) {
      if (storage_[piece.piece.variable].assembles()) continue;
      AFTERBAY_TRY_ASSIGN(Job job, encode(piece));
      jobs.push_back(std::move(job));
    }
  }
  AFTERBAY_TRY(write_jobs(jobs, cost));
  Home home(*this, cost);
  for (const PieceWrite& piece : pieces) {
    const std::uint32_t variable = piece.piece.variable;
    if (storage_[variable].assembles())
      AFTERBAY_TRY(assembly_.add(piece.piece, piece.record, storage_[variable].span, piece.bytes,
                                 fills_[variable], home));
  }
  return {};
}

Result<> PieceWriter::write_rest(WriteCost& cost) {
  Home home(*this, cost);
  return assembly_.store_rest(home);
}

Result<bool> PieceWriter::log_chunks(const Ledger& written, std::uint64_t present,
                                     const std::function<Result<EpochLog*>()>& log) {
  bool any = false;
  WriteCost cost;
  Home home(*this, cost);
  for (std::uint32_t v = 0; v < storage_.size(); ++v) {
    if (!storage_[v].assembles()) continue;
    for (const model::Piece& piece : layout_.pieces_of_variable(v)) {
      AFTERBAY_TRY_ASSIGN(const bool logged, log_chunks_of(piece, written, present, log, home));
      any = any || logged;
    }
  }
  return any;
}

Result<bool> PieceWriter::log_chunks_of(const model::Piece& piece, const Ledger& written,
                                        std::uint64_t present, const std::function<Result<EpochLog*>()>& log,
                                        Home& home) {
  bool any = false;
  const VariableStorage& storage = storage_[piece.variable];
  const std::uint64_t begin = (present + storage.span - 1) / storage.span * storage.span;
  for (const std::uint64_t first : written.partly_written(piece, begin, storage.span)) {
    codec::AlignedBuffer chunk(storage.span * piece.bytes);
    const ChunkKey key{piece.variable, piece.number, first};
    AFTERBAY_TRY(assembly_.copy(key, storage.span, fills_[piece.variable], home, chunk.bytes()));
    // Another thread may have added some meanwhile.
    for (std::uint64_t r = 0; r < storage.span; ++r)
      if (!written.has(piece, first + r))
        fills_[piece.variable].apply(chunk.bytes().subspan(r * piece.bytes, piece.bytes));
    AFTERBAY_TRY_ASSIGN(const codec::EncodedChunk encoded,
                        storage.codec.encode(std::as_const(chunk).bytes()));
    AFTERBAY_TRY_ASSIGN(EpochLog* const to, log());
    AFTERBAY_TRY(to->add(LoggedChunk{piece.variable, first_element(piece, first), encoded.skipped},
                         encoded.bytes.bytes()));
    any = true;
  }
  return any;
}

Result<codec::EncodedChunk> PieceWriter::chunk_of_fill(const model::Piece& piece) const {
  const VariableStorage& storage = storage_[piece.variable];
  codec::AlignedBuffer chunk(storage.span * piece.bytes);
  fills_[piece.variable].apply(chunk.bytes());
  return storage.codec.encode(std::as_const(chunk).bytes());
}

std::vector<std::uint64_t> PieceWriter::first_element(const model::Piece& piece, std::uint64_t record) const {
  std::vector<std::uint64_t> at;
  const std::uint64_t span = storage_[piece.variable].span;
  if (layout_.variables[piece.variable].record) at.push_back(record / span * span);
  for (const std::uint64_t start : piece.box.start) at.push_back(start);
  return at;
}

/// Encodes pieces that have filters; no lock is held.
Result<PieceWriter::Job> PieceWriter::encode(const PieceWrite& piece) const {
  Job job{piece, std::nullopt};
  const VariableStorage& storage = storage_[piece.piece.variable];
  if (!storage.encodes()) return job;
  AFTERBAY_TRY_ASSIGN(job.encoded, storage.codec.encode(piece.bytes));
  return job;
}

Result<> PieceWriter::write_jobs(std::span<const Job> jobs, WriteCost& cost) {
  if (jobs.empty()) return {};
  std::vector<std::uint64_t> offsets;
  {
    const Stopwatch watch(cost.place_ns);
    AFTERBAY_TRY_ASSIGN(offsets, place(jobs));
  }
  std::vector<Extent> extents;
  extents.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i)
    extents.push_back(
        {offsets[i], jobs[i].encoded ? std::as_const(jobs[i].encoded->bytes).bytes() : jobs[i].piece.bytes});
  return writer_.write(extents, cost);
}

/// Requests all unknown positions from the placer with one call. No lock is held meanwhile: the
/// answer may take long.
Result<std::vector<std::uint64_t>> PieceWriter::place(std::span<const Job> jobs) {
  std::vector<std::uint64_t> offsets(jobs.size());
  std::vector<std::size_t> unknown;
  std::vector<PlaceRequest> requests;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (const auto known = known_place(jobs[i])) {
        offsets[i] = *known;
        continue;
      }
      unknown.push_back(i);
      requests.push_back(request_of(jobs[i]));
    }
  }
  if (requests.empty()) return offsets;
  AFTERBAY_TRY_ASSIGN(const std::vector<std::uint64_t> answers, placer_.place(requests));
  if (answers.size() != requests.size())
    return fail(ErrorCode::internal, "{} places were requested, but {} returned", requests.size(),
                answers.size());
  const MutexLock lock(mutex_);
  for (std::size_t n = 0; n < unknown.size(); ++n) {
    offsets[unknown[n]] = answers[n];
    remember(jobs[unknown[n]], answers[n]);
  }
  return offsets;
}

PlaceRequest PieceWriter::request_of(const Job& job) const {
  const model::Piece& piece = job.piece.piece;
  PlaceRequest request;
  request.piece = layout_.variables[piece.variable].first_piece + piece.number;
  request.record = job.piece.record;
  if (job.encoded) {
    request.bytes = std::as_const(job.encoded->bytes).bytes().size();
    request.skipped = job.encoded->skipped;
  }
  return request;
}

ChunkKey PieceWriter::key_of(const PieceWrite& piece) const {
  const std::uint64_t span = storage_[piece.piece.variable].span;
  return {piece.piece.variable, piece.piece.number, piece.record / span * span};
}

std::uint64_t PieceWriter::bytes_before(const Job& job) const {
  return job.piece.record % storage_[job.piece.piece.variable].span * job.piece.piece.bytes;
}

/// A position that cannot have changed: encoded chunks are placed again each time, because their
/// size changes.
std::optional<std::uint64_t> PieceWriter::known_place(const Job& job) const {
  const model::Piece& piece = job.piece.piece;
  const VariableStorage& storage = storage_[piece.variable];
  if (storage.kind == StorageKind::dense) {
    if (!dense_[piece.variable]) return std::nullopt;
    return *dense_[piece.variable] + layout_.slab_offset(piece);
  }
  if (storage.span == 1 || job.encoded) return std::nullopt;
  const auto found = chunks_.find(key_of(job.piece));
  if (found == chunks_.end()) return std::nullopt;
  return found->second.offset + bytes_before(job);
}

void PieceWriter::remember(const Job& job, std::uint64_t offset) {
  const model::Piece& piece = job.piece.piece;
  const VariableStorage& storage = storage_[piece.variable];
  if (storage.kind == StorageKind::dense)
    dense_[piece.variable] = offset - layout_.slab_offset(piece);
  else if (storage.span > 1 && job.encoded)
    chunks_[key_of(job.piece)] = {offset, std::as_const(job.encoded->bytes).bytes().size()};
  else if (storage.span > 1)
    chunks_[key_of(job.piece)] = {offset - bytes_before(job), storage.span * piece.bytes};
}

}  // namespace afterbay::storage
