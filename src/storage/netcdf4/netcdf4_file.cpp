// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/netcdf4_file.hpp"

#include <algorithm>
#include <utility>

#include "storage/library_lock.hpp"
#include "storage/member_file.hpp"
#include "storage/record_reach.hpp"
#include "storage/stopwatch.hpp"

namespace afterbay::storage {

Netcdf4File::Netcdf4File(const FileRequest& request, OpenPart opened)
    : schema_(request.schema),
      layout_(request.layout),
      part_(std::move(opened.part)),
      writer_(std::move(opened.writer)),
      appended_(opened.appended),
      readable_(request.readable),
      striping_(std::move(opened.striping)),
      present_(opened.records),
      driver_(std::make_unique<FileDriver>(*writer_)),
      strings_(schema_, *layout_, opened.appended, opened.records),
      chunk_memory_(request.chunk_memory),
      ledger_(*layout_, opened.records, opened.appended, request.epochs) {}

Result<> Netcdf4File::begin(StructureCache<Netcdf4Structure>& structures) {
  std::shared_ptr<const Netcdf4Structure> structure;
  if (!appended_) {
    AFTERBAY_TRY_ASSIGN(structure, structures.get(schema_, layout_, [this] {
      return make_netcdf4_structure(schema_, *layout_);
    }));
    AFTERBAY_TRY(writer_->write_structure(0, structure->image));
    driver_->note_structure(0, structure->image.size());
  }
  AFTERBAY_TRY(open_library(structure.get()));
  std::vector<VariableStorage> storage;
  for (const Dataset& dataset : datasets_) storage.push_back(dataset.storage());
  placed_.emplace(*layout_, storage);
  unwritten_.emplace(
      schema_, *layout_, storage, appended_ ? present_ : 0,
      [this](const model::Piece& piece, std::uint64_t record) { return place_plain(piece, record); });
  pieces_.emplace(schema_, *layout_, std::move(storage), *writer_, static_cast<Placer&>(*this),
                  chunk_memory_);
  AFTERBAY_TRY(check_readable());
  return pieces_->check_memory();
}

/// `structure`: for a new file. Once one such file was opened, the datasets of others are known,
/// and are opened when they are first needed: HDF5 takes as long to open one as to place several
/// chunks.
Result<> Netcdf4File::open_library(const Netcdf4Structure* structure) {
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const Hdf5Id access, driver_->access_list());
  file_ = Hdf5Id(H5Fopen(writer_->path().c_str(), H5F_ACC_RDWR, access.get()));
  if (!file_.valid()) return fail(driver_->error("open the file"));
  const bool known = structure != nullptr && !structure->datasets.empty();
  datasets_.reserve(schema_.variables.size());
  for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
    const Variable& variable = schema_.variables[v];
    if (known) {
      datasets_.emplace_back(file_.get(), *driver_, variable, *layout_, v, structure->datasets[v]);
      continue;
    }
    AFTERBAY_TRY_ASSIGN(Dataset dataset, Dataset::open(file_.get(), *driver_, variable, *layout_, v));
    datasets_.push_back(std::move(dataset));
  }
  AFTERBAY_TRY(driver_->check("open the file"));
  if (structure != nullptr && !known)
    for (const Dataset& dataset : datasets_) structure->datasets.push_back(dataset.facts());
  return {};
}

std::string Netcdf4File::engine() const { return writer_ && writer_->direct() ? "direct" : "buffered"; }

/// Chunks that contain earlier records are left to HDF5, which knows their contents.
StorageKind Netcdf4File::kind_of(const model::Piece& piece, std::uint64_t record) const {
  const VariableStorage& storage = datasets_[piece.variable].storage();
  if (storage.kind != StorageKind::chunks || !appended_) return storage.kind;
  const bool old =
      !layout_->variables[piece.variable].record || record / storage.span * storage.span < present_;
  return old ? StorageKind::library : StorageKind::chunks;
}

/// Records that were never written take no space, so that only their number is checked.
Result<> Netcdf4File::check_record(std::uint32_t variable, std::uint64_t record) const {
  return check_reach(schema_, *layout_, variable, record, ledger_.records());
}

Result<WriteCost> Netcdf4File::write(std::span<const PieceWrite> pieces) {
  if (!writer_) return fail(closed_error(part_.path()));
  std::shared_lock<std::shared_mutex> write(writes_, std::defer_lock);
  if (readable_) write.lock();
  return in_file(write_pieces(pieces), part_.path());
}

Result<WriteCost> Netcdf4File::write_pieces(std::span<const PieceWrite> pieces) {
  AFTERBAY_TRY(check_pieces(*layout_, schema_, pieces));
  for (const PieceWrite& write : pieces) AFTERBAY_TRY(check_record(write.piece.variable, write.record));
  WriteCost cost;
  std::vector<PieceWrite> placed;
  placed.reserve(pieces.size());
  for (const PieceWrite& write : pieces) {
    cost.bytes_in += write.bytes.size();
    if (kind_of(write.piece, write.record) != StorageKind::library)
      placed.push_back(write);
    else
      AFTERBAY_TRY(write_through(write, cost));
  }
  if (appended_) AFTERBAY_TRY(keep_older_values(placed));
  AFTERBAY_TRY(pieces_->write(placed, cost));
  for (const PieceWrite& write : pieces) ledger_.mark(write.piece, write.record, write.epochs);
  placed_->forget(placed, ledger_.settled());
  return cost;
}

Result<> Netcdf4File::write_through(const PieceWrite& write, WriteCost& cost) {
  const Stopwatch watch(cost.place_ns);
  const LibraryLock lock;
  AFTERBAY_TRY(datasets_[write.piece.variable].write_through(write.piece, write.record, write.bytes));
  return driver_->check("write data");
}

Result<std::vector<std::uint64_t>> Netcdf4File::place(std::span<const PlaceRequest> requests) {
  if (!writer_) return fail(closed_error(part_.path()));
  return in_file(place_all(requests, Noted::yes), part_.path());
}

/// Epochs of this run need the older values of fixed variables that are stored in one piece. HDF5
/// writes older chunks, see `kind_of`.
Result<> Netcdf4File::keep_older_values(std::span<const PieceWrite> pieces) {
  bool kept = false;
  for (const PieceWrite& write : pieces) {
    if (!log_ || datasets_[write.piece.variable].storage().kind != StorageKind::dense) continue;
    AFTERBAY_TRY_ASSIGN(const std::uint64_t offset, place_plain(write.piece, 0));
    const LibraryLock lock;
    AFTERBAY_TRY(driver_->keep_before(offset, write.piece.bytes));
    kept = true;
  }
  return kept ? log_->sync() : Result<>();
}

Result<std::vector<std::uint64_t>> Netcdf4File::place_all(std::span<const PlaceRequest> requests,
                                                          Noted noted) {
  for (const PlaceRequest& request : requests) AFTERBAY_TRY(check_place(request));
  std::vector<std::uint64_t> offsets;
  offsets.reserve(requests.size());
  const LibraryLock lock;
  for (const PlaceRequest& request : requests) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t offset, place_one(request));
    offsets.push_back(offset);
  }
  AFTERBAY_TRY(driver_->check("place data"));
  if (noted == Noted::yes) placed_->note(requests, offsets);
  return offsets;
}

/// Members may be other processes: their requests are checked.
Result<> Netcdf4File::check_place(const PlaceRequest& request) const {
  if (request.piece >= layout_->pieces.size())
    return fail(ErrorCode::invalid_argument,
                "a place is requested for piece {}, but the layout has {} pieces", request.piece,
                layout_->pieces.size());
  const model::Piece& piece = layout_->pieces[request.piece];
  AFTERBAY_TRY(check_record(piece.variable, request.record));
  const std::string& name = schema_.variables[piece.variable].name;
  const VariableStorage& storage = datasets_[piece.variable].storage();
  if (kind_of(piece, request.record) == StorageKind::library)
    return fail(make_error(ErrorCode::bad_state,
                           "variable '{}' is stored in a way that only the library can write", name)
                    .in_variable(name));
  const std::uint64_t chunk_bytes = storage.span * piece.bytes;
  const std::uint64_t most_bytes = storage.encodes() ? storage.codec.most_encoded_bytes(chunk_bytes) : 0;
  const std::uint32_t skipped =
      storage.encodes() ? storage.codec.skipped_filters(request.bytes, chunk_bytes) : 0;
  if (request.bytes > most_bytes || (request.bytes == 0) == storage.encodes() || request.skipped != skipped)
    return fail(
        make_error(ErrorCode::invalid_argument,
                   "a place is requested for {} encoded bytes (filters {:#x} left out) of variable '{}', "
                   "whose chunks have {} bytes and are {}",
                   request.bytes, request.skipped, name, chunk_bytes,
                   storage.encodes() ? "encoded" : "not encoded")
            .in_variable(name));
  return {};
}

/// Requires a LibraryLock.
Result<std::uint64_t> Netcdf4File::place_one(const PlaceRequest& request) {
  const model::Piece& piece = layout_->pieces[request.piece];
  Dataset& dataset = datasets_[piece.variable];
  if (dataset.storage().kind == StorageKind::dense) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t begin,
                        dataset.place_dense(layout_->variables[piece.variable].slab_bytes));
    return begin + layout_->slab_offset(piece);
  }
  const std::uint64_t span = dataset.storage().span;
  const std::uint64_t chunk_bytes = request.bytes > 0 ? request.bytes : span * piece.bytes;
  if (!placeholder_ || placeholder_->bytes().size() < chunk_bytes) {
    AFTERBAY_TRY_ASSIGN(PlaceholderBytes larger, PlaceholderBytes::reserve(chunk_bytes));
    placeholder_.emplace(std::move(larger));
  }
  AFTERBAY_TRY_ASSIGN(
      const std::uint64_t chunk,
      dataset.place_chunk(piece, request.record, placeholder_->bytes().first(chunk_bytes), request.skipped));
  if (layout_->variables[piece.variable].record) ledger_.reach(request.record + 1);
  return request.bytes > 0 ? chunk : chunk + request.record % span * piece.bytes;
}

Result<std::uint64_t> Netcdf4File::place_plain(const model::Piece& piece, std::uint64_t record) {
  PlaceRequest request;
  request.piece = layout_->variables[piece.variable].first_piece + piece.number;
  request.record = record;
  AFTERBAY_TRY_ASSIGN(const std::vector<std::uint64_t> offsets, place_all({&request, 1}, Noted::no));
  return offsets.front();
}

Result<std::vector<std::byte>> Netcdf4File::share() {
  if (!writer_) return fail(closed_error(part_.path()));
  if (appended_) return fail(appended_error(part_.path()));
  if (readable_) return fail(readable_error(part_.path()));
  Netcdf4Share share;
  for (std::size_t v = 0; v < datasets_.size(); ++v) {
    share.variables.push_back(datasets_[v].storage());
    const std::string& name = schema_.variables[v].name;
    if (layout_->variables[v].framed && share.variables[v].kind == StorageKind::library)
      return fail(
          make_error(ErrorCode::bad_state,
                     "{} cannot be shared: variable '{}' is stored in a way that only the library can "
                     "write",
                     part_.path(), name)
              .in_file(part_.path())
              .in_variable(name));
  }
  AFTERBAY_TRY(in_file(writer_->share(), part_.path()));
  share.part = LeaderPart::of(part_.descriptor(), writer_->direct());
  return seal(share, *layout_);
}

Result<> Netcdf4File::take(std::span<const std::byte> account) {
  if (!writer_) return fail(closed_error(part_.path()));
  return in_file(take_account(account, ledger_, writer_->checksum()), part_.path());
}

Result<> Netcdf4File::note_errors(const model::LargestErrors& errors) {
  if (!writer_) return fail(closed_error(part_.path()));
  const LibraryLock lock;
  for (const model::LargestError& it : errors) {
    if (!model::reserves_largest_error(schema_.variables[it.variable])) continue;
    AFTERBAY_TRY(in_file(
        datasets_[it.variable].set_number(std::string(model::largest_error_attribute), it.value, appended_),
        part_.path()));
  }
  return in_file(driver_->check("write attributes"), part_.path());
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
    strings_.note(variable, record);
  }
  for (const std::string& text : values) cost.bytes_in += text.size();
  cost.bytes_out = cost.bytes_in;
  if (layout_->variables[variable].record) ledger_.reach(record + 1);
  return cost;
}

Result<Published> Netcdf4File::finish() {
  if (!writer_) return fail(closed_error(part_.path()));
  auto published = in_file(complete(), part_.path());
  close_writer();
  if (!published) part_.close();
  return published;
}

Result<Published> Netcdf4File::complete() {
  Published published;
  WriteCost& cost = published.cost;
  AFTERBAY_TRY(pieces_->write_rest(cost));
  AFTERBAY_TRY(unwritten_->fill(ledger_, *writer_, cost));
  {
    const Stopwatch watch(cost.place_ns);
    published.records = ledger_.records();
    AFTERBAY_TRY(close_library(published.records));
  }
  const Stopwatch watch(cost.write_ns);
  AFTERBAY_TRY_ASSIGN(published.size_bytes, writer_->size_bytes());
  AFTERBAY_TRY_ASSIGN(published.checksum, writer_->finish_checksum());
  return published;
}

/// Gives all record variables the same length and lets HDF5 write its buffered data.
Result<> Netcdf4File::close_library(std::uint64_t records) {
  const LibraryLock lock;
  AFTERBAY_TRY(strings_.fill(records, datasets_));
  for (Dataset& dataset : datasets_) {
    AFTERBAY_TRY(dataset.extend(records));
    AFTERBAY_TRY(dataset.close(appended_));
  }
  datasets_.clear();
  if (H5Fclose(file_.release()) < 0) {
    leave_library_open();
    return fail(driver_->error("close the file"));
  }
  AFTERBAY_TRY(driver_->check("close the file"));
  return driver_->end_log();
}

void Netcdf4File::abandon() noexcept {
  close_writer();
  part_.close();
}

/// Closes all open objects, unless HDF5 has failed with them.
void Netcdf4File::leave_library() noexcept {
  if (!file_.valid()) return;
  const LibraryLock lock;
  if (driver_->failed()) {
    for (Dataset& dataset : datasets_) dataset.leave_open();
    file_.release();
    leave_library_open();
  }
  datasets_.clear();
  if (file_.valid() && H5Fclose(file_.release()) < 0) leave_library_open();
}

void Netcdf4File::close_writer() noexcept {
  leave_library();
  driver_.reset();
  pieces_.reset();
  writer_.reset();
}

void Netcdf4File::discard() noexcept {
  leave_library();
  driver_.reset();
  pieces_.reset();
  writer_.reset();
  part_.discard();
}

}  // namespace afterbay::storage
