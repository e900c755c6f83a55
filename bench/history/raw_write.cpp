// SPDX-License-Identifier: Apache-2.0
// Reference: one process writes the bytes of the history with O_DIRECT in 4 MiB blocks, with
// --outstanding writes in flight, and flushes. The speed of the disk; nothing is formatted.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "common/durable.hpp"
#include "common/history_run.hpp"
#include "common/timing.hpp"

namespace bench {
namespace {

constexpr std::size_t block_bytes = 4u << 20;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t buffer_count = 8;

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<std::byte, Free>;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Buffer make_buffer() {
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(page_bytes, block_bytes)));
  if (!buffer) fail("allocate a block");
  std::memset(buffer.get(), 1, block_bytes);
  return buffer;
}

class RawFile {
 public:
  RawFile(const std::string& path, std::size_t bytes, bool preallocate) : path_(path), bytes_(bytes) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) fail("open with O_DIRECT " + path);
    if (preallocate && ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) != 0)
      fail("fallocate " + path);
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() { ::close(descriptor_); }

  void write(const std::vector<Buffer>& buffers, int outstanding) {
    std::atomic<std::size_t> next{0};
    std::atomic<int> error{0};
    {
      std::vector<std::jthread> writers;
      for (int writer = 1; writer < outstanding; ++writer) {
        writers.emplace_back([&] { write_blocks(buffers, next, error); });
      }
      write_blocks(buffers, next, error);
    }
    if (error != 0) throw std::system_error(error, std::generic_category(), "write " + path_);
  }

 private:
  void write_blocks(const std::vector<Buffer>& buffers, std::atomic<std::size_t>& next,
                    std::atomic<int>& error) const {
    while (error == 0) {
      const std::size_t index = next.fetch_add(1);
      const std::size_t offset = index * block_bytes;
      if (offset >= bytes_) return;
      const std::size_t length = std::min(block_bytes, bytes_ - offset);
      const ssize_t written =
          ::pwrite(descriptor_, buffers[index % buffers.size()].get(), length, static_cast<off_t>(offset));
      if (written != static_cast<ssize_t>(length)) error = written < 0 ? errno : EIO;
    }
  }

  std::string path_;
  std::size_t bytes_;
  int descriptor_ = -1;
};

void run(const Options& options) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < buffer_count; ++i) buffers.push_back(make_buffer());
  const std::size_t file_bytes = options.grid.record_bytes() * static_cast<std::size_t>(options.records);
  const std::size_t padded = (file_bytes + page_bytes - 1) / page_bytes * page_bytes;

  Timings timings;
  const double cpu_start = process_cpu_s();
  const double start = now_s();
  for (int file = 0; file < options.files; ++file) {
    RawFile(options.file_path(file), padded, options.preallocate).write(buffers, options.outstanding);
  }
  finish_on_rank_0(options, MPI_COMM_SELF);
  timings.end_s = now_s() - start;
  timings.cpu_s = process_cpu_s() - cpu_start;
  timings.blocked_s = {timings.end_s};
  report(options, MPI_COMM_SELF, timings, {{"program", "raw_write"}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, "raw O_DIRECT write of the history's bytes", bench::run);
}
