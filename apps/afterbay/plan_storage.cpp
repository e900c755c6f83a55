// SPDX-License-Identifier: Apache-2.0
#include "plan_storage.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "plan_storage_text.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/striping/lfs.hpp"

namespace afterbay::app {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int most_writers = 64;
constexpr auto lfs_deadline = 10s;
/// Share of the free space, so that neither the measurement nor other users run into a full disk.
constexpr std::uint64_t usable_part = 4;
constexpr std::uint64_t least_usable_bytes = 64 * MiB;

struct PlanOptions {
  std::string directory;
  std::string time = "60s";
  std::string size;
  int ranks = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, 8);
  bool lustre = false;
};

/// Reports an invalid value of a command-line option.
Exit refuse(const std::string& option, const std::string& text) {
  complain("plan storage", fmt::format("{}: {}", option, text));
  return Exit::usage;
}

/// Maximum bytes on the disk at one time.
Result<std::uint64_t> usable_bytes(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error))
    return fail(ErrorCode::io, "{} is {}", directory, error ? "not there" : "not a directory");
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    return fail(storage::system_error(errno, "write to", directory));
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) != 0)
    return fail(storage::system_error(errno, "look at", directory));
  const std::uint64_t free_bytes = std::uint64_t{room.f_bavail} * room.f_frsize;
  if (free_bytes / usable_part < least_usable_bytes)
    return fail(ErrorCode::no_space,
                "{} has {} MiB free, and no more than a quarter of it may be used for trials, "
                "which need {} MiB: free some space",
                directory, free_bytes / MiB, least_usable_bytes / MiB);
  return free_bytes / usable_part;
}

PlanContext context_of(const std::string& directory) {
  PlanContext context;
  context.directory = directory;
  context.file_system = storage::file_system_of(directory);
  char host[256] = {};
  (void)::gethostname(host, sizeof host - 1);
  context.host = host;
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  char date[32] = {};
  (void)std::strftime(date, sizeof date, "%Y-%m-%d %H:%M", ::localtime_r(&now, &local));
  context.date = date;
  return context;
}

Exit measure(const PlanOptions& options, std::chrono::milliseconds time, std::uint64_t trial_bytes) {
  const auto failed = [](const Error& error) {
    complain("plan storage", error.text());
    return exit_of(error.code);
  };
  const auto usable = usable_bytes(options.directory);
  if (!usable) return failed(usable.error());
  if (trial_bytes > *usable)
    return failed(make_error(ErrorCode::no_space,
                             "--size is {}, but only {} MiB, a quarter of what is free on {}, may be used",
                             options.size, *usable / MiB, options.directory));
  PlanContext context = context_of(options.directory);
  const bool striped =
      options.lustre || context.file_system.stripes == storage::FileSystem::Stripes::per_file;
  fmt::print(stderr, "afterbay plan storage: measuring {} ({}) for up to {}\n", printable(options.directory),
             context.file_system.name, options.time);
  const auto start = Clock::now();
  storage::Sweep sweep(
      [&](const storage::TrialSetup& setup, const storage::TrialSize& size) {
        const bool known = !setup.stripes || std::ranges::any_of(context.stripes, [&](const auto& it) {
          return it.first == *setup.stripes;
        });
        std::string stripes;
        auto rate = storage::run_trial(options.directory, setup, size, known ? nullptr : &stripes);
        if (!stripes.empty()) context.stripes.emplace_back(*setup.stripes, stripes);
        return rate;
      },
      {.until = start + time,
       .trial_bytes = trial_bytes,
       .most_bytes = *usable,
       .most_writers = options.ranks});
  if (striped) context.targets = storage::found_targets(options.directory, lfs_deadline);
  const auto advice = sweep.run(striped);
  if (!advice) return failed(advice.error());
  context.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::string text = plan_text(context, sweep, *advice);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Exit::ok;
}

Exit plan_storage(const PlanOptions& options) {
  const auto time = parse_duration(options.time);
  if (!time) return refuse("--time", time.error().message);
  if (*time < 1s || *time > 1h)
    return refuse("--time", "expected a duration from 1s to 1h, found " + options.time);
  std::uint64_t trial_bytes = 0;
  if (!options.size.empty()) {
    const auto bytes = parse_bytes(options.size);
    if (!bytes) return refuse("--size", bytes.error().message);
    if (*bytes < 16 * MiB) return refuse("--size", "expected 16MiB or more, found " + options.size);
    trial_bytes = *bytes;
  }
  return measure(options, *time, trial_bytes);
}

}  // namespace

Action prepare_plan_storage(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("DIR", options->directory, "directory on the file system that the run will write to")
      ->required();
  app.add_option("--time", options->time, "how long to measure")->capture_default_str();
  app.add_option("--size", options->size, "bytes per trial; default: as many as the time allows");
  app.add_option("--ranks", options->ranks, "maximum number of concurrent writers to try")
      ->check(CLI::Range(1, most_writers))
      ->capture_default_str();
  app.add_flag("--lustre", options->lustre,
               "try stripes (`lfs setstripe`) even if the file system does not report that it is Lustre");
  app.footer(
      "Prints YAML for AFTERBAY_CONFIG, with the measurements as comments. Writes at most a quarter of\n"
      "the free space, to files without a name, which disappear however the command ends. Run it where\n"
      "the servers will run, when the file system has its usual load.\n"
      "Exit codes: 0 done, 2 wrong command line, 3 the directory cannot be written or is nearly full.");
  return [options](const Invocation&) { return plan_storage(*options); };
}

}  // namespace afterbay::app
