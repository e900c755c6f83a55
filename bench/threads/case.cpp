// SPDX-License-Identifier: Apache-2.0
#include "threads/case.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
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

double Output::lost_s() const {
  double sum = 0;
  for (const Lost& lost : lost_) sum += lost.seconds;
  return sum;
}

void run_case(const Case& of, MPI_Comm model, const Band& mine, Output& output, nlohmann::json about) {
  const auto threads = static_cast<std::size_t>(of.threads);
  // As in common/copy_reference.hpp: together at least 128 MiB, and four steps.
  const int copy_sets = std::max(4, static_cast<int>((std::size_t{128} << 20) / of.step_bytes()) + 1);
  std::vector<std::vector<Field>> fields(threads);
  std::vector<std::vector<Field>> copies(threads);  // destinations that have left the caches
  for (std::size_t t = 0; t < threads; ++t) {
    const Band band = band_of(mine, static_cast<int>(t), of.threads);
    for (int v = 0; v < of.variables; ++v) fields[t].emplace_back(of.levels * band.count * of.lon);
    for (int v = 0; v < of.variables * copy_sets; ++v)
      copies[t].emplace_back(of.levels * band.count * of.lon, 0.0F);
  }
  output.prepare(of.threads);
  std::vector<double> blocked(threads);
  std::vector<double> copied(threads);
  std::barrier<> aligned(of.threads);  // not part of the output: all threads begin it in the same state
  std::barrier<> ended(of.threads + 1);
  std::barrier<> again(of.threads + 1);
  const auto body = [&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    const Band band = band_of(mine, thread, of.threads);
    for (int step = 0; step < of.steps; ++step) {
      for (int v = 0; v < of.variables; ++v) stamp(fields[t][static_cast<std::size_t>(v)], of, band, v, step);
      compute_for(of.compute_ms);
      aligned.arrive_and_wait();
      double start = now_s();
      output.put(thread, step, fields[t]);
      blocked[t] += now_s() - start;
      ended.arrive_and_wait();
      again.arrive_and_wait();
      if (of.compute_ms <= 0) continue;
      compute_for(of.compute_ms);
      aligned.arrive_and_wait();
      start = now_s();
      for (int v = 0; v < of.variables; ++v) {
        const Field& from = fields[t][static_cast<std::size_t>(v)];
        Field& to = copies[t][static_cast<std::size_t>(v + step % copy_sets * of.variables)];
        std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
      }
      copied[t] += now_s() - start;
    }
  };
  MPI_Barrier(model);
  const double start = now_s();
  std::vector<std::jthread> team;
  for (int t = 0; t < of.threads; ++t) team.emplace_back(body, t);
  double main_s = 0;
  for (int step = 0; step < of.steps; ++step) {
    ended.arrive_and_wait();
    const double before = now_s();
    output.end_step(step);
    main_s += now_s() - before;
    again.arrive_and_wait();
  }
  for (auto& thread : team) thread.join();
  output.finish();
  const double end_s = now_s() - start;
  int ranks = 0;
  MPI_Comm_size(model, &ranks);
  double slowest = 0, sum = 0, copy_slowest = 0;
  for (std::size_t t = 0; t < threads; ++t) {
    slowest = std::max(slowest, blocked[t]);
    copy_slowest = std::max(copy_slowest, copied[t]);
    sum += blocked[t];
  }
  about["threads"] = of.threads;
  about["model_ranks"] = ranks;
  about["bytes"] = of.step_bytes() * static_cast<std::size_t>(of.steps);
  about["end_s"] = reduced(end_s, MPI_MAX, model);
  about["blocked_s"] = {{"max", reduced(slowest + main_s, MPI_MAX, model)},
                        {"mean", reduced(sum, MPI_SUM, model) / (ranks * of.threads)},
                        {"threads_max", reduced(slowest, MPI_MAX, model)}};
  about["copy_s"] = reduced(copy_slowest, MPI_MAX, model);
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
