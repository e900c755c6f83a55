// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/waiting_messages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "storage/block_writer/system_error.hpp"

namespace afterbay::storage {

WaitingMessages::WaitingMessages(std::string part_path, std::shared_ptr<Disk> disk,
                                 std::shared_ptr<ByteAllowance> allowance)
    : part_path_(std::move(part_path)), disk_(std::move(disk)), allowance_(std::move(allowance)) {}

WaitingMessages::~WaitingMessages() { allowance_->give_back(taken_bytes_); }

Result<WaitingMessages::Kept> WaitingMessages::keep(std::vector<std::byte> message) {
  Kept kept;
  kept.size_bytes = message.size();
  if (allowance_->take(message.size())) {
    taken_bytes_ += message.size();
    kept.bytes = std::move(message);
    return kept;
  }
  AFTERBAY_TRY_ASSIGN(kept.offset, spill(message));
  return kept;
}

Result<std::vector<std::byte>> WaitingMessages::take(Kept kept) {
  if (kept.bytes.empty()) return copy(kept);
  allowance_->give_back(kept.size_bytes);
  taken_bytes_ -= kept.size_bytes;
  return std::move(kept.bytes);
}

Result<std::vector<std::byte>> WaitingMessages::copy(const Kept& kept) const {
  if (!kept.bytes.empty()) return kept.bytes;
  std::vector<std::byte> bytes(kept.size_bytes);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = disk_->read(file_.get(), bytes.data() + done, bytes.size() - done,
                                    static_cast<off_t>(kept.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return fail(system_error(got < 0 ? errno : EIO, "read back waiting messages of", part_path_));
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<std::uint64_t> WaitingMessages::spill(const std::vector<std::byte>& message) {
  if (!file_.open()) AFTERBAY_TRY(open());
  for (std::size_t done = 0; done < message.size();) {
    const ssize_t put = disk_->write(file_.get(), message.data() + done, message.size() - done,
                                     static_cast<off_t>(spilled_bytes_ + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      return fail(system_error(errno, "write messages that wait for earlier ones, beside", part_path_));
    done += static_cast<std::size_t>(put);
  }
  spilled_bytes_ += message.size();
  return spilled_bytes_ - message.size();
}

/// A file that has no name from the moment on that it is open.
Result<> WaitingMessages::open() {
  const std::string directory = std::filesystem::path(part_path_).parent_path().string();
  file_ = Descriptor(
      disk_->open(directory.empty() ? "." : directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file_.open()) return {};
  const std::string name = part_path_ + ".waiting";  // a file system without O_TMPFILE
  file_ = Descriptor(disk_->open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_.open()) return fail(system_error(errno, "create", name));
  ::unlink(name.c_str());
  return {};
}

}  // namespace afterbay::storage
