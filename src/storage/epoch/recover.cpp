// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch/recover.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
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
#include "storage/block_writer/final_name.hpp"
#include "storage/block_writer/part_file.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/epoch/in_child.hpp"
#include "storage/epoch/recovery_mark.hpp"
#include "storage/epoch/withheld_structure.hpp"
#include "storage/fill.hpp"
#include "storage/library_lock.hpp"
#include "storage/messages/writer_bytes.hpp"
#include "storage/netcdf4/file_driver.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {
namespace {

constexpr std::uint64_t step_bytes = 4u << 20;

/// The log of one server, by epoch.
struct Logged {
  PartIdentity part;
  struct Step {
    std::variant<LoggedStructure, LoggedData> what;
    std::uint64_t end = 0;  ///< end position in the log
  };
  std::vector<Step> structure;
  std::vector<LoggedBefore> before;
  struct State {
    LoggedEpoch of;
    std::vector<LoggedFill> fills;
    std::vector<LoggedChunk> chunks;
  };
  std::map<std::uint64_t, State> epochs;
};

Result<Logged> read_log(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(auto contents, read_epoch_log(path));
  Logged logged;
  logged.part = contents.part;
  Logged::State state;
  for (auto& [what, end] : contents.records) {
    if (const auto* structure = std::get_if<LoggedStructure>(&what)) {
      logged.structure.push_back({*structure, end});
    } else if (const auto* before = std::get_if<LoggedBefore>(&what)) {
      logged.before.push_back(*before);
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

/// Chunks of one epoch, and the log that contains their bytes.
struct ChunksOfLog {
  std::string path;
  std::vector<LoggedChunk> chunks;
};

/// Logs of members, each read once; null: there is none for the leader's file.
class MemberLogs {
 public:
  MemberLogs(std::string part_path, PartIdentity part) : part_path_(std::move(part_path)), part_(part) {}

  /// The chunks that members logged for the epoch; nullopt if one of them has not reached it.
  std::optional<std::vector<ChunksOfLog>> chunks(const LoggedEpoch& of) {
    std::vector<ChunksOfLog> all;
    for (const std::uint64_t member : of.members) {
      const Logged* logged = find(member);
      if (logged == nullptr) return std::nullopt;
      const auto at = logged->epochs.find(of.epoch.number);
      if (at == logged->epochs.end()) return std::nullopt;
      all.push_back({EpochLog::path_of(part_path_, member), at->second.chunks});
    }
    return all;
  }

 private:
  const Logged* find(std::uint64_t member) {
    auto [at, added] = logs_.try_emplace(member);
    if (added)
      if (auto logged = read_log(EpochLog::path_of(part_path_, member));
          logged && logs_of_same_part(logged->part, part_))
        at->second = std::make_unique<Logged>(*std::move(logged));
    return at->second.get();
  }

  std::string part_path_;
  PartIdentity part_;
  std::map<std::uint64_t, std::unique_ptr<Logged>> logs_;
};

/// Proof that no other process writes the file: the run that created it has ended.
struct Alone {
  Descriptor part;
  std::optional<OwnerFile> owner;  ///< used if there are no locks
};

Result<Alone> open_alone(const Recoverable& file) {
  Alone alone;
  alone.part = Descriptor(::open(file.part_path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!alone.part.open()) return fail(system_error(errno, "open", file.part_path));
  AFTERBAY_TRY_ASSIGN(alone.owner, in_file(PartFile::lock(alone.part.get(), file.part_path), file.path));
  const int number = lock_out_members(alone.part.get());
  if (number == EWOULDBLOCK)
    return fail(
        make_error(ErrorCode::conflict,
                   "the server that created {} has ended, but another one of its run has not, and may "
                   "still write to it: wait until it has ended, or stop it",
                   file.part_path)
            .in_file(file.path)
            .with_native(number));
  if (number != 0 && !has_no_locks(number))
    return fail(system_error(number, "lock", file.part_path).in_file(file.path));
  return alone;
}

Result<> check_identity(const Recoverable& file, const PartIdentity& logged, int part) {
  if (file.copied || is_part_of_log(logged, identity_of_part(part))) return {};
  return fail(make_error(ErrorCode::conflict,
                         "{} belongs to another file than {}, which got this name later or is a copy "
                         "without extended attributes: remove the log if the file was replaced; if both "
                         "were copied together, say so (--copied)",
                         EpochLog::path_of(file.part_path), file.part_path)
                  .in_file(file.path));
}

/// Fails if it is a directory: no format that publishes directories keeps epochs.
Result<> check_has_epochs(const Recoverable& file, int part) {
  struct stat status {};
  if (::fstat(part, &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  return fail(make_error(ErrorCode::io,
                         "{} is a directory, and its format keeps no epochs: it cannot be recovered; run the "
                         "model again from its last restart, which writes it again",
                         file.part_path)
                  .with_native(EISDIR)
                  .in_file(file.path));
}

/// Fails if it is another name of a published file, which a killed process did not remove.
Result<> check_not_published(const Recoverable& file, int part) {
  if (!has_name(part, file.path)) return {};
  return fail(make_error(ErrorCode::bad_state,
                         "{} is another name of {}, which is published and complete: remove the name {}",
                         file.part_path, file.path, file.part_path)
                  .in_file(file.path));
}

/// An interrupted recovery may have truncated the file, down to the size in its mark.
Result<> check_size(const Recoverable& file, const LoggedEpoch& of, int part) {
  struct stat status {};
  if (::fstat(part, &status) != 0) return fail(system_error(errno, "find the size of", file.part_path));
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (size_bytes >= std::min(of.part_bytes, RecoveryMark(file.part_path).least_bytes())) return {};
  return fail(make_error(ErrorCode::format,
                         "{} has {} bytes, but had at least {} at epoch {}: it was cut off or damaged; "
                         "recover an earlier epoch, or restore the file",
                         file.part_path, size_bytes, of.part_bytes, of.epoch.number)
                  .in_file(file.path));
}

/// The file that is modified and then gets the final name.
struct WorkFile {
  std::string path;
  Descriptor opened;  ///< the part file's own descriptor is not in here
  bool copy = false;
};

Result<WorkFile> copy_of(const Recoverable& file, int part) {
  WorkFile work{recovery_copy_of(file.part_path), {}, true};
  if (::unlink(work.path.c_str()) != 0 && errno != ENOENT)
    return fail(system_error(errno, "remove what an interrupted recovery left,", work.path));
  struct stat status {};
  if (::fstat(part, &status) != 0) return fail(system_error(errno, "find the size of", file.part_path));
  work.opened = Descriptor(
      ::open(work.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, status.st_mode & 0777));
  if (!work.opened.open()) return fail(system_error(errno, "create", work.path));
  if (::ioctl(work.opened.get(), FICLONE, part) == 0) return work;
  const auto disk = Disk::real();
  const std::int64_t room = disk->free_bytes(work.opened.get());
  const auto copied = [&]() -> Result<> {
    if (room >= 0 && room < status.st_size)
      return fail(
          make_error(ErrorCode::no_space,
                     "an older epoch is recovered in a copy of {}, which needs {} bytes, but {} are free: "
                     "make room, or recover the last epoch, which needs none",
                     file.part_path, status.st_size, room)
              .in_file(file.path));
    if (::lseek(part, 0, SEEK_SET) != 0 || disk->copy(part, work.opened.get()) != 0)
      return fail(system_error(errno, "copy " + file.part_path + " to", work.path));
    return {};
  }();
  if (!copied) {
    ::unlink(work.path.c_str());
    return fail(copied.error());
  }
  return work;
}

/// The last epoch is recovered in the part file: it loses only data that are useless afterwards.
WorkFile in_place(const Recoverable& file) { return {file.part_path, {}, false}; }

/// Records in the mark to which size the part file is about to be truncated.
class MarkingDisk final : public Disk {
 public:
  explicit MarkingDisk(std::string part_path) : part_path_(std::move(part_path)) {}

  int truncate(int descriptor, off_t length) override {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && length < status.st_size)
      if (const auto marked = RecoveryMark(part_path_).lower(static_cast<std::uint64_t>(length)); !marked) {
        errno = marked.error().native != 0 ? marked.error().native : EIO;
        return -1;
      }
    return Disk::truncate(descriptor, length);
  }

 private:
  std::string part_path_;
};

class Recovery {
 public:
  Recovery(const Recoverable& file, const WorkFile& work, const Logged& logged, const Logged::State& state,
           std::vector<ChunksOfLog> chunks, int descriptor)
      : file_(file),
        work_(work),
        logged_(logged),
        state_(state),
        chunks_(std::move(chunks)),
        disk_(Disk::real()),
        descriptor_(descriptor) {}

  Result<Recovered> run() {
    if (!work_.copy) disk_ = std::make_shared<MarkingDisk>(file_.part_path);
    AFTERBAY_TRY_ASSIGN(writer_, BlockWriter::open(descriptor_, work_.path, DirectIo::off, disk_));
    AFTERBAY_TRY(check_places());
    AFTERBAY_TRY(write_structure());
    AFTERBAY_TRY(write_fills());
    AFTERBAY_TRY_ASSIGN(const std::uint64_t size, writer_->size_bytes());
    if (size < state_.of.size_bytes) AFTERBAY_TRY(writer_->truncate(state_.of.size_bytes));
    if (traits_of(state_.of.format).messages != nullptr) {
      AFTERBAY_TRY(append_messages());
    } else if (!traits_of(state_.of.format).arithmetic_places) {
      const LibraryLock lock;  // the child must not find HDF5 in the middle of a call
      AFTERBAY_TRY(
          in_child("HDF5's part of the recovery of " + file_.path, [this] { return finish_hdf5(); }));
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
  [[nodiscard]] bool is_in(std::uint64_t limit, std::uint64_t offset, std::uint64_t size_bytes) const {
    return offset <= limit && size_bytes <= limit - offset;
  }

  /// A damaged log must not fill the disk: everything that is written must lie within the file or
  /// its free space.
  Result<> check_places() const {
    constexpr std::uint64_t largest = std::numeric_limits<off_t>::max();
    AFTERBAY_TRY_ASSIGN(const std::uint64_t size, writer_->size_bytes());
    const std::int64_t room = disk_->free_bytes(descriptor_);
    const std::uint64_t limit =
        room < 0 ? largest : std::min(largest, size + static_cast<std::uint64_t>(room));
    bool all = state_.of.size_bytes <= largest;
    for (const LoggedFill& fill : state_.fills) all = all && is_in(limit, fill.offset, fill.size_bytes);
    for (const LoggedBefore& before : logged_.before)
      all = all && is_in(limit, before.offset, before.size_bytes);
    for (const Logged::Step& step : logged_.structure)
      if (const auto* structure = std::get_if<LoggedStructure>(&step.what);
          structure != nullptr && step.end <= state_.of.cut)
        all = all && is_in(limit, structure->offset, structure->size_bytes);
    if (all) return {};
    return fail(make_error(ErrorCode::format,
                           "the log of {} names places beyond byte {}, where file and free space end: it is "
                           "damaged, or the disk is full; make room, or recover another epoch",
                           file_.part_path, limit));
  }

  /// Writes all structure from the first epoch on, and before it the old bytes of a file that was
  /// appended to: bytes that a crash, this program or later epochs left there are overwritten.
  Result<> write_structure() {
    AFTERBAY_TRY_ASSIGN(const auto log, EpochLog::open(EpochLog::path_of(file_.part_path), disk_));
    WithheldStructure newest;
    for (const LoggedBefore& it : logged_.before)
      newest.put(it.offset, it.size_bytes, it.bytes_at);  // disjoint
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

  /// A file of messages is cut where its epoch no longer is contiguous, and the messages in the log
  /// are appended. Each is in the log once, also if it belongs to several epochs; those before the
  /// cut are in the file by now.
  Result<> append_messages() {
    const std::vector<std::uint64_t>& from = state_.of.with_records;
    std::map<std::vector<std::uint64_t>, const LoggedChunk*> messages;
    for (const auto& [number, state] : logged_.epochs)
      for (const LoggedChunk& message : state.chunks)
        if (number <= state_.of.epoch.number && message.first_element >= from)
          messages[message.first_element] = &message;
    AFTERBAY_TRY(writer_->truncate(state_.of.size_bytes));
    AFTERBAY_TRY_ASSIGN(const auto log, EpochLog::open(EpochLog::path_of(file_.part_path), disk_));
    std::uint64_t end_bytes = state_.of.size_bytes;
    WriteCost cost;
    for (const auto& [key, message] : messages) {
      std::vector<std::byte> bytes(message->size_bytes);
      AFTERBAY_TRY(log->read(message->bytes_at, bytes));
      const Extent extent{end_bytes, bytes};
      AFTERBAY_TRY(writer_->write({&extent, 1}, cost));
      end_bytes += bytes.size();
    }
    AFTERBAY_TRY(writer_->truncate(end_bytes));
    const auto seal = traits_of(state_.of.format).messages->seal;
    if (seal == nullptr) return {};
    WriterBytes bytes(*writer_);
    return seal(bytes, end_bytes).map([](std::uint64_t) {});
  }

  /// Restores chunks that were written again later, and the number of records.
  Result<> finish_hdf5() {
    FileDriver driver(*writer_);
    AFTERBAY_TRY_ASSIGN(const Hdf5Id access, driver.access_list());
    Hdf5Id file(H5Fopen(work_.path.c_str(), H5F_ACC_RDWR, access.get()));
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

  /// `grow`: only if there are fewer; otherwise sets exactly this number.
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
    if (chunk.first_element.empty()) return false;
    return std::ranges::find(with_records, chunk.variable) == with_records.end() ||
           chunk.first_element.front() < state_.of.epoch.records;
  }

  Result<> write_chunk(hid_t file, FileDriver& driver, const LoggedChunk& chunk, const EpochLog& log) const {
    std::vector<std::byte> bytes(chunk.size_bytes);
    AFTERBAY_TRY(log.read(chunk.bytes_at, bytes));
    AFTERBAY_TRY_ASSIGN(const Hdf5Id opened, dataset(file, driver, chunk.variable));
    const std::vector<hsize_t> at(chunk.first_element.begin(), chunk.first_element.end());
    const Hdf5Id space(H5Dget_space(opened.get()));
    if (H5Sget_simple_extent_ndims(space.get()) != static_cast<int>(at.size()))
      return fail(make_error(ErrorCode::format,
                             "the log of {} has a chunk of {} dimensions, variable '{}' not", file_.part_path,
                             at.size(), state_.of.datasets[chunk.variable])
                      .in_variable(state_.of.datasets[chunk.variable]));
    if (H5Dwrite_chunk(opened.get(), H5P_DEFAULT, chunk.skipped, at.data(), bytes.size(), bytes.data()) >= 0)
      return {};
    const std::string& name = state_.of.datasets[chunk.variable];
    return fail(driver.error("write a chunk of variable '" + name + "'").in_variable(name));
  }

  /// Does not read holes, which read as 0: a damaged log can make the file arbitrarily long.
  Result<> sum() {
    std::vector<std::byte> bytes(step_bytes);
    for (std::uint64_t at = 0; at < result_.size_bytes;) {
      const off_t data = ::lseek(descriptor_, static_cast<off_t>(at), SEEK_DATA);
      const std::uint64_t begin = data >= 0        ? static_cast<std::uint64_t>(data)
                                  : errno == ENXIO ? result_.size_bytes
                                                   : at;
      if (begin > at) {
        sum_zeros(std::min(begin, result_.size_bytes) - at);
        at = begin;
        continue;
      }
      bytes.resize(std::min(step_bytes, result_.size_bytes - at));
      AFTERBAY_TRY(writer_->read(at, bytes));
      result_.checksum = crc64(bytes, result_.checksum);
      at += bytes.size();
    }
    return {};
  }

  void sum_zeros(std::uint64_t count) {
    const std::byte zero{};
    std::uint64_t of_run = crc64({&zero, 1});
    for (std::uint64_t run = 1; count != 0; run *= 2, count /= 2) {
      if (count % 2 != 0) result_.checksum = joined_crc64(result_.checksum, of_run, run);
      of_run = joined_crc64(of_run, of_run, run);
    }
  }

  const Recoverable& file_;
  const WorkFile& work_;
  const Logged& logged_;
  const Logged::State& state_;
  std::vector<ChunksOfLog> chunks_;
  std::shared_ptr<Disk> disk_;
  int descriptor_;
  std::unique_ptr<BlockWriter> writer_;
  Recovered result_;
};

}  // namespace

Result<Recoverable> find_recoverable(const std::string& path, bool copied) {
  Recoverable file;
  file.copied = copied;
  const std::size_t stem = path.size() - std::min(path.size(), part_path("").size());
  file.path = path == part_path(path.substr(0, stem)) ? path.substr(0, stem) : path;
  file.part_path = part_path(file.path);
  const Descriptor part(::open(file.part_path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!part.open())
    return fail(make_error(ErrorCode::io, "there is no file {} to recover", file.part_path)
                    .with_native(errno)
                    .in_file(file.path)
                    .add("a file that was published has its final name, and needs no recovery"));
  AFTERBAY_TRY(check_has_epochs(file, part.get()));
  auto logged = read_log(EpochLog::path_of(file.part_path));
  if (!logged)
    return fail(std::move(logged).error().in_file(file.path).add(
        "only a file that was open when an epoch completed can be recovered"));
  AFTERBAY_TRY(check_not_published(file, part.get()));
  AFTERBAY_TRY(check_identity(file, logged->part, part.get()));
  file.made_for = logged->part;
  MemberLogs members(file.part_path, logged->part);
  for (const auto& [number, state] : logged->epochs)
    if (members.chunks(state.of)) file.epochs.push_back(state.of.epoch);
  return file;
}

Result<> check_recoverable(const Recoverable& file, std::uint64_t number) {
  const Descriptor part(::open(file.part_path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!part.open()) return fail(system_error(errno, "open", file.part_path));
  AFTERBAY_TRY_ASSIGN(const Logged logged, in_file(read_log(EpochLog::path_of(file.part_path)), file.path));
  const auto found = logged.epochs.find(number);
  if (found == logged.epochs.end())
    return fail(make_error(ErrorCode::invalid_argument, "{} has no epoch {}", file.part_path, number)
                    .in_file(file.path));
  return check_size(file, found->second.of, part.get());
}

Result<Recovered> recover_file(const Recoverable& file, const RecoverOptions& options) {
  AFTERBAY_TRY_ASSIGN(const Alone alone, open_alone(file));
  const Descriptor& part = alone.part;
  if (file.epochs.empty())
    return fail(
        make_error(ErrorCode::bad_state, "{} has no complete epoch", file.part_path).in_file(file.path));
  const std::uint64_t number = options.epoch.value_or(file.epochs.back().number);
  if (std::ranges::find(file.epochs, number, &Epoch::number) == file.epochs.end())
    return fail(make_error(ErrorCode::invalid_argument, "{} has no epoch {}: it has {} to {}", file.part_path,
                           number, file.epochs.front().number, file.epochs.back().number)
                    .in_file(file.path));
  AFTERBAY_TRY(check_not_published(file, part.get()));
  if (!options.replace && ::access(file.path.c_str(), F_OK) == 0)
    return fail(make_error(ErrorCode::exists,
                           "{} exists already: remove it, or say that it is to be replaced", file.path)
                    .with_native(EEXIST)
                    .in_file(file.path));
  // Checked again, with the lock: another recovery or run may have come first.
  AFTERBAY_TRY_ASSIGN(const Logged logged, in_file(read_log(EpochLog::path_of(file.part_path)), file.path));
  AFTERBAY_TRY(check_identity(file, logged.part, part.get()));
  const auto found = logged.epochs.find(number);
  auto chunks = found == logged.epochs.end()
                    ? std::nullopt
                    : MemberLogs(file.part_path, logged.part).chunks(found->second.of);
  if (!chunks || !has_name(part.get(), file.part_path))
    return fail(make_error(ErrorCode::conflict,
                           "{} was changed meanwhile by another recovery or run: try again", file.part_path)
                    .in_file(file.path));
  const Logged::State& state = found->second;
  AFTERBAY_TRY(check_size(file, state.of, part.get()));
  const bool last = number == logged.epochs.rbegin()->first;
  AFTERBAY_TRY_ASSIGN(const WorkFile work,
                      last ? Result<WorkFile>(in_place(file)) : copy_of(file, part.get()));
  chunks->push_back({EpochLog::path_of(file.part_path), state.chunks});
  const auto make = [&]() -> Result<Recovered> {
    const int descriptor = work.copy ? work.opened.get() : part.get();
    AFTERBAY_TRY_ASSIGN(Recovered made,
                        Recovery(file, work, logged, state, *std::move(chunks), descriptor).run());
    const PartIdentity identity = identity_of_part(descriptor);
    made.inode = identity.inode;
    made.born_ns = identity.born_ns;
    if (options.before_name) AFTERBAY_TRY(options.before_name(made));
    if (!has_name(descriptor, work.path))
      return fail(ErrorCode::conflict, "{} was renamed or removed meanwhile: try again", work.path);
    AFTERBAY_TRY(give_name(*Disk::real(), descriptor, work.path, file.path, options.replace));
    return made;
  };
  auto recovered = in_file(make(), file.path);
  if (!recovered) {
    if (work.copy) ::unlink(work.path.c_str());
    return recovered;
  }
  if (work.copy) remove_name(work.opened.get(), work.path);
  // While the new name is not durable, a loss of power restores this one.
  if (!work.copy) remove_name(part.get(), file.part_path);
  AFTERBAY_TRY(sync_directory_of(*Disk::real(), file.path));
  // The part file before its logs: a part file without logs would look like one that never had an
  // epoch.
  if (work.copy) remove_name(part.get(), file.part_path);
  // Another run may have created other logs meanwhile.
  remove_epoch_logs(file.part_path, logged.part);
  return recovered;
}

}  // namespace afterbay::storage
