// SPDX-License-Identifier: Apache-2.0
// Reference: the same number of small files, each written, made durable (fsync), renamed and its
// name made durable (fsync of the directory) before the next, as a careful program does.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/timing.hpp"

namespace {

bool write_file(const std::string& directory, int at, std::uint64_t number, const std::vector<char>& bytes) {
  const std::string path = directory + "/r" + std::to_string(number);
  const int file = ::open((path + ".part").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file < 0) return false;
  const bool written =
      ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) && ::fsync(file) == 0;
  ::close(file);
  return written && std::rename((path + ".part").c_str(), path.c_str()) == 0 && ::fsync(at) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t files = 200, bytes = 8192;
  std::string directory = ".";
  CLI::App app("many small files, each durable before the next");
  app.add_option("--files", files, "how many");
  app.add_option("--bytes", bytes, "of a file");
  app.add_option("--dir", directory, "directory for the files");
  CLI11_PARSE(app, argc, argv);
  const int at = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
  const std::vector<char> contents(bytes, 7);
  const double begin = bench::now_s();
  for (std::uint64_t f = 0; f < files; ++f)
    if (!write_file(directory, at, f, contents)) {
      std::perror(directory.c_str());
      return 1;
    }
  const double end = bench::now_s() - begin;
  const nlohmann::json line{
      {"program", "raw_many_files"}, {"bytes", files * bytes}, {"end_s", end}, {"blocked_s", {{"max", end}}}};
  std::printf("BENCH %s\n", line.dump().c_str());
}
