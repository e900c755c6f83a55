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

/// The location of a file with that path: the target of a symbolic link, whether it exists or not.
Result<std::string> place_of(const std::string& path) {
  constexpr int most_links = 40;  // the kernel's limit
  std::filesystem::path place = path;
  std::error_code problem;
  for (int i = 0; i < most_links; ++i) {
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(place, problem))) return place.string();
    const std::filesystem::path target = std::filesystem::read_symlink(place, problem);
    if (problem) return fail(output_error(problem.value(), "created", path));
    place = target.is_absolute() ? target : place.parent_path() / target;
  }
  return fail(output_error(ELOOP, "created", path));
}

}  // namespace

Result<std::unique_ptr<PartFile>> PartFile::create(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(std::string place, place_of(path));
  constexpr int most_tried = 1000;
  int number = EEXIST;
  for (int i = 0; i < most_tried && number == EEXIST; ++i) {
    std::string name = i == 0 ? fmt::format("{}.{}.part", place, ::getpid())
                              : fmt::format("{}.{}-{}.part", place, ::getpid(), i);
    const storage::Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.open()) return std::unique_ptr<PartFile>(new PartFile(path, std::move(place), std::move(name)));
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
  if (::rename(name_.c_str(), place_.c_str()) != 0)
    return fail(error(errno, "renamed from its temporary name"));
  published_ = true;
  return {};
}

Result<> check_place(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(const std::string place, place_of(path));
  std::filesystem::path directory = std::filesystem::path(place).parent_path();
  if (directory.empty()) directory = ".";
  struct stat about {};
  if (::stat(directory.c_str(), &about) != 0) return fail(output_error(errno, "created", path));
  if (!S_ISDIR(about.st_mode)) return fail(output_error(ENOTDIR, "created", path));
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return fail(output_error(errno, "created", path));
  if (::stat(place.c_str(), &about) != 0 || S_ISREG(about.st_mode)) return {};
  if (S_ISDIR(about.st_mode)) return fail(output_error(EISDIR, "created", path));
  return fail(make_error(ErrorCode::invalid_argument,
                         "is a device, pipe or socket and would be replaced by a file: give another path")
                  .in_file(path));
}

}  // namespace afterbay::decomp
