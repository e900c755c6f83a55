// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch/recover.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "base/crc64.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/block_writer/part_file.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/epoch/withheld_structure.hpp"
#include "storage/fill.hpp"
#include "storage/library_lock.hpp"
#include "storage/netcdf4/file_driver.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {
namespace {

constexpr std::uint64_t step_bytes = 4u << 20;

/// What one server logged, by epoch.
struct Logged {
  struct Step {
    std::variant<LoggedStructure, LoggedData> what;
    std::uint64_t end = 0;  ///< in the log
  };
  std::vector<Step> structure;
  struct State {
    LoggedEpoch of;
    std::vector<LoggedFill> fills;
    std::vector<LoggedChunk> chunks;
  };
  std::map<std::uint64_t, State> epochs;
};

Result<Logged> read_log(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(auto records, read_epoch_log(path));
  Logged logged;
  Logged::State state;
  for (auto& [what, end] : records) {
    if (const auto* structure = std::get_if<LoggedStructure>(&what)) {
      logged.structure.push_back({*structure, end});
    } else if (const auto* data = std::get_if<LoggedData>(&what)) {
      logged.structure.push_back({*data, end});
    } else if (auto* fill = std::get_if<LoggedFill>(&what)) {
      state.fills.push_back(std::move(*fill));
    } else if (auto* chunk = std::get_if<LoggedChunk>(&what)) {
      state.chunks.push_back(std::move(*chunk));
    } else {
      state.of = std::get<LoggedEpoch>(std::move(what));
      const std::uint64_t number = state.of.epoch.number;
      logged.epochs[number] = std::exchange(state, {});
    }
  }
  return logged;
}

/// Chunks of one epoch in the log that has their bytes.
struct ChunksOfLog {
  std::string path;
  std::vector<LoggedChunk> chunks;
};

/// What members logged for the epoch; nothing when one of them has not come so far.
Result<std::optional<std::vector<ChunksOfLog>>> chunks_of_members(const std::string& part_path,
                                                                  const LoggedEpoch& of) {
  std::vector<ChunksOfLog> all;
  for (const std::uint64_t member : of.members) {
    std::string path = EpochLog::path_of(part_path, member);
    auto logged = read_log(path);
    if (!logged) return std::nullopt;
    const auto at = logged->epochs.find(of.epoch.number);
    if (at == logged->epochs.end()) return std::nullopt;
    all.push_back({std::move(path), std::move(at->second.chunks)});
  }
  return all;
}

/// Nobody else writes the file: the run that made it is over.
Result<Descriptor> open_alone(const Recoverable& file) {
  Descriptor part(::open(file.part_path.c_str(), O_RDWR | O_CLOEXEC));
  if (!part.open()) return fail(system_error(errno, "open", file.part_path));
  AFTERBAY_TRY(in_file(PartFile::lock(part.get(), file.part_path), file.path));
  return part;
}

class Recovery {
 public:
  Recovery(const Recoverable& file, const Logged& logged, const Logged::State& state,
           std::vector<ChunksOfLog> chunks, int descriptor)
      : file_(file),
        logged_(logged),
        state_(state),
        chunks_(std::move(chunks)),
        disk_(Disk::real()),
        descriptor_(descriptor) {}

  Result<Recovered> run() {
    AFTERBAY_TRY_ASSIGN(writer_, BlockWriter::open(descriptor_, file_.part_path, DirectIo::off, disk_));
    AFTERBAY_TRY(write_structure());
    AFTERBAY_TRY(write_fills());
    AFTERBAY_TRY_ASSIGN(const std::uint64_t size, writer_->size_bytes());
    if (size < state_.of.size_bytes) AFTERBAY_TRY(writer_->truncate(state_.of.size_bytes));
    if (state_.of.format == Format::netcdf4) {
      AFTERBAY_TRY(finish_hdf5());
    } else {
      AFTERBAY_TRY(writer_->truncate(state_.of.size_bytes));
    }
    AFTERBAY_TRY(writer_->sync());
    result_.epoch = state_.of.epoch;
    AFTERBAY_TRY_ASSIGN(result_.size_bytes, writer_->size_bytes());
    AFTERBAY_TRY(sum());
    return result_;
  }

 private:
  /// All of it, from the first epoch on: what a crash or this program left there does not count.
  Result<> write_structure() {
    AFTERBAY_TRY_ASSIGN(const auto log, EpochLog::open(EpochLog::path_of(file_.part_path), disk_));
    WithheldStructure newest;
    for (const Logged::Step& step : logged_.structure) {
      if (step.end > state_.of.cut) break;
      if (const auto* data = std::get_if<LoggedData>(&step.what)) {
        newest.drop(data->offset, data->size_bytes);
        continue;
      }
      const auto& structure = std::get<LoggedStructure>(step.what);
      newest.put(structure.offset, structure.size_bytes, structure.bytes_at);
    }
    return newest.settle(
        std::numeric_limits<std::uint64_t>::max(),
        [&log](std::uint64_t at, std::span<std::byte> bytes) { return log->read(at, bytes); }, *writer_);
  }

  Result<> write_fills() {
    std::vector<std::byte> bytes;
    WriteCost cost;
    for (const LoggedFill& fill : state_.fills) {
      if (fill.element.empty()) continue;
      const std::uint64_t step =
          std::max<std::uint64_t>(1, step_bytes / fill.element.size()) * fill.element.size();
      bytes.resize(std::min(step, fill.size_bytes));
      repeat(fill.element, bytes);
      for (std::uint64_t done = 0; done < fill.size_bytes; done += step) {
        const Extent extent{fill.offset + done,
                            std::span(bytes).first(std::min(step, fill.size_bytes - done))};
        AFTERBAY_TRY(writer_->write({&extent, 1}, cost));
      }
      result_.filled_bytes += fill.size_bytes;
    }
    return {};
  }

  /// Chunks that were written again later, and as many records as there were.
  Result<> finish_hdf5() {
    const LibraryLock lock;
    FileDriver driver(*writer_);
    AFTERBAY_TRY_ASSIGN(const Hdf5Id access, driver.access_list());
    Hdf5Id file(H5Fopen(file_.part_path.c_str(), H5F_ACC_RDWR, access.get()));
    if (!file.valid()) return fail(driver.error("open the file"));
    for (const std::uint64_t v : state_.of.with_records)
      AFTERBAY_TRY(set_records(file.get(), driver, v, true));
    for (const auto& [path, chunks] : chunks_) {
      if (chunks.empty()) continue;
      AFTERBAY_TRY_ASSIGN(const auto log, EpochLog::open(path, disk_));
      for (const LoggedChunk& chunk : chunks)
        if (is_of_epoch(chunk)) AFTERBAY_TRY(write_chunk(file.get(), driver, chunk, *log));
    }
    for (const std::uint64_t v : state_.of.with_records)
      AFTERBAY_TRY(set_records(file.get(), driver, v, false));
    if (H5Fclose(file.release()) < 0) return fail(driver.error("close the file"));
    return driver.check("close the file");
  }

  Result<Hdf5Id> dataset(hid_t file, FileDriver& driver, std::uint64_t variable) const {
    if (variable >= state_.of.datasets.size())
      return fail(ErrorCode::format, "the log of {} names variable {}, but has {}", file_.part_path, variable,
                  state_.of.datasets.size());
    const std::string& name = state_.of.datasets[variable];
    Hdf5Id opened(H5Dopen2(file, name.c_str(), H5P_DEFAULT));
    if (!opened.valid()) return fail(driver.error("open variable '" + name + "'").in_variable(name));
    return opened;
  }

  /// `grow`: only where there are fewer; else exactly as many.
  Result<> set_records(hid_t file, FileDriver& driver, std::uint64_t variable, bool grow) const {
    AFTERBAY_TRY_ASSIGN(const Hdf5Id opened, dataset(file, driver, variable));
    const std::string& name = state_.of.datasets[variable];
    const Hdf5Id space(H5Dget_space(opened.get()));
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank < 1) return fail(driver.error("find the shape of variable '" + name + "'").in_variable(name));
    std::vector<hsize_t> lengths(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), lengths.data(), nullptr);
    if (grow ? lengths[0] >= state_.of.epoch.records : lengths[0] == state_.of.epoch.records) return {};
    lengths[0] = state_.of.epoch.records;
    if (H5Dset_extent(opened.get(), lengths.data()) < 0)
      return fail(driver.error("set the records of variable '" + name + "'").in_variable(name));
    return {};
  }

  /// A member may have been ahead of the epoch when it logged its chunks.
  [[nodiscard]] bool is_of_epoch(const LoggedChunk& chunk) const {
    const auto& with_records = state_.of.with_records;
    return std::ranges::find(with_records, chunk.variable) == with_records.end() ||
           chunk.first_element.front() < state_.of.epoch.records;
  }

  Result<> write_chunk(hid_t file, FileDriver& driver, const LoggedChunk& chunk, const EpochLog& log) const {
    std::vector<std::byte> bytes(chunk.size_bytes);
    AFTERBAY_TRY(log.read(chunk.bytes_at, bytes));
    AFTERBAY_TRY_ASSIGN(const Hdf5Id opened, dataset(file, driver, chunk.variable));
    const std::vector<hsize_t> at(chunk.first_element.begin(), chunk.first_element.end());
    if (H5Dwrite_chunk(opened.get(), H5P_DEFAULT, chunk.skipped, at.data(), bytes.size(), bytes.data()) >= 0)
      return {};
    const std::string& name = state_.of.datasets[chunk.variable];
    return fail(driver.error("write a chunk of variable '" + name + "'").in_variable(name));
  }

  Result<> sum() {
    std::vector<std::byte> bytes(step_bytes);
    for (std::uint64_t at = 0; at < result_.size_bytes; at += bytes.size()) {
      bytes.resize(std::min(step_bytes, result_.size_bytes - at));
      AFTERBAY_TRY(writer_->read(at, bytes));
      result_.checksum = crc64(bytes, result_.checksum);
    }
    return {};
  }

  const Recoverable& file_;
  const Logged& logged_;
  const Logged::State& state_;
  std::vector<ChunksOfLog> chunks_;
  std::shared_ptr<Disk> disk_;
  int descriptor_;
  std::unique_ptr<BlockWriter> writer_;
  Recovered result_;
};

}  // namespace

Result<Recoverable> find_recoverable(const std::string& path) {
  Recoverable file;
  const std::size_t stem = path.size() - std::min(path.size(), part_path("").size());
  file.path = path == part_path(path.substr(0, stem)) ? path.substr(0, stem) : path;
  file.part_path = part_path(file.path);
  if (::access(file.part_path.c_str(), F_OK) != 0)
    return fail(make_error(ErrorCode::io, "there is no file {} to be brought back", file.part_path)
                    .with_native(errno)
                    .in_file(file.path)
                    .add("a file that was published has its final name, and needs no recovery"));
  auto logged = read_log(EpochLog::path_of(file.part_path));
  if (!logged)
    return fail(std::move(logged).error().in_file(file.path).add(
        "only a file that was open when an epoch completed can be brought back"));
  for (const auto& [number, state] : logged->epochs) {
    AFTERBAY_TRY_ASSIGN(const auto chunks, chunks_of_members(file.part_path, state.of));
    if (chunks) file.epochs.push_back(state.of.epoch);
  }
  return file;
}

Result<Recovered> recover_file(const Recoverable& file, const RecoverOptions& options) {
  AFTERBAY_TRY_ASSIGN(const Descriptor part, open_alone(file));
  if (file.epochs.empty())
    return fail(
        make_error(ErrorCode::bad_state, "{} has no complete epoch", file.part_path).in_file(file.path));
  const std::uint64_t number = options.epoch.value_or(file.epochs.back().number);
  if (std::ranges::find(file.epochs, number, &Epoch::number) == file.epochs.end())
    return fail(make_error(ErrorCode::invalid_argument, "{} has no epoch {}: it has {} to {}", file.part_path,
                           number, file.epochs.front().number, file.epochs.back().number)
                    .in_file(file.path));
  if (!options.replace && ::access(file.path.c_str(), F_OK) == 0)
    return fail(make_error(ErrorCode::exists,
                           "{} exists already: remove it, or say that it is to be replaced", file.path)
                    .with_native(EEXIST)
                    .in_file(file.path));
  AFTERBAY_TRY_ASSIGN(const Logged logged, read_log(EpochLog::path_of(file.part_path)));
  const Logged::State& state = logged.epochs.at(number);
  AFTERBAY_TRY_ASSIGN(auto chunks, chunks_of_members(file.part_path, state.of));
  std::vector<ChunksOfLog> all{{EpochLog::path_of(file.part_path), state.chunks}};
  if (chunks) std::ranges::move(*chunks, std::back_inserter(all));
  auto recovered = in_file(Recovery(file, logged, state, std::move(all), part.get()).run(), file.path);
  if (!recovered) return recovered;
  if (options.before_name) AFTERBAY_TRY(options.before_name(*recovered));
  if (Disk::real()->rename(file.part_path.c_str(), file.path.c_str(), options.replace) != 0)
    return fail(system_error(errno, "rename " + file.part_path + " to", file.path));
  AFTERBAY_TRY(sync_directory_of(*Disk::real(), file.path));
  remove_epoch_logs(file.part_path);
  return recovered;
}

}  // namespace afterbay::storage
