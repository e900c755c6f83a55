// SPDX-License-Identifier: Apache-2.0
// Gives a parser (parsers/) every file of a corpus and damaged copies of them:
//
//   fuzz_parsers PARSER CORPUS [MUTANTS [SEED]]
//   fuzz_parsers --write-messages DIRECTORY
//   fuzz_parsers --write-pp-file DIRECTORY
//   fuzz_parsers --write-fields-files DIRECTORY
//   fuzz_parsers --write-states DIRECTORY
//   fuzz_parsers --write-chunks DIRECTORY
//   fuzz_parsers --check-chunks DIRECTORY
//   fuzz_parsers --write-wgdos-fields DIRECTORY
//
// Works in the working directory. Ends with 1 at the first input that the parser does not survive:
// an exception, too much memory, too much time (or with a signal, or a sanitizer's report); the
// input stays in `input`.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "mutator.hpp"
#include "parsers/parsers.hpp"

namespace {

namespace fs = std::filesystem;
using namespace afterbay::test;

constexpr unsigned most_seconds = 20;
constexpr long most_memory_kib = 1024L << 10;

using Parser = void (*)(Bytes);
const std::map<std::string, Parser> parsers{{"calendar_text", parse_calendar_text},
                                            {"cdf_header", parse_cdf_header},
                                            {"configuration", parse_configuration},
                                            {"decomposition", parse_decomposition},
                                            {"encoded_chunk", parse_encoded_chunk},
                                            {"epoch_log", parse_epoch_log},
                                            {"expression", parse_expression},
                                            {"fields_file", parse_fields_file},
                                            {"journal", parse_journal},
                                            {"messages", parse_messages},
                                            {"model_definitions", parse_model_definitions},
                                            {"output_description", parse_output_description},
                                            {"pp_file", parse_pp_file},
                                            {"statistics_page", parse_statistics_page},
                                            {"statistics_state", parse_statistics_state},
                                            {"wgdos_field", parse_wgdos_field}};

void out_of_time(int) {
  constexpr std::array text{"fuzz_parsers: too much time for the input in 'input'\n"};
  static_cast<void>(::write(STDERR_FILENO, text[0], std::strlen(text[0])));
  ::_exit(1);
}

bool survives(Parser parser, const std::string& input, const std::string& what) {
  write_bytes("input", input);
  ::alarm(most_seconds);
  try {
    parser(std::as_bytes(std::span(input)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_parsers: %s: exception: %s\n", what.c_str(), error.what());
    return false;
  }
  ::alarm(0);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  if (usage.ru_maxrss <= most_memory_kib) return true;
  std::fprintf(stderr, "fuzz_parsers: %s: too much memory: %ld KiB\n", what.c_str(), usage.ru_maxrss);
  return false;
}

int run(Parser parser, const fs::path& corpus, std::uint64_t mutants, std::uint64_t seed) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(corpus)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "fuzz_parsers: no files in %s\n", corpus.c_str());
    return 2;
  }
  std::vector<Mutator> mutators;
  for (const fs::path& file : files) {
    if (!survives(parser, bytes_of_file(file), file.string())) return 1;
    mutators.emplace_back(bytes_of_file(file), seed);
  }
  for (std::uint64_t i = 0; i < mutants; ++i) {
    const std::size_t chosen = i % files.size();
    const std::uint64_t number = i / files.size();
    if (!survives(parser, mutators[chosen].mutant(number),
                  "mutant " + std::to_string(number) + " of " + files[chosen].string()))
      return 1;
  }
  std::printf("%zu files and %llu mutants survived\n", files.size(),
              static_cast<unsigned long long>(mutants));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "--write-messages") {
    write_messages(words[1]);
    return 0;
  }
  if (words.size() == 2 && words[0] == "--write-states") {
    write_states(words[1]);
    return 0;
  }
  if (words.size() == 2 && words[0] == "--write-chunks") {
    write_chunks(words[1]);
    return 0;
  }
  if (words.size() == 2 && words[0] == "--check-chunks") {
    const std::string problem = check_chunks(words[1]);
    if (!problem.empty()) std::fprintf(stderr, "fuzz_parsers: %s\n", problem.c_str());
    return problem.empty() ? 0 : 1;
  }
  if (words.size() == 2 && words[0] == "--write-pp-file") {
    write_pp_file(words[1]);
    return 0;
  }
  if (words.size() == 2 && words[0] == "--write-fields-files") {
    write_fields_files(words[1]);
    return 0;
  }
  if (words.size() == 2 && words[0] == "--write-wgdos-fields") {
    write_wgdos_fields(words[1]);
    return 0;
  }
  const auto parser = words.empty() ? parsers.end() : parsers.find(words[0]);
  if (words.size() < 2 || words.size() > 4 || parser == parsers.end()) {
    std::fputs("usage: fuzz_parsers PARSER CORPUS [MUTANTS [SEED]]; parsers:", stderr);
    for (const auto& [name, function] : parsers) std::fprintf(stderr, " %s", name.c_str());
    std::fputs("\n", stderr);
    return 2;
  }
  std::signal(SIGALRM, out_of_time);
  return run(parser->second, words[1], words.size() > 2 ? std::stoull(words[2]) : 0,
             words.size() > 3 ? std::stoull(words[3]) : 1);
}
