// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch/epoch_log.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "base/crc64.hpp"
#include "storage/block_writer/final_name.hpp"
#include "storage/block_writer/part_file.hpp"
#include "storage/block_writer/system_error.hpp"

namespace afterbay::storage {
namespace {

constexpr const char* recovery_mark_suffix = ".recovering";
constexpr std::string_view log_magic = "afterbay epochs 4\n";

/// Follows the magic.
struct LogHead {
  PartIdentity part;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(LogHead) == 40 && sizeof(PartIdentity) == 32);

std::uint64_t checksum_of(const PartIdentity& part) { return crc64(std::as_bytes(std::span(&part, 1))); }

enum class RecordKind : std::uint32_t { structure = 1, fill = 2, chunk = 3, epoch = 4, data = 5, before = 6 };

/// Precedes each record; the checksum covers kind, lengths and everything that follows.
struct RecordHead {
  std::uint32_t kind = 0;
  std::uint32_t head_bytes = 0;
  std::uint64_t size_bytes = 0;  ///< size of the record, head included
  std::uint64_t checksum = 0;
};
static_assert(sizeof(RecordHead) == 24);

std::uint64_t checksum_of(const RecordHead& head, std::span<const std::byte> fields,
                          std::span<const std::byte> bytes) {
  const auto numbers = std::as_bytes(std::span(&head, 1)).first(offsetof(RecordHead, checksum));
  return crc64(bytes, crc64(fields, crc64(numbers)));
}

/// Numbers in the byte order of this machine (little-endian on all supported systems), texts
/// preceded by their length.
class FieldWriter {
 public:
  void operator()(std::uint64_t value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void operator()(std::span<const std::byte> bytes) {
    (*this)(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void operator()(const std::string& text) { (*this)(std::as_bytes(std::span(text))); }
  void operator()(const std::vector<std::uint64_t>& values) {
    (*this)(values.size());
    for (const std::uint64_t value : values) (*this)(value);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// The counterpart of FieldWriter; returns false if there are too few bytes.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  [[nodiscard]] bool operator()(std::uint64_t& value) {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return true;
  }
  [[nodiscard]] bool operator()(std::vector<std::byte>& bytes) {
    std::uint64_t count = 0;
    if (!(*this)(count) || count > rest_.size()) return false;
    bytes.assign(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count));
    rest_ = rest_.subspan(count);
    return true;
  }
  [[nodiscard]] bool operator()(std::string& text) {
    std::vector<std::byte> bytes;
    if (!(*this)(bytes)) return false;
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }
  [[nodiscard]] bool operator()(std::vector<std::uint64_t>& values) {
    std::uint64_t count = 0;
    if (!(*this)(count) || count > rest_.size() / sizeof count) return false;
    values.resize(count);
    for (std::uint64_t& value : values)
      if (!(*this)(value)) return false;
    return true;
  }

 private:
  std::span<const std::byte> rest_;
};

FieldWriter fields_of(const LoggedEpoch& epoch) {
  FieldWriter fields;
  fields(epoch.epoch.number);
  fields(epoch.epoch.name);
  fields(epoch.epoch.at);
  fields(epoch.cut);
  fields(epoch.epoch.records);
  fields(epoch.size_bytes);
  fields(epoch.part_bytes);
  fields(std::string(name_of(epoch.format)));
  fields(epoch.datasets.size());
  for (const std::string& name : epoch.datasets) fields(name);
  fields(epoch.with_records);
  fields(epoch.members);
  fields(epoch.epoch.dropped);
  return fields;
}

std::optional<LoggedEpoch> epoch_of(FieldReader fields) {
  LoggedEpoch epoch;
  std::string format;
  std::uint64_t names = 0;
  if (!fields(epoch.epoch.number) || !fields(epoch.epoch.name) || !fields(epoch.epoch.at) ||
      !fields(epoch.cut) || !fields(epoch.epoch.records) || !fields(epoch.size_bytes) ||
      !fields(epoch.part_bytes) || !fields(format) || !fields(names))
    return std::nullopt;
  const auto known = format_of(format);
  if (!known) return std::nullopt;
  epoch.format = *known;
  for (std::uint64_t i = 0; i < names; ++i)
    if (!fields(epoch.datasets.emplace_back())) return std::nullopt;
  if (!fields(epoch.with_records) || !fields(epoch.members) || !fields(epoch.epoch.dropped))
    return std::nullopt;
  return epoch;
}

/// The record that begins at `head` in the log; `fields` are its head bytes, the other bytes are at
/// `bytes_at`.
std::optional<decltype(LoggedRecord::what)> record_of(const RecordHead& head,
                                                      std::span<const std::byte> fields,
                                                      std::span<const std::byte> bytes,
                                                      std::uint64_t bytes_at) {
  FieldReader reader(fields);
  switch (static_cast<RecordKind>(head.kind)) {
    case RecordKind::structure: {
      LoggedStructure structure{0, bytes_at, bytes.size()};
      if (!reader(structure.offset)) return std::nullopt;
      return structure;
    }
    case RecordKind::before: {
      LoggedBefore before{0, bytes_at, bytes.size()};
      if (!reader(before.offset)) return std::nullopt;
      return before;
    }
    case RecordKind::data: {
      LoggedData data;
      if (!reader(data.offset) || !reader(data.size_bytes)) return std::nullopt;
      return data;
    }
    case RecordKind::fill: {
      LoggedFill fill;
      if (!reader(fill.offset) || !reader(fill.size_bytes)) return std::nullopt;
      fill.element.assign(bytes.begin(), bytes.end());
      return fill;
    }
    case RecordKind::chunk: {
      LoggedChunk chunk;
      std::uint64_t skipped = 0;
      if (!reader(chunk.variable) || !reader(chunk.first_element) || !reader(skipped)) return std::nullopt;
      chunk.skipped = static_cast<std::uint32_t>(skipped);
      chunk.bytes_at = bytes_at;
      chunk.size_bytes = bytes.size();
      return chunk;
    }
    case RecordKind::epoch: {
      auto epoch = epoch_of(reader);
      if (!epoch) return std::nullopt;
      return *std::move(epoch);
    }
  }
  return std::nullopt;
}

/// Whether `suffix` follows the name of a part file in the name of a member's log, or of a file
/// that `recover_file` creates.
bool is_of_a_log(std::string_view suffix) {
  constexpr std::string_view stem = ".epochs.";
  if (!suffix.starts_with(stem)) return false;
  const std::string_view end = suffix.substr(stem.size());
  return end == "recovering" || end == "copy" ||
         end.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Fails with conflict if the open file has lost its name.
Result<> check_name(int descriptor, const std::string& path) {
  if (has_name(descriptor, path)) return {};
  return fail(make_error(ErrorCode::conflict,
                         "{} was removed, renamed or replaced while it was written, so that the epoch cannot "
                         "be complete; does another run write files of the same name, or does somebody clean "
                         "up in this directory?",
                         path)
                  .in_file(path));
}

}  // namespace

std::string EpochLog::path_of(const std::string& part_path, std::optional<std::uint64_t> member) {
  std::string path = part_path + ".epochs";
  if (member) path += "." + std::to_string(*member);
  return path;
}

Result<std::unique_ptr<EpochLog>> EpochLog::create(const std::string& part_path,
                                                   std::optional<std::uint64_t> member,
                                                   std::shared_ptr<Disk> disk, int part) {
  const std::string path = path_of(part_path, member);
  const auto make = [&] {
    return Descriptor(disk->open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  };
  // As long as this writer owns the part file, its claim keeps other runs from these names:
  // existing files with them are old.
  AFTERBAY_TRY(check_name(part, part_path));
  Descriptor file = make();
  if (!file.open() && errno == EEXIST) {
    AFTERBAY_TRY(check_name(part, part_path));
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(system_error(errno, "remove", path));
    file = make();
  }
  if (!file.open()) return fail(system_error(errno, "create", path));
  const std::string mark = recovery_mark_of(part_path);
  if (!member && ::unlink(mark.c_str()) != 0 && errno != ENOENT)
    return fail(system_error(errno, "remove", mark));
  std::unique_ptr<EpochLog> log(new EpochLog(path, std::move(disk), std::move(file)));
  log->part_path_ = part_path;
  log->part_ = part;
  LogHead head{mark_part(part), 0};
  head.checksum = checksum_of(head.part);
  const MutexLock lock(log->mutex_);
  AFTERBAY_TRY(log->write(std::as_bytes(std::span(log_magic)), 0));
  AFTERBAY_TRY(log->write(std::as_bytes(std::span(&head, 1)), log_magic.size()));
  log->end_ = log_magic.size() + sizeof head;
  return log;
}

Result<std::unique_ptr<EpochLog>> EpochLog::open(std::string path, std::shared_ptr<Disk> disk) {
  Descriptor file(disk->open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
  if (!file.open()) return fail(system_error(errno, "open", path));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(
        make_error(ErrorCode::format, "{} should be an epoch log, but is not a regular file: remove it", path)
            .in_file(path));
  return std::unique_ptr<EpochLog>(new EpochLog(std::move(path), std::move(disk), std::move(file)));
}

Result<> EpochLog::write(std::span<const std::byte> bytes, std::uint64_t at) const {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written =
        disk_->write(file_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(system_error(written < 0 ? errno : ENOSPC, "write to", path_));
    done += static_cast<std::size_t>(written);
  }
  return {};
}

Result<std::uint64_t> EpochLog::append(std::uint32_t kind, std::span<const std::byte> head,
                                       std::span<const std::byte> bytes) {
  RecordHead record{kind, static_cast<std::uint32_t>(head.size()), head.size() + bytes.size(), 0};
  record.checksum = checksum_of(record, head, bytes);
  std::vector<std::byte> front(sizeof record + head.size());
  std::memcpy(front.data(), &record, sizeof record);
  std::memcpy(front.data() + sizeof record, head.data(), head.size());
  const MutexLock lock(mutex_);
  AFTERBAY_TRY(write(front, end_));
  const std::uint64_t at = end_ + front.size();
  AFTERBAY_TRY(write(bytes, at));
  end_ = at + bytes.size();
  return at;
}

Result<std::uint64_t> EpochLog::add_structure(std::uint64_t offset, std::span<const std::byte> bytes) {
  return append(static_cast<std::uint32_t>(RecordKind::structure), std::as_bytes(std::span(&offset, 1)),
                bytes);
}

Result<> EpochLog::add_before(std::uint64_t offset, std::span<const std::byte> bytes) {
  AFTERBAY_TRY(
      append(static_cast<std::uint32_t>(RecordKind::before), std::as_bytes(std::span(&offset, 1)), bytes));
  return {};
}

Result<> EpochLog::add(const LoggedData& data) {
  FieldWriter fields;
  fields(data.offset);
  fields(data.size_bytes);
  AFTERBAY_TRY(append(static_cast<std::uint32_t>(RecordKind::data), fields.bytes(), {}));
  return {};
}

Result<> EpochLog::add(const LoggedFill& fill) {
  FieldWriter fields;
  fields(fill.offset);
  fields(fill.size_bytes);
  AFTERBAY_TRY(append(static_cast<std::uint32_t>(RecordKind::fill), fields.bytes(), fill.element));
  return {};
}

Result<> EpochLog::add(const LoggedChunk& chunk, std::span<const std::byte> bytes) {
  FieldWriter fields;
  fields(chunk.variable);
  fields(chunk.first_element);
  fields(chunk.skipped);
  AFTERBAY_TRY(append(static_cast<std::uint32_t>(RecordKind::chunk), fields.bytes(), bytes));
  return {};
}

Result<> EpochLog::sync() const {
  if (disk_->sync(file_.get()) != 0) return fail(system_error(errno, "make durable (fsync)", path_));
  return {};
}

Result<> EpochLog::commit(LoggedEpoch epoch) {
  struct stat part {};
  if (::fstat(part_, &part) != 0) return fail(system_error(errno, "find the size of the file of", path_));
  epoch.part_bytes = std::min(epoch.size_bytes, static_cast<std::uint64_t>(part.st_size));
  // Everything that belongs to the epoch must be durable before the record of the epoch.
  AFTERBAY_TRY(sync());
  AFTERBAY_TRY(append(static_cast<std::uint32_t>(RecordKind::epoch), fields_of(epoch).bytes(), {}));
  if (disk_->sync(file_.get()) != 0) return fail(system_error(errno, "make durable (fsync)", path_));
  if (!named_durably_) AFTERBAY_TRY(sync_directory_of(*disk_, path_));
  named_durably_ = true;
  // Files without a name are useless after a crash, even if they are durable.
  AFTERBAY_TRY(check_name(part_, part_path_));
  return check_name(file_.get(), path_);
}

Result<> EpochLog::read(std::uint64_t at, std::span<std::byte> bytes) const {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got =
        disk_->read(file_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(system_error(got < 0 ? errno : EIO, "read from", path_));
    done += static_cast<std::size_t>(got);
  }
  return {};
}

std::uint64_t EpochLog::end() const {
  const MutexLock lock(mutex_);
  return end_;
}

Result<EpochLogContents> read_epoch_log(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(const auto log, EpochLog::open(path, Disk::real()));
  std::error_code unknown;
  const std::uint64_t size_bytes = std::filesystem::file_size(path, unknown);
  if (unknown) return fail(system_error(unknown.value(), "find the size of", path));
  std::string magic(log_magic.size(), '\0');
  EpochLogContents contents;
  LogHead file_head;
  std::uint64_t at = log_magic.size() + sizeof file_head;
  if (size_bytes >= at) {
    AFTERBAY_TRY(log->read(0, std::as_writable_bytes(std::span(magic))));
    AFTERBAY_TRY(log->read(log_magic.size(), std::as_writable_bytes(std::span(&file_head, 1))));
  }
  if (magic != log_magic || checksum_of(file_head.part) != file_head.checksum)
    return fail(make_error(ErrorCode::format, "{} is not an epoch log of this version", path).in_file(path));
  contents.part = file_head.part;
  std::vector<std::byte> bytes;
  while (size_bytes - at >= sizeof(RecordHead)) {
    RecordHead head;
    AFTERBAY_TRY(log->read(at, std::as_writable_bytes(std::span(&head, 1))));
    at += sizeof head;
    // The record is incomplete.
    if (head.size_bytes > size_bytes - at || head.head_bytes > head.size_bytes) break;
    bytes.resize(head.size_bytes);
    AFTERBAY_TRY(log->read(at, bytes));
    const std::span<const std::byte> all(bytes);
    const auto fields = all.first(head.head_bytes);
    const auto rest = all.subspan(head.head_bytes);
    if (checksum_of(head, fields, rest) != head.checksum) break;
    auto record = record_of(head, fields, rest, at + head.head_bytes);
    if (!record) break;
    at += head.size_bytes;
    contents.records.push_back({*std::move(record), at});
  }
  return contents;
}

std::string recovery_mark_of(const std::string& part_path) {
  return EpochLog::path_of(part_path) + recovery_mark_suffix;
}

std::string recovery_copy_of(const std::string& part_path) { return EpochLog::path_of(part_path) + ".copy"; }

void remove_epoch_logs(const std::string& part_path, const PartIdentity& of) noexcept {
  const std::string path = EpochLog::path_of(part_path);
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened.open()) return;
  const auto records = read_epoch_log(path);
  if (!records || !logs_of_same_part(records->part, of)) return;
  std::set<std::uint64_t> members;
  for (const LoggedRecord& record : records->records)
    if (const auto* epoch = std::get_if<LoggedEpoch>(&record.what))
      members.insert(epoch->members.begin(), epoch->members.end());
  // Another run may have created a log with the same name while this one was read.
  const auto remove = [&](const std::string& name) {
    if (has_name(opened.get(), path)) static_cast<void>(::unlink(name.c_str()));
  };
  for (const std::uint64_t member : members) remove(EpochLog::path_of(part_path, member));
  remove(recovery_mark_of(part_path));
  remove(path);
}

Result<> remove_stale_epoch_logs(Disk& disk, const std::string& part_path, bool part_left) {
  const std::string log = EpochLog::path_of(part_path);
  struct stat status {};
  const bool logged = ::lstat(log.c_str(), &status) == 0;
  if (!logged && !part_left) return {};
  // Members' logs first: as long as the leader's log exists, the next run looks for them again.
  std::vector<std::string> stale;
  const std::filesystem::path directory = std::filesystem::path(part_path).parent_path();
  const std::string stem = std::filesystem::path(part_path).filename().string();
  std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.empty() ? "." : directory.c_str()),
                                              &::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr)
    if (const std::string_view name = entry->d_name; name.starts_with(stem))
      if (const std::string_view suffix = name.substr(stem.size());
          is_of_a_log(suffix) || is_temporary_name(suffix))
        stale.push_back((directory / name).string());
  if (logged) stale.push_back(log);
  for (const std::string& path : stale)
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      return fail(system_error(errno, "remove the log of an older file of the same name,", path));
  return stale.empty() ? Result<>() : sync_directory_of(disk, part_path);
}

}  // namespace afterbay::storage
