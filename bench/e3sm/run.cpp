// SPDX-License-Identifier: Apache-2.0
#include "e3sm/run.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/copy_reference.hpp"
#include "common/durable.hpp"

namespace bench::e3sm {
namespace {

constexpr int copy_repeats = 5;

template <class Work>
double timed(Work&& work) {
  const double start = now_s();
  work();
  return now_s() - start;
}

double reduced(double value, MPI_Op operation, MPI_Comm model) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, model);
  return result;
}

/// A line "VmRSS:   1234 kB" of /proc/self/status, in MiB.
double status_mib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  return 0;
}

std::size_t pieces_on_this_rank(const Case& source, const Fields& fields, int records) {
  std::vector<std::size_t> of_map;
  for (Map map : source.maps) {
    std::sort(map.points.begin(), map.points.end());
    of_map.push_back(pieces_of(map).size());
  }
  std::size_t total = 0;
  for (std::size_t i = 0; i < source.variables.size(); ++i) {
    const Variable& variable = source.variables[i];
    if (!fields.writes(static_cast<int>(i))) continue;
    const std::size_t once = variable.map < 0 ? 1 : of_map[static_cast<std::size_t>(variable.map)];
    total += once * static_cast<std::size_t>(variable.record ? records : 1);
  }
  return total;
}

Options parse_options(int argc, char** argv, const std::string& description) {
  Options options;
  CLI::App app(description);
  app.add_option("--case", options.case_file, "case, written by e3sm_case.py")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--dir", options.directory, "directory for the file")->check(CLI::ExistingDirectory);
  app.add_option("--mode", options.mode, "variant of this program");
  app.add_option("--records", options.records, "records to write")->check(CLI::PositiveNumber);
  app.add_flag("--every-point", options.every_point,
               "change all points with the record, not every 32nd: to verify, not to time");
  app.add_flag("--warm-up", options.warm_up,
               "write the first record twice before the clock starts, to files that do not count");
  app.add_flag("!--no-copy", options.copy, "do not measure memcpy");
  app.add_option("--servers", options.servers, "I/O servers (afterbay)")->check(CLI::NonNegativeNumber);
  app.add_option("--store", options.store, "store (afterbay)");
  std::vector<std::string> own;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes a vector in reverse order
    const std::string argument = argv[i];
    if (argument.starts_with("--afterbay.")) {
      options.settings.insert(options.settings.begin(), argument);
    } else {
      own.push_back(argument);
    }
  }
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

}  // namespace

MemoryWatch::MemoryWatch() {
  std::ofstream("/proc/self/clear_refs")
      << "5";  // resets the peak; if this is refused, the peak is that of the whole run
  before_mib_ = status_mib("VmRSS");
  shared_before_mib_ = status_mib("RssShmem");
}

MemoryUse MemoryWatch::grown() const {
  const double shared_mib = std::max(0.0, status_mib("RssShmem") - shared_before_mib_);
  return {std::max(0.0, status_mib("VmHWM") - before_mib_ - shared_mib), shared_mib};
}

/// The time that the ranks' intervals [begin, end] took together.
double together(double begin, double end, MPI_Comm model) {
  return reduced(end, MPI_MAX, model) - reduced(begin, MPI_MIN, model);
}

CopyTime copy_time(MPI_Comm model, const Fields& fields, int records) {
  int ranks = 0;
  MPI_Comm_size(model, &ranks);
  const auto parts = fields.parts(0);
  CopyReference copies(fields.bytes(0), ranks);
  std::vector<double> slowest;
  std::vector<double> all;
  for (int repeat = 0; repeat < copy_repeats; ++repeat) {
    MPI_Barrier(model);
    const double begin = now_s();
    copies.copy(parts);
    const double end = now_s();
    slowest.push_back(reduced(end - begin, MPI_MAX, model));
    all.push_back(together(begin, end, model));
  }
  std::sort(slowest.begin(), slowest.end());
  std::sort(all.begin(), all.end());
  return {slowest[copy_repeats / 2] * records, all[copy_repeats / 2] * records};
}

/// Libraries allocate memory and connections at their first writes; a model writes thousands of
/// files. After the first file, servers may still allocate memory ahead: the rest lets them end,
/// and the second finds what a later file finds.
void warm_up(const Options& options, MPI_Comm model, Writer& writer) {
  constexpr std::chrono::milliseconds rest{500};
  int rank = 0;
  MPI_Comm_rank(model, &rank);
  for (int file = 0; file < 2; ++file) {
    writer.open();
    writer.post(0);
    writer.flush(0);
    writer.close();
    writer.finish();
    MPI_Barrier(model);
    if (rank == 0)
      for (const auto& entry : std::filesystem::directory_iterator(options.directory))
        if (entry.path().stem() == "e3sm") std::filesystem::remove(entry.path());
    std::this_thread::sleep_for(rest);
    MPI_Barrier(model);
  }
}

Timings run_case(const Options& options, MPI_Comm model, Fields& fields, Writer& writer) {
  Timings timings;
  if (options.warm_up) warm_up(options, model, writer);
  MPI_Barrier(model);
  const double cpu_start = process_cpu_s();
  const double start = now_s();
  const auto blocking = [&](double& elapsed_s, auto&& work) {
    const ThreadUse before = thread_use();
    elapsed_s += timed(work);
    timings.blocked_use += thread_use() - before;
  };
  std::vector<std::pair<double, double>> stretches{{now_s(), 0}};
  blocking(timings.open_s, [&] { writer.open(); });
  for (int record = 0; record < options.records; ++record) {
    if (record > 0) {
      stretches.back().second = now_s();
      fields.stamp(record, options.every_point);
      stretches.emplace_back(now_s(), 0);
    }
    blocking(timings.post_s, [&] { writer.post(record); });
    blocking(timings.flush_s, [&] { writer.flush(record); });
  }
  blocking(timings.close_s, [&] { writer.close(); });
  stretches.back().second = now_s();
  timings.finish_s = timed([&] { writer.finish(); });
  timings.end_s = now_s() - start;
  timings.cpu_s = process_cpu_s() - cpu_start;
  timings.library_mib = writer.library_mib();
  for (const auto& [begin, end] : stretches) timings.blocked_together_s += together(begin, end, model);
  return timings;
}

void report(const Options& options, const Case& source, MPI_Comm model, const Fields& fields,
            const Timings& timings, const MemoryUse& memory, const nlohmann::json& about) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(model, &rank);
  MPI_Comm_size(model, &ranks);
  const double memory_mib =
      memory.own_mib + memory.shared_mib / ranks;  // a segment exists once for all ranks
  const double blocked_s = timings.open_s + timings.post_s + timings.flush_s + timings.close_s;
  const auto own_bytes = static_cast<double>(fields.bytes(0) + (options.records - 1) * fields.bytes(1));
  const auto pieces = static_cast<double>(pieces_on_this_rank(source, fields, options.records));
  const auto highest = [&](double value) { return reduced(value, MPI_MAX, model); };
  nlohmann::json line = about;
  line["case"] = source.name;
  line["records"] = options.records;
  line["model_ranks"] = ranks;
  line["variables"] = source.variables.size();
  line["bytes"] = reduced(own_bytes, MPI_SUM, model);
  line["payload_mib"] = {{"max", highest(own_bytes / (1 << 20))}};
  line["pieces"] = {{"sum", reduced(pieces, MPI_SUM, model)}, {"max", highest(pieces)}};
  line["setup_s"] = highest(timings.setup_s);
  line["end_s"] = highest(timings.end_s);
  line["blocked_s"] = {{"max", highest(blocked_s)},
                       {"mean", reduced(blocked_s, MPI_SUM, model) / ranks},
                       {"together", timings.blocked_together_s}};
  line["blocked_use"] = {
      {"waits", reduced(static_cast<double>(timings.blocked_use.waits), MPI_SUM, model)},
      {"preemptions", reduced(static_cast<double>(timings.blocked_use.preemptions), MPI_SUM, model)},
      {"cpu_s_max", highest(timings.blocked_use.cpu_s)}};
  line["phases"] = {{"open_s", highest(timings.open_s)},
                    {"post_s", highest(timings.post_s)},
                    {"flush_s", highest(timings.flush_s)},
                    {"close_s", highest(timings.close_s)},
                    {"finish_s", highest(timings.finish_s)}};
  line["memory_mib"] = {{"max", highest(memory_mib)}, {"own_max", highest(memory.own_mib)}};
  line["shared_mib"] = highest(memory.shared_mib);
  if (const double library_mib = highest(timings.library_mib); library_mib > 0)
    line["library_mib"] = library_mib;
  line["cpu_s"] = reduced(timings.cpu_s, MPI_SUM, model);
  if (options.copy)
    line["copy_s"] = {{"max", highest(timings.copy_s)}, {"together", timings.copy_together_s}};
  if (rank == 0) {
    std::printf("BENCH %s\n", line.dump().c_str());
    std::fflush(stdout);
  }
}

void run_baseline(const Options& options, ArrayOrder order, const nlohmann::json& about,
                  const std::function<std::unique_ptr<Writer>(const Case&, const Fields&)>& make) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Case source = load_case(options.case_file, rank, ranks, order);
  Fields fields(source, rank);
  const CopyTime copied = options.copy ? copy_time(MPI_COMM_WORLD, fields, options.records) : CopyTime();
  const MemoryWatch memory;
  std::unique_ptr<Writer> writer;
  const double setup_s = timed([&] { writer = make(source, fields); });
  Timings timings = run_case(options, MPI_COMM_WORLD, fields, *writer);
  timings.setup_s = setup_s;
  timings.copy_s = copied.slowest_s;
  timings.copy_together_s = copied.together_s;
  report(options, source, MPI_COMM_WORLD, fields, timings, memory.grown(), about);
}

void finish_on_rank_0(const Options& options, const std::string& path, MPI_Comm model) {
  int rank = 0;
  MPI_Comm_rank(model, &rank);
  if (rank == 0) make_durable({path}, options.directory);
  MPI_Barrier(model);
}

int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Options&)>& body) {
  const Options options = parse_options(argc, argv, description);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    body(options);
  } catch (const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace bench::e3sm
