// SPDX-License-Identifier: Apache-2.0
// Baseline: every process writes its own binary file (FPP), in 4 MiB writes, and flushes it. --mode
// buffered or direct (O_DIRECT, from memory that is already aligned).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/durable.hpp"
#include "shared/shared_run.hpp"

namespace bench::shared {
namespace {

constexpr std::size_t write_bytes = 4u << 20;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class OwnFile final : public Writer {
 public:
  explicit OwnFile(const Options& options) : options_(options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    path_ = options.directory + "/rank." + std::to_string(rank_) + ".bin";
    if (rank_ == 0 && options.stripe_count != 0) stripe();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;
  ~OwnFile() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  void open(const Block& /*block*/) override {
    const int direct = options_.mode == "direct" ? O_DIRECT : 0;
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | direct, 0644);
    if (descriptor_ < 0) fail("open " + path_);
  }

  void write(const Block& block, int record) override {
    const char* bytes = reinterpret_cast<const char*>(block.data());
    const std::size_t begin = static_cast<std::size_t>(record) * block.bytes();
    for (std::size_t done = 0; done < block.bytes();) {
      const std::size_t count = std::min(write_bytes, block.bytes() - done);
      const ssize_t written = ::pwrite(descriptor_, bytes + done, count, static_cast<off_t>(begin + done));
      if (written <= 0) fail("write " + path_);
      done += static_cast<std::size_t>(written);
    }
  }

  void finish() override {
    if (::fsync(descriptor_) != 0) fail("fsync " + path_);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) make_durable({}, options_.directory);
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  /// On Lustre, as in the ARCHER study: sets the striping for the files of the directory.
  void stripe() {
    std::string command = "lfs setstripe -c " + std::to_string(options_.stripe_count);
    if (options_.stripe_mib != 0) command += " -S " + std::to_string(options_.stripe_mib) + "M";
    command += " '" + options_.directory + "'";
    if (std::system(command.c_str()) != 0) throw std::runtime_error(command + " failed");
  }

  const Options& options_;
  int rank_ = 0;
  int descriptor_ = -1;
  std::string path_;
};

void body(const Options& options) {
  check_mode(options, {"buffered", "direct"});
  OwnFile writer(options);
  run(options, MPI_COMM_WORLD, writer, {{"program", "file_per_process"}, {"mode", options.mode}});
}

}  // namespace
}  // namespace bench::shared

int main(int argc, char** argv) {
  return bench::shared::run_program(argc, argv, "a file per process, POSIX", bench::shared::body);
}
