// SPDX-License-Identifier: Apache-2.0
// afterbay replay: writes a netCDF file through the I/O servers, like a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "command.hpp"
#include "compare_report.hpp"
#include "replay_job.hpp"

namespace afterbay::app {

namespace {

struct ReplayOptions {
  ReplayRequest request;
  int servers = 0;  ///< 0: from the settings
  bool verify = false;
};

Exit verify(const ReplayRequest& request, const Playback& playback) {
  Exit worst = Exit::ok;
  for (const std::string& path : playback.paths)
    worst = std::max(worst, compare_and_print(request.input, path));
  return worst;
}

/// Why the output cannot be compared, if that is so.
std::optional<std::string> obstacle_to_verify(const ReplayRequest& request) {
  const auto is_read = [](const FormatTraits& it) { return !it.magic.empty(); };
  if (const auto format = format_of(request.store); format && is_read(traits_of(*format)))
    return std::nullopt;
  return fmt::format("--verify: netCDF-C does not read the store {}: leave --verify out, or use the store {}",
                     request.store, formats_with(is_read));
}

Exit replay(const ReplayOptions& options, const Invocation& invocation) {
  ReplayRequest request = options.request;
  request.arguments = invocation.setting_flags;
  if (options.servers > 0) request.arguments.push_back(fmt::format("--afterbay.servers={}", options.servers));
  const auto config =
      config::load({.settings = {}, .config_file = {}, .environment = {}, .arguments = request.arguments});
  ReplayJob job(config ? *config : config::Config{});
  if (!config) {  // equal on all processes: one reports it; none ends before, which would end the job
    const Exit code = exit_of_input(config.error().code);
    if (job.rank() == 0) complain("replay", config.error().text());
    job.leave(static_cast<int>(code));
    return code;
  }
  if (const auto store = config->settings_for("replay").store) request.store = name_of(*store);
  if (const auto obstacle = options.verify ? obstacle_to_verify(request) : std::nullopt) {
    if (job.rank() == 0) complain("replay", *obstacle);
    job.leave(static_cast<int>(Exit::usage));
    return Exit::usage;
  }
  const Result<Playback> playback = job.run(request);
  if (!playback) {
    const Exit code = exit_of_input(playback.error().code);
    if (job.speaks()) complain("replay", fmt::format("process {}: {}", job.rank(), playback.error().text()));
    job.leave(static_cast<int>(code));
    return code;
  }
  // After this the other processes of the job are gone, and none waits in MPI while files are
  // compared.
  job.leave(static_cast<int>(Exit::ok));
  return options.verify ? verify(request, *playback) : Exit::ok;
}

Action prepare_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  ReplayRequest& request = options->request;
  app.add_option("INPUT", request.input, "a netCDF file of any format, without groups and user-defined types")
      ->required();
  app.add_option("OUTPUT", request.output, "the file to write")->required();
  app.add_option("--servers", options->servers,
                 "number of processes of the job that are I/O servers; as --afterbay.servers")
      ->check(CLI::PositiveNumber);
  app.add_option("--store", request.store, "format of the output")
      ->check(CLI::IsMember(published_format_names()))
      ->capture_default_str();
  app.add_option("--repeat", request.repeat,
                 "replay INPUT this many times, each time into another file (out.nc, out.2.nc, ...)")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--verify", options->verify, "compare the output with INPUT, as `afterbay compare` does");
  app.footer(
      "Run it with mpirun. The last processes serve; each other process reads and puts its own part:\n"
      "  mpirun -np 6 afterbay replay in.nc out.nc --servers 2 --verify\n"
      "Settings may be given as flags: --afterbay.NAME=VALUE, for instance --afterbay.topology=inline, or\n"
      "--afterbay.collections.replay.existing=replace to overwrite OUTPUT (the collection is called\n"
      "`replay`).\n"
      "Exit codes: 0 done (and equal, with --verify), 1 different, 2 wrong command line or setting, 3 a\n"
      "file cannot be read or written, 4 a process died or a deadline passed.");
  return [options](const Invocation& invocation) { return replay(*options, invocation); };
}

const Registration replay_registration(
    {.name = "replay",
     .summary = "replays a netCDF file through the I/O servers into a new one",
     .prepare = prepare_replay,
     .takes_settings = true});

}  // namespace

}  // namespace afterbay::app
