// SPDX-License-Identifier: Apache-2.0
#include "shared/shared_run.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "common/durable.hpp"
#include "common/timing.hpp"

namespace bench::shared {
namespace {

double reduced(double value, MPI_Op operation, MPI_Comm model) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, model);
  return result;
}

Options parse(int argc, char** argv, const std::string& description) {
  Options options;
  CLI::App app(description);
  app.add_option("--dir", options.directory, "directory for the files")->check(CLI::ExistingDirectory);
  app.add_option("--mib", options.mib, "MiB that each process writes")->check(CLI::PositiveNumber);
  app.add_option("--records", options.records, "records, a part of the MiB each")->check(CLI::PositiveNumber);
  app.add_option("--mode", options.mode, "variant of this program");
  app.add_flag("--chunked", options.chunked, "a chunk for each process and record (HDF5, netCDF-4)");
  app.add_option("--servers", options.servers, "I/O servers (afterbay)")->check(CLI::PositiveNumber);
  app.add_option("--stripe-count", options.stripe_count,
                 "hint to MPI-IO, `lfs` for files per process; -1: all");
  app.add_option("--stripe-mib", options.stripe_mib, "stripe size, likewise");
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
  if (options.levels() == 0 || options.mib * 4 % static_cast<std::size_t>(options.records) != 0) {
    std::fprintf(stderr, "--mib %zu cannot be cut into %d records of whole levels (256 KiB)\n", options.mib,
                 options.records);
    std::exit(2);
  }
  return options;
}

void report(MPI_Comm model, nlohmann::json line) {
  int rank = 0;
  MPI_Comm_rank(model, &rank);
  if (rank != 0) return;
  std::printf("BENCH %s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

Hints::Hints(const Options& options) {
  MPI_Info_create(&info_);
  if (options.stripe_count != 0)
    MPI_Info_set(info_, "striping_factor", std::to_string(options.stripe_count).c_str());
  if (options.stripe_mib != 0)
    MPI_Info_set(info_, "striping_unit", std::to_string(std::size_t{1} * options.stripe_mib << 20).c_str());
}

Hints::~Hints() { MPI_Info_free(&info_); }

void make_shared_file_durable(const Options& options) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) make_durable({options.path()}, options.directory);
  MPI_Barrier(MPI_COMM_WORLD);
}

void run(const Options& options, MPI_Comm model, Writer& writer, nlohmann::json about) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(model, &rank);
  MPI_Comm_size(model, &ranks);
  const Grid grid = grid_for(ranks, options.levels());
  Block block(grid, tile_of(grid, rank, ranks));
  writer.prepare(block);
  MPI_Barrier(model);
  const double cpu_start = process_cpu_s();
  const double start = now_s();
  writer.open(block);
  for (int record = 0; record < options.records; ++record) {
    block.stamp(record);
    writer.write(block, record);
  }
  const double written_s = now_s() - start;
  writer.finish();
  const double end_s = reduced(now_s() - start, MPI_MAX, model);
  const double bytes =
      static_cast<double>(block.bytes()) * static_cast<double>(options.records) * static_cast<double>(ranks);
  about["bytes"] = bytes;
  about["model_ranks"] = ranks;
  about["end_s"] = end_s;
  about["blocked_s"] = {{"max", reduced(written_s, MPI_MAX, model)}};
  about["finish_s"] = end_s - reduced(written_s, MPI_MIN, model);
  about["cpu_s"] = reduced(process_cpu_s() - cpu_start, MPI_SUM, model);
  about["gib_per_s"] = bytes / end_s / static_cast<double>(1 << 30);
  report(model, std::move(about));
}

int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Options&)>& body) {
  const Options options = parse(argc, argv, description);
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

void check_mode(const Options& options, const std::vector<std::string>& modes) {
  if (std::find(modes.begin(), modes.end(), options.mode) != modes.end()) return;
  std::string known;
  for (const std::string& mode : modes) known += (known.empty() ? "" : ", ") + mode;
  throw std::invalid_argument("--mode is '" + options.mode + "'; give one of: " + known);
}

}  // namespace bench::shared
