// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "storage/reader/reader_process.hpp"

namespace afterbay::storage {
namespace {

namespace fs = std::filesystem;

constexpr const char* program_variable = "AFTERBAY_READER";
constexpr const char* program_place = "libexec/afterbay/afterbay-reader";

/// The files that contain this code: the shared library and the program.
std::vector<fs::path> own_files() {
  std::vector<fs::path> files;
  std::error_code ignored;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&program_place), &info) != 0 && info.dli_fname != nullptr)
    files.push_back(fs::canonical(info.dli_fname, ignored));
  files.push_back(fs::read_symlink("/proc/self/exe", ignored));
  if (const auto* started_as =
          reinterpret_cast<const char*>(::getauxval(AT_EXECFN)))  // used if there is no /proc
    files.push_back(fs::canonical(started_as, ignored));
  return files;
}

/// Whether the program can be executed and belongs to root, to this user or to the owner of
/// `neighbour`, the library or program beside which it was found: a parent directory may be
/// writable by everyone.
bool usable(const fs::path& program, const fs::path& neighbour) {
  struct stat found {};
  struct stat trusted {};
  if (::stat(program.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
  const bool owned = found.st_uid == 0 || found.st_uid == ::geteuid() ||
                     (::stat(neighbour.c_str(), &trusted) == 0 && trusted.st_uid == found.st_uid);
  return owned && ::access(program.c_str(), X_OK) == 0;
}

std::optional<std::string> beside(const fs::path& own_file) {
  // For lib/x86_64-linux-gnu/libafterbay.so and build/dev/apps/afterbay/afterbay.
  constexpr int most_levels = 3;
  fs::path folder = own_file.parent_path();
  for (int level = 0; level < most_levels && !folder.empty(); ++level, folder = folder.parent_path()) {
    const fs::path program = folder / program_place;
    if (usable(program, own_file)) return program.string();
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> find_reader_program() {
  if (const char* named = ::secure_getenv(program_variable); named != nullptr && *named != '\0') {
    if (::access(named, X_OK) == 0) return named;
    return fail(ErrorCode::io, "{} is '{}', which is not an executable program: set it to the file {}",
                program_variable, named, program_place);
  }
  for (const fs::path& own_file : own_files())
    if (auto program = beside(own_file)) return *std::move(program);
  return fail(ErrorCode::io,
              "the program afterbay-reader, which reads netCDF-4 files, is not at {} in the installation: "
              "install it, or set {} to its path",
              program_place, program_variable);
}

}  // namespace afterbay::storage
