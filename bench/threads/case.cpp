// SPDX-License-Identifier: Apache-2.0
#include "threads/case.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "common/timing.hpp"

namespace bench::threads {
namespace {

double reduced(double value, MPI_Op operation, MPI_Comm model) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, model);
  return result;
}

/// The peak resident memory of this process, in MiB.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  double kib = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> kib) break;
  return kib / 1024;
}

}  // namespace

Case parse_case(int argc, char** argv, const std::string& description) {
  Case of;
  CLI::App app(description);
  app.add_option("--mode", of.mode, "endpoints, gather or one");
  app.add_option("--threads", of.threads)->check(CLI::PositiveNumber);
  app.add_option("--lon", of.lon);
  app.add_option("--lat", of.lat);
  app.add_option("--levels", of.levels);
  app.add_option("--variables", of.variables);
  app.add_option("--steps", of.steps);
  app.add_option("--compute-ms", of.compute_ms);
  app.add_option("--warm-ups", of.warm_ups, "all steps are written so often before those that count");
  app.add_option("--servers", of.servers);
  app.add_option("--format", of.store);
  app.add_option("--dir", of.directory);
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  for (const std::string& extra : app.remaining()) {
    if (!extra.starts_with("--afterbay.")) throw std::invalid_argument("unknown argument " + extra);
    of.settings.push_back(extra);
  }
  return of;
}

Band band_of(const Band& whole, int part, int parts) {
  const auto cut = [&](int i) {
    return whole.first + whole.count * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts);
  };
  return {cut(part), cut(part + 1) - cut(part)};
}

float value_at(int variable, std::size_t level, std::size_t lat, std::size_t lon, int step) {
  return static_cast<float>(static_cast<std::size_t>(variable) * 7 + level * 3 + lat * 11 + lon +
                            static_cast<std::size_t>(step) * 101);
}

/// Every 32nd point, so that computing data does not hide the cost of writing them.
void stamp(Field& field, const Case& of, const Band& band, int variable, int step) {
  for (std::size_t level = 0; level < of.levels; ++level)
    for (std::size_t y = 0; y < band.count; ++y)
      for (std::size_t x = 0; x < of.lon; x += step == 0 ? 1 : 32)
        field[(level * band.count + y) * of.lon + x] = value_at(variable, level, band.first + y, x, step);
}

void Output::prepare(int threads) {
  barrier_ = std::make_unique<std::barrier<>>(threads);
  lost_.assign(static_cast<std::size_t>(threads), {});
}

void Output::wait(int thread) {
  const double start = now_s();
  barrier_->arrive_and_wait();
  lost_[static_cast<std::size_t>(thread)].seconds += now_s() - start;
}

void Output::forget_lost() {
  for (Lost& lost : lost_) lost.seconds = 0;
}

double Output::lost_s() const {
  double sum = 0;
  for (const Lost& lost : lost_) sum += lost.seconds;
  return sum;
}

namespace {

/// The arrays of all threads, and what the steps took.
class Run {
 public:
  Run(const Case& of, const Band& mine, Output& output)
      : of_(of),
        mine_(mine),
        output_(output),
        // As in common/copy_reference.hpp: together at least 128 MiB, and four steps.
        copy_sets_(std::max(4, static_cast<int>((std::size_t{128} << 20) / of.step_bytes()) + 1)),
        fields_(static_cast<std::size_t>(of.threads)),
        copies_(fields_.size()),
        blocked_(fields_.size()),
        copied_(fields_.size()) {
    for (std::size_t t = 0; t < fields_.size(); ++t) {
      const std::size_t points = of.levels * band_of(mine, static_cast<int>(t), of.threads).count * of.lon;
      for (int v = 0; v < of.variables; ++v) fields_[t].emplace_back(points);
      for (int v = 0; v < of.variables * copy_sets_; ++v) copies_[t].emplace_back(points, 0.0F);
    }
  }

  /// All steps into the file that is open. Returns the time until it is durable. `is_warm_up`:
  /// without compute and measurements.
  double steps(bool is_warm_up) {
    std::barrier<> aligned(of_.threads);  // not part of the output: all threads begin it in the same state
    std::barrier<> ended(of_.threads + 1);
    std::barrier<> again(of_.threads + 1);
    const double start = now_s();
    std::vector<std::jthread> team;
    for (int t = 0; t < of_.threads; ++t)
      team.emplace_back([&, t] {
        for (int step = 0; step < of_.steps; ++step) {
          put(t, step, is_warm_up, aligned);
          ended.arrive_and_wait();
          again.arrive_and_wait();
          if (!is_warm_up && of_.compute_ms > 0) copy(t, step, aligned);
        }
      });
    for (int step = 0; step < of_.steps; ++step) {
      ended.arrive_and_wait();
      const double before = now_s();
      output_.end_step(step);
      if (!is_warm_up) main_s_ += now_s() - before;
      again.arrive_and_wait();
    }
    team.clear();
    output_.finish();
    return now_s() - start;
  }

  [[nodiscard]] const std::vector<double>& blocked_s() const { return blocked_; }
  [[nodiscard]] const std::vector<double>& copied_s() const { return copied_; }
  [[nodiscard]] double main_s() const { return main_s_; }

 private:
  void put(int thread, int step, bool is_warm_up, std::barrier<>& aligned) {
    const auto t = static_cast<std::size_t>(thread);
    const Band band = band_of(mine_, thread, of_.threads);
    for (int v = 0; v < of_.variables; ++v)
      stamp(fields_[t][static_cast<std::size_t>(v)], of_, band, v, step);
    if (!is_warm_up) compute_for(of_.compute_ms);
    aligned.arrive_and_wait();
    const double start = now_s();
    output_.put(thread, step, fields_[t]);
    if (!is_warm_up) blocked_[t] += now_s() - start;
  }
  /// The reference: to destinations that have left the caches.
  void copy(int thread, int step, std::barrier<>& aligned) {
    const auto t = static_cast<std::size_t>(thread);
    compute_for(of_.compute_ms);
    aligned.arrive_and_wait();
    const double start = now_s();
    for (int v = 0; v < of_.variables; ++v) {
      const Field& from = fields_[t][static_cast<std::size_t>(v)];
      Field& to = copies_[t][static_cast<std::size_t>(v + step % copy_sets_ * of_.variables)];
      std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    }
    copied_[t] += now_s() - start;
  }

  const Case& of_;
  Band mine_;
  Output& output_;
  int copy_sets_;
  std::vector<std::vector<Field>> fields_;
  std::vector<std::vector<Field>> copies_;
  std::vector<double> blocked_;  ///< by thread
  std::vector<double> copied_;
  double main_s_ = 0;
};

}  // namespace

void run_case(const Case& of, MPI_Comm model, const Band& mine, Output& output, nlohmann::json about) {
  output.prepare(of.threads);
  Run run(of, mine, output);
  for (int time = 0; time < of.warm_ups; ++time) {
    output.open("warm_up.nc");
    run.steps(true);
    MPI_Barrier(model);
    std::filesystem::remove(of.directory + "/warm_up.nc");
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // servers allocate memory ahead of need
    MPI_Barrier(model);
  }
  output.forget_lost();
  output.open("threads.nc");
  MPI_Barrier(model);
  const double end_s = run.steps(false);
  int ranks = 0;
  MPI_Comm_size(model, &ranks);
  const double slowest = std::ranges::max(run.blocked_s());
  const double sum = std::accumulate(run.blocked_s().begin(), run.blocked_s().end(), 0.0);
  about["threads"] = of.threads;
  about["model_ranks"] = ranks;
  about["bytes"] = of.step_bytes() * static_cast<std::size_t>(of.steps);
  about["end_s"] = reduced(end_s, MPI_MAX, model);
  about["blocked_s"] = {{"max", reduced(slowest + run.main_s(), MPI_MAX, model)},
                        {"mean", reduced(sum, MPI_SUM, model) / (ranks * of.threads)},
                        {"threads_max", reduced(slowest, MPI_MAX, model)}};
  about["copy_s"] = reduced(std::ranges::max(run.copied_s()), MPI_MAX, model);
  about["barrier_s"] = reduced(output.lost_s(), MPI_SUM, model) / (ranks * of.threads);
  about["memory_mib"] = reduced(peak_mib(), MPI_SUM, model);
  int rank = 0;
  MPI_Comm_rank(model, &rank);
  if (rank == 0) {
    std::printf("BENCH %s\n", about.dump().c_str());
    std::fflush(stdout);
  }
}

int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Case&)>& body) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    body(parse_case(argc, argv, description));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace bench::threads
