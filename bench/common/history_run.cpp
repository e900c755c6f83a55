// SPDX-License-Identifier: Apache-2.0
#include "common/history_run.hpp"

#include <cstdio>
#include <exception>
#include <numeric>
#include <optional>

#include "common/copy_reference.hpp"
#include "common/timing.hpp"

namespace bench {
namespace {

template <class Work>
double timed(Work&& work) {
  const double start = now_s();
  work();
  return now_s() - start;
}

template <class Work>
double timed(ThreadUse& use, Work&& work) {
  const ThreadUse before = thread_use();
  const double elapsed = timed(work);
  use += thread_use() - before;
  return elapsed;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double reduced(double value, MPI_Op operation, MPI_Comm model) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, model);
  return result;
}

nlohmann::json across_ranks(const ThreadUse& use, MPI_Comm model) {
  return {{"waits", reduced(static_cast<double>(use.waits), MPI_SUM, model)},
          {"preemptions", reduced(static_cast<double>(use.preemptions), MPI_SUM, model)},
          {"cpu_s_max", reduced(use.cpu_s, MPI_MAX, model)}};
}

/// max: the slowest rank's total; mean: over ranks; step max: the time that a model loses if it
/// waits for its slowest rank in every step; longest: the worst single step of any rank.
nlohmann::json across_ranks(const std::vector<double>& steps, MPI_Comm model) {
  int ranks = 0;
  MPI_Comm_size(model, &ranks);
  std::vector<double> slowest(steps.size());
  MPI_Allreduce(steps.data(), slowest.data(), static_cast<int>(steps.size()), MPI_DOUBLE, MPI_MAX, model);
  double longest = 0;
  for (const double step : slowest) longest = std::max(longest, step);
  return {{"max", reduced(sum(steps), MPI_MAX, model)},
          {"mean", reduced(sum(steps), MPI_SUM, model) / ranks},
          {"step_max", sum(slowest)},
          {"longest", longest}};
}

}  // namespace

Timings run_history(const Options& options, MPI_Comm model, Fields& fields, HistoryWriter& writer) {
  int ranks = 0;
  MPI_Comm_size(model, &ranks);
  const bool with_compute = options.compute_ms > 0;
  std::optional<CopyReference> copies;
  const bool with_copies = with_compute && !options.fixed_work;
  if (with_copies) copies.emplace(fields.bytes(), ranks);
  std::optional<FixedWork> work;
  if (with_compute && options.fixed_work)
    work =
        options.work_rounds > 0 ? FixedWork::of_rounds(options.work_rounds) : FixedWork(options.compute_ms);
  const auto compute = [&] {
    if (!with_compute) return;
    if (work)
      work->run();
    else
      compute_for(options.compute_ms);
    MPI_Barrier(model);
  };

  Timings timings;
  if (work) timings.work_rounds = work->rounds();
  MPI_Barrier(model);
  const double cpu_start = process_cpu_s();
  const double start = now_s();
  for (int step = 0; step < options.steps(); ++step) {
    const int file = step / options.records;
    const int record = step % options.records;
    fields.stamp(step);
    compute();
    timings.blocked_s.push_back(timed(timings.blocked_use, [&] {
      if (record == 0) writer.open(file);
      writer.put(fields, file, record);
      if (record == options.records - 1) writer.close(file);
    }));
    if (!with_copies) continue;
    compute();
    timings.copy_s.push_back(timed(timings.copy_use, [&] { copies->copy(fields.arrays()); }));
  }
  timings.finish_s = timed([&] { writer.finish(); });
  timings.end_s = now_s() - start;
  timings.cpu_s = process_cpu_s() - cpu_start;
  return timings;
}

void report(const Options& options, MPI_Comm model, const Timings& timings, const nlohmann::json& extra) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(model, &rank);
  MPI_Comm_size(model, &ranks);
  nlohmann::json line = extra;
  line["bytes"] = options.grid.record_bytes() * static_cast<std::size_t>(options.steps());
  line["model_ranks"] = ranks;
  line["setup_s"] = reduced(timings.setup_s, MPI_MAX, model);
  line["end_s"] = reduced(timings.end_s, MPI_MAX, model);
  line["finish_s"] = reduced(timings.finish_s, MPI_MAX, model);
  line["cpu_s"] = reduced(timings.cpu_s, MPI_SUM, model);
  if (timings.work_rounds > 0) line["work_rounds"] = timings.work_rounds;
  line["blocked_s"] = across_ranks(timings.blocked_s, model);
  line["blocked_use"] = across_ranks(timings.blocked_use, model);
  if (!timings.copy_s.empty()) {
    line["copy_s"] = across_ranks(timings.copy_s, model);
    line["copy_use"] = across_ranks(timings.copy_use, model);
  }
  if (rank == 0) {
    std::printf("BENCH %s\n", line.dump().c_str());
    std::fflush(stdout);
  }
}

void run_baseline(const Options& options, HistoryWriter& writer, const nlohmann::json& about) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Fields fields(options.grid, tile_of(options.grid, rank, ranks));
  report(options, MPI_COMM_WORLD, run_history(options, MPI_COMM_WORLD, fields, writer), about);
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

}  // namespace bench
