// SPDX-License-Identifier: Apache-2.0
#include "decomp/part_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "storage/block_writer/disk.hpp"
#include "storage/block_writer/system_error.hpp"

namespace afterbay::decomp {
namespace {

Error output_error(int number, const char* what, const std::string& path) {
  return make_error(storage::code_of_errno(number), "cannot be {}: {}", what, std::strerror(number))
      .in_file(path)
      .with_native(number);
}

}  // namespace

Result<std::unique_ptr<PartFile>> PartFile::create(const std::string& path) {
  constexpr int most_tried = 1000;
  int number = EEXIST;
  for (int i = 0; i < most_tried && number == EEXIST; ++i) {
    std::string name = i == 0 ? fmt::format("{}.{}.part", path, ::getpid())
                              : fmt::format("{}.{}-{}.part", path, ::getpid(), i);
    const storage::Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.open()) return std::unique_ptr<PartFile>(new PartFile(path, std::move(name)));
    number = errno;
  }
  return fail(output_error(number, "created", path));
}

PartFile::~PartFile() {
  if (!published_) ::unlink(name_.c_str());
}

Error PartFile::error(int number, const char* what) const { return output_error(number, what, path_); }

Result<> PartFile::write(std::span<const std::byte> contents) {
  const storage::Descriptor file(::open(name_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.open()) return fail(error(errno, "opened"));
  while (!contents.empty()) {
    const ssize_t count = ::write(file.get(), contents.data(), contents.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(error(count < 0 ? errno : ENOSPC, "written"));
    contents = contents.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<> PartFile::publish() {
  const storage::Descriptor file(::open(name_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.open() || ::fsync(file.get()) != 0) return fail(error(errno, "written"));
  if (::rename(name_.c_str(), path_.c_str()) != 0)
    return fail(error(errno, "renamed from its temporary name"));
  published_ = true;
  return {};
}

Result<> check_place(const std::string& path) {
  std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (directory.empty()) directory = ".";
  struct stat about {};
  if (::stat(directory.c_str(), &about) != 0) return fail(output_error(errno, "created", path));
  if (!S_ISDIR(about.st_mode)) return fail(output_error(ENOTDIR, "created", path));
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return fail(output_error(errno, "created", path));
  if (::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode))
    return fail(output_error(EISDIR, "created", path));
  return {};
}

}  // namespace afterbay::decomp
