// SPDX-License-Identifier: Apache-2.0
// Reference: the same number of bytes written with O_DIRECT and fsync and read again in the same
// way, by two threads in pieces of 4 MiB.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/timing.hpp"

namespace {

constexpr std::uint64_t piece_bytes = 4u << 20;
constexpr int threads = 2;

template <class Move>
void in_pieces(std::uint64_t bytes, const Move& move) {
  std::vector<std::jthread> workers;
  for (std::uint64_t t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(4096, piece_bytes), std::free);
      std::memset(memory.get(), 7, piece_bytes);
      for (std::uint64_t at = t * piece_bytes; at < bytes; at += threads * piece_bytes)
        if (move(memory.get(), at) != static_cast<ssize_t>(piece_bytes)) {
          std::fprintf(stderr, "raw_restart: %s\n", std::strerror(errno));
          std::exit(1);
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t mib = 4096;
  std::string directory = ".";
  CLI::App app("a file written and read past the page cache");
  app.add_option("--mib", mib, "size of the file");
  app.add_option("--dir", directory, "directory for the file");
  CLI11_PARSE(app, argc, argv);
  const std::uint64_t bytes = (mib << 20) / piece_bytes * piece_bytes;
  const std::string path = directory + "/raw";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0666);
  if (file < 0) {
    std::perror(path.c_str());
    return 1;
  }
  const double begin = bench::now_s();
  in_pieces(bytes, [&](void* memory, std::uint64_t at) {
    return ::pwrite(file, memory, piece_bytes, static_cast<off_t>(at));
  });
  if (::fsync(file) != 0) return 1;
  const double written = bench::now_s();
  in_pieces(bytes, [&](void* memory, std::uint64_t at) {
    return ::pread(file, memory, piece_bytes, static_cast<off_t>(at));
  });
  const double read = bench::now_s();
  const nlohmann::json line{{"program", "raw_restart"},   {"bytes", bytes},
                            {"write_s", written - begin}, {"read_s", read - written},
                            {"end_s", read - begin},      {"blocked_s", {{"max", read - begin}}}};
  std::printf("BENCH %s\n", line.dump().c_str());
}
