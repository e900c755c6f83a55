// SPDX-License-Identifier: Apache-2.0
// Reference: every rank writes the bytes of its arrays to its own place in one file, unformatted,
// and the file is flushed. --mode buffered: through the page cache; --mode direct: O_DIRECT from a
// buffer to which the arrays are copied.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "e3sm/run.hpp"

namespace bench::e3sm {
namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

class RawWriter final : public Writer {
 public:
  RawWriter(const Options& options, const Fields& fields)
      : options_(options),
        fields_(fields),
        direct_(options.mode == "direct"),
        path_(options.directory + "/e3sm.raw") {
    place(0, 0);
    place(1, totals_[0]);
    buffer_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, whole_pages(fields.bytes(0) + 1))));
    std::memset(buffer_.get(), 0, whole_pages(fields.bytes(0) + 1));
  }

  void open() override {
    if (rank() == 0) ::close(open_file(O_CREAT | O_TRUNC));
    MPI_Barrier(MPI_COMM_WORLD);
    descriptor_ = open_file(direct_ ? O_DIRECT : 0);
  }

  void post(int record) override {
    std::size_t length = 0;
    for (const auto& part : fields_.parts(record)) {
      std::memcpy(buffer_.get() + length, part.data(), part.size());
      length += part.size();
    }
    const std::size_t kind = record == 0 ? 0 : 1;
    const std::size_t later = record == 0 ? 0 : static_cast<std::size_t>(record - 1) * totals_[1];
    write(direct_ ? whole_pages(length) : length, starts_[kind] + later);
  }

  void flush(int /*record*/) override {}
  void close() override { ::close(descriptor_); }
  void finish() override {
    MPI_Barrier(MPI_COMM_WORLD);
    finish_on_rank_0(options_, path_, MPI_COMM_WORLD);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  static int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }

  /// The position of this rank's part of the first record (kind 0) or of a later one, from `base`.
  void place(int kind, std::size_t base) {
    const unsigned long own = whole_pages(fields_.bytes(kind));
    unsigned long before = 0;
    unsigned long total = 0;
    MPI_Exscan(&own, &before, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    starts_[kind] = base + (rank() == 0 ? 0 : before);
    totals_[kind] = total;
  }

  [[nodiscard]] int open_file(int flags) const {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644);
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "open " + path_);
    return descriptor;
  }

  void write(std::size_t length, std::size_t offset) const {
    std::size_t done = 0;
    while (done < length) {
      const ssize_t written =
          ::pwrite(descriptor_, buffer_.get() + done, length - done, static_cast<off_t>(offset + done));
      if (written <= 0) throw std::system_error(errno, std::generic_category(), "write " + path_);
      done += static_cast<std::size_t>(written);
    }
  }

  const Options& options_;
  const Fields& fields_;
  bool direct_;
  std::string path_;
  std::size_t starts_[2] = {0, 0};
  std::size_t totals_[2] = {0, 0};
  std::unique_ptr<std::byte, Free> buffer_;
  int descriptor_ = -1;
};

void run(const Options& options) {
  if (options.mode != "buffered" && options.mode != "direct") {
    throw std::invalid_argument("--mode is '" + options.mode + "'; give buffered or direct");
  }
  run_baseline(
      options, ArrayOrder::captured, {{"program", "raw_e3sm"}, {"mode", options.mode}},
      [&](const Case&, const Fields& fields) { return std::make_unique<RawWriter>(options, fields); });
}

}  // namespace
}  // namespace bench::e3sm

int main(int argc, char** argv) {
  return bench::e3sm::run_program(argc, argv, "raw write of E3SM's bytes (--mode buffered, direct)",
                                  bench::e3sm::run);
}
