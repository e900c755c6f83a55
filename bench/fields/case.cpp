// SPDX-License-Identifier: Apache-2.0
#include "fields/case.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include "common/copy_reference.hpp"
#include "common/plain_sum.hpp"
#include "common/timing.hpp"

namespace bench::fields {
namespace {

std::string name_of(const char* kind, int number) {
  const std::string digits = std::to_string(number);
  return kind + std::string(3 - std::min<std::size_t>(3, digits.size()), '0') + digits;
}

/// The reference: sums of all fields, and copies of them.
class Reference {
 public:
  Reference(const Case& of, const Model& model, int ranks)
      : sums_(model.values().size()), copies_(of.step_bytes() / static_cast<std::size_t>(ranks) + 1, ranks) {}

  void sum(const Model& model) {
    for (const Field& field : model.fields()) {
      const std::span<const float> values = model.values(field);
      plain_sum(sums_.data() + (values.data() - model.values().data()), values.data(), values.size());
    }
  }
  void copy(const Model& model) {
    const std::span<const std::byte> all[] = {std::as_bytes(model.values())};
    copies_.copy(all);
  }

 private:
  std::vector<double> sums_;
  CopyReference copies_;
};

/// The measurements of one rank, by step.
struct Timings {
  double first_step_s = 0;  ///< first step of the run, in which memory is used for the first time
  double end_s = 0;
  std::vector<double> blocked_s;
  std::vector<double> sum_s;
  std::vector<double> sum_in_turn_s;  ///< this rank's, while the others wait
  std::vector<double> copy_s;
};

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double over_ranks(double value, MPI_Op operation, MPI_Comm model) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, model);
  return result;
}

double largest(double value, MPI_Comm model) { return over_ranks(value, MPI_MAX, model); }

template <class Work>
double timed(MPI_Comm model, Work work) {
  MPI_Barrier(model);
  const double start = now_s();
  work();
  return now_s() - start;
}

/// The time of this rank if the ranks work one after the other, so that each has a core and the
/// memory to itself.
template <class Work>
double timed_in_turn(MPI_Comm model, Work work) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(model, &rank);
  MPI_Comm_size(model, &ranks);
  double own_s = 0;
  for (int turn = 0; turn < ranks; ++turn) {
    MPI_Barrier(model);
    const double start = now_s();
    if (turn != rank) continue;
    work();
    own_s = now_s() - start;
  }
  return own_s;
}

Timings run_steps(const Case& of, MPI_Comm comm, Model& model,
                  const std::function<std::unique_ptr<Writer>(const Model&)>& make) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::optional<Reference> reference;
  if (of.with_reference) reference.emplace(of, model, ranks);
  Timings timings;
  MPI_Barrier(comm);
  const double start = now_s();
  const std::unique_ptr<Writer> writer = make(model);
  for (int step = 1; step <= of.steps(); ++step) {
    const bool measured = step > of.warm_up_days * of.steps_per_day;
    model.stamp(step);
    const double blocked_s = timed(comm, [&] { writer->step(step, model); });
    if (step == 1) timings.first_step_s = blocked_s;
    if (measured) timings.blocked_s.push_back(blocked_s);
    std::this_thread::sleep_for(std::chrono::milliseconds(of.pause_ms));
    if (!reference) continue;
    const double sum_s = timed(comm, [&] { reference->sum(model); });
    const double in_turn_s = timed_in_turn(comm, [&] { reference->sum(model); });
    const double copy_s = timed(comm, [&] { reference->copy(model); });
    if (!measured) continue;
    timings.sum_s.push_back(sum_s);
    timings.sum_in_turn_s.push_back(in_turn_s);
    timings.copy_s.push_back(copy_s);
  }
  writer->finish();
  timings.end_s = now_s() - start;
  return timings;
}

/// The mean time of the steps that end a day.
double day_end_s(const Case& of, const std::vector<double>& steps) {
  double total_s = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if ((i + 1) % static_cast<std::size_t>(of.steps_per_day) == 0) total_s += steps[i];
  return total_s / of.days;
}

std::uintmax_t bytes_of_files(const std::string& directory) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".nc") bytes += entry.file_size();
  return bytes;
}

}  // namespace

std::vector<Field> Case::fields() const {
  std::vector<Field> all;
  std::size_t plane = 0;
  for (int i = 0; i < flat; ++i) all.push_back({name_of("flat", i), plane++, 1, false});
  for (int i = 0; i < deep; ++i) {
    all.push_back({name_of("deep", i), plane, grid.levels, true});
    plane += grid.levels;
  }
  return all;
}

Case parse_case(int argc, char** argv, const std::string& description) {
  Case of;
  std::string grid = "144x96x25";
  CLI::App app(description);
  app.add_option("--output", of.output)
      ->check(CLI::IsMember({"mean", "five", "expressions", "instant", "calls"}));
  app.add_option("--grid", grid, "global lengths LONxLATxLEVELS");
  app.add_option("--flat", of.flat, "2-D fields")->check(CLI::PositiveNumber);
  app.add_option("--deep", of.deep, "3-D fields")->check(CLI::PositiveNumber);
  app.add_option("--days", of.days)->check(CLI::PositiveNumber);
  app.add_option("--warm-up-days", of.warm_up_days)->check(CLI::NonNegativeNumber);
  app.add_option("--steps-per-day", of.steps_per_day)->check(CLI::Range(1, 1440));
  app.add_flag("--reference", of.with_reference, "after each step, the plain sum and the plain copy");
  app.add_option("--statistics", of.statistics)->check(CLI::IsMember({"auto", "model", "servers"}));
  app.add_option("--pause-ms", of.pause_ms)->check(CLI::NonNegativeNumber);
  app.add_option("--servers", of.servers)->check(CLI::PositiveNumber);
  app.add_option("--format", of.store);
  app.add_option("--dir", of.directory)->check(CLI::ExistingDirectory);
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  of.grid = parse_grid(grid);
  if (1440 % of.steps_per_day != 0)
    throw std::invalid_argument("--steps-per-day " + std::to_string(of.steps_per_day) +
                                ": expected a divisor of 1440, so that a step is a number of minutes");
  for (const std::string& extra : app.remaining()) {
    if (!extra.starts_with("--afterbay.")) throw std::invalid_argument("unknown argument " + extra);
    of.settings.push_back(extra);
  }
  return of;
}

Model::Model(const Case& of, const Tile& tile)
    : fields_(of.fields()), data_(Grid{of.grid.lon, of.grid.lat, of.planes()}, tile) {}

std::span<const float> Model::values(const Field& field) const {
  const std::size_t plane = tile().plane();
  return std::span(data_.volume()).subspan(field.first_plane * plane, field.planes * plane);
}

void run_case(const Case& of, MPI_Comm comm, const std::function<std::unique_ptr<Writer>(const Model&)>& make,
              nlohmann::json about) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  Model model(of, tile_of(of.grid, rank, ranks));
  const Timings timings = run_steps(of, comm, model, make);
  const auto steps = static_cast<std::size_t>(of.days) * static_cast<std::size_t>(of.steps_per_day);
  about["model_ranks"] = ranks;
  about["steps"] = steps;
  about["bytes"] = of.step_bytes() * steps;
  about["end_s"] = largest(timings.end_s, comm);
  about["first_step_s"] = largest(timings.first_step_s, comm);
  about["day_end_s"] = largest(day_end_s(of, timings.blocked_s), comm);
  about["blocked_s"] = {{"max", largest(sum(timings.blocked_s), comm)}};
  if (of.with_reference) {
    about["sum_s"] = {{"max", largest(sum(timings.sum_s), comm)},
                      {"in_turn", over_ranks(sum(timings.sum_in_turn_s), MPI_SUM, comm)}};
    about["copy_s"] = {{"max", largest(sum(timings.copy_s), comm)}};
  }
  about["disk_bytes"] = bytes_of_files(of.directory);
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

}  // namespace bench::fields
