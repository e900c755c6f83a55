// SPDX-License-Identifier: Apache-2.0
#include "common/durable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bench {
namespace {

void flush(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "open " + path);
  const int failed = ::fsync(descriptor) != 0 ? errno : 0;
  ::close(descriptor);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "fsync " + path);
}

}  // namespace

void make_durable(const std::vector<std::string>& files, const std::string& directory) {
  for (const std::string& file : files) flush(file, O_RDWR);
  flush(directory, O_RDONLY | O_DIRECTORY);
}

void finish_on_rank_0(const Options& options, MPI_Comm model) {
  int rank = 0;
  MPI_Comm_rank(model, &rank);
  if (rank == 0) {
    std::vector<std::string> files;
    for (int file = 0; file < options.files; ++file) files.push_back(options.file_path(file));
    make_durable(files, options.directory);
  }
  MPI_Barrier(model);
}

}  // namespace bench
