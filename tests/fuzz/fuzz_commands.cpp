// SPDX-License-Identifier: Apache-2.0
// Runs a command of `afterbay` on many damaged copies of its input, in one process:
//
//   fuzz_commands decomp|compare|replay MUTANTS SEED FILE...
//   fuzz_commands status|top MUTANTS SEED DIRECTORY
//
// Works in the working directory. Ends with 1 at the first mutant that the command does not
// survive: an exception, too much memory, too much time (or with a signal, or a sanitizer's
// report); the mutant stays.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "command.hpp"
#include "mutator.hpp"
#include "replay_input.hpp"
#include "replay_plan.hpp"

namespace {

namespace fs = std::filesystem;
using afterbay::test::bytes_of_file;
using afterbay::test::Mutator;
using afterbay::test::write_bytes;

constexpr unsigned most_seconds = 60;
constexpr long most_memory_kib = 1536L << 10;

std::array<char, 4096> now{};  ///< what is being tried, for the signal handler
int report = STDERR_FILENO;

void say(const char* text) { static_cast<void>(::write(report, text, std::strlen(text))); }

void out_of_time(int) {
  say("fuzz_commands: too much time: ");
  say(now.data());
  say("\n");
  ::_exit(1);
}

[[noreturn]] void give_up(const std::string& reason) {
  say(("fuzz_commands: " + reason + ": " + now.data() + "\n").c_str());
  std::_Exit(1);
}

/// Discards the output of the command, but keeps a sanitizer's report in `errors.txt`.
void silence() {
  report = ::dup(STDERR_FILENO);
  const int output = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int errors = ::open("errors.txt", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
}

/// Like main.cpp, but with the options of this command only, which saves most of the time.
void run_command(const std::vector<std::string>& words, const std::vector<std::string>& settings = {}) {
  const auto& all = afterbay::app::commands();
  const auto command = std::find_if(
      all.begin(), all.end(), [&](const afterbay::app::Command& one) { return one.name == words.front(); });
  if (command == all.end()) give_up("there is no command " + words.front());
  CLI::App app;
  const afterbay::app::Action action = command->prepare(app);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));  // CLI11 takes a vector in
                                                                            // reverse order
    if (action({settings, &app}) == afterbay::app::Exit::internal)
      give_up("the exit code of internal errors");
  } catch (const CLI::ParseError& error) {
    give_up(error.what());
  } catch (const afterbay::Failure& failure) {
    if (failure.code() == afterbay::ErrorCode::internal) give_up(failure.what());
  }
}

/// The parts of replay outside its session: the plan, and reading the values of some records.
void plan_and_read(const std::string& path) {
  const auto input = afterbay::app::NetcdfReader::open(path);
  if (!input) return;
  for (const int ranks : {1, 5}) static_cast<void>(afterbay::app::make_plan(*input, {.model_ranks = ranks}));
  for (const auto& variable : input->contents().variables) {
    std::vector<std::uint64_t> count = input->contents().shape(variable);
    for (std::uint64_t& length : count) length = std::min<std::uint64_t>(length, 64);
    std::uint64_t points = 1;
    for (const std::uint64_t length : count) points = std::min<std::uint64_t>(points * length, 1 << 24);
    if (points >= 1 << 20) continue;
    const std::vector<std::uint64_t> start(count.size(), 0);
    input->cache_chunks(variable, 1 << 20);
    if (variable.type == afterbay::Type::string) {
      static_cast<void>(input->read_strings(variable, start, count));
      continue;
    }
    std::vector<std::byte> values(points * size_of(variable.type));
    static_cast<void>(input->read(variable, start, count, values));
  }
}

/// The whole command, in a separate process, because MPI can be initialized once per process. One
/// process, which serves itself.
void replay_in_child(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(most_seconds);
    run_command({"replay", path, "replayed.nc"},
                {"--afterbay.topology=inline", "--afterbay.memory.server=64MiB",
                 "--afterbay.report.table=off", "--afterbay.journal.directory=off",
                 "--afterbay.statistics.directory=off", "--afterbay.collections.replay.existing=replace"});
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) give_up(fmt::format("replay was ended by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) == 1) std::_Exit(1);  // it has reported the reason
  if (WEXITSTATUS(status) == static_cast<int>(afterbay::app::Exit::internal))
    give_up("the exit code of internal errors, of replay");
}

using Try = std::function<void(const std::string& mutant, const std::string& original, std::uint64_t number)>;

void try_decomp(const std::string& mutant, const std::string&, std::uint64_t number) {
  run_command({"decomp", "stats", mutant, "--json"});
  static constexpr std::array formats{"pio", "e3sm", "afterbay"};
  if (number % 4 == 0)
    run_command({"decomp", "convert", mutant, "converted", "--overwrite", "--to", formats[number / 4 % 3]});
  if (number % 16 == 1) run_command({"decomp", "draw", mutant, "drawn.png", "--overwrite"});
}

void try_compare(const std::string& mutant, const std::string& original, std::uint64_t) {
  run_command({"compare", original, mutant});
}

void try_replay(const std::string& mutant, const std::string&, std::uint64_t number) {
  plan_and_read(mutant);
  if (number % 16 == 0) replay_in_child(mutant);
}

void try_file(const fs::path& path, const fs::path& mutant_path, const Mutator& mutator, std::uint64_t number,
              const Try& attempt) {
  const std::string text = fmt::format("mutant {} of {}", number, path.string());
  std::snprintf(now.data(), now.size(), "%s", text.c_str());
  write_bytes(mutant_path, mutator.mutant(number));
  ::alarm(most_seconds);
  try {
    attempt(mutant_path, path, number);
  } catch (const std::exception& error) {
    give_up(error.what());
  }
  ::alarm(0);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  if (usage.ru_maxrss > most_memory_kib) give_up("too much memory");
  if (number % 512 == 0 && ::ftruncate(STDERR_FILENO, 0) != 0) give_up("errors.txt cannot be cut");
}

void fuzz_files(std::uint64_t mutants, std::uint64_t seed, const std::vector<fs::path>& files,
                const Try& attempt) {
  std::vector<Mutator> mutators;
  for (const fs::path& path : files) mutators.emplace_back(bytes_of_file(path), seed);
  for (std::uint64_t i = 0; i < mutants; ++i) {
    const std::size_t chosen = i % files.size();
    try_file(files[chosen], "mutant" + files[chosen].extension().string(), mutators[chosen], i / files.size(),
             attempt);
  }
}

/// In a copy of the directory one file after the other is damaged; in every fourth turn the damage
/// stays.
void fuzz_directory(std::uint64_t mutants, std::uint64_t seed, const fs::path& directory,
                    const Try& attempt) {
  fs::remove_all("damaged");
  fs::copy(directory, "damaged", fs::copy_options::recursive);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator("damaged"))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> originals;
  for (const fs::path& path : files) originals.push_back(bytes_of_file(path));
  std::size_t still_damaged = 0;
  for (std::uint64_t i = 0; i < mutants; ++i) {
    const std::size_t chosen = i % files.size();
    write_bytes(files[still_damaged], originals[still_damaged]);
    try_file(files[chosen], files[chosen], Mutator(originals[chosen], seed), i / files.size(),
             [&](const std::string&, const std::string&, std::uint64_t number) {
               attempt("damaged", "", number);
             });
    if (i % 4 != 0) write_bytes(files[chosen], originals[chosen]);
    still_damaged = chosen;
  }
}

int usage() {
  std::fputs(
      "usage: fuzz_commands decomp|compare|replay MUTANTS SEED FILE...\n"
      "       fuzz_commands status|top MUTANTS SEED DIRECTORY\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return usage();
  const std::string command = argv[1];
  const std::uint64_t mutants = std::stoull(argv[2]);
  const std::uint64_t seed = std::stoull(argv[3]);
  const std::vector<fs::path> paths(argv + 4, argv + argc);
  std::signal(SIGALRM, out_of_time);
  silence();
  if (command == "decomp")
    fuzz_files(mutants, seed, paths, try_decomp);
  else if (command == "compare")
    fuzz_files(mutants, seed, paths, try_compare);
  else if (command == "replay")
    fuzz_files(mutants, seed, paths, try_replay);
  else if (command == "status")
    fuzz_directory(
        mutants, seed, paths.front(), [](const std::string& directory, const std::string&, std::uint64_t n) {
          n % 2 == 0 ? run_command({"status", directory}) : run_command({"status", directory, "--json"});
        });
  else if (command == "top")
    fuzz_directory(
        mutants, seed, paths.front(), [](const std::string& directory, const std::string&, std::uint64_t n) {
          n % 2 == 0 ? run_command({"top", directory, "--once"}) : run_command({"top", directory, "--json"});
        });
  else
    return usage();
  say(fmt::format("{}: {} mutants survived\n", command, mutants).c_str());
  return 0;
}
