// SPDX-License-Identifier: Apache-2.0
// The history written by Afterbay. --mode dedicated (the last --servers ranks serve), tiered (with
// one more rank as frontend), synchronous or thread (inline), none (no output). --mode idle:
// dedicated, writes one record, then sleeps and reports how much of a core the servers and the
// model ranks used meanwhile.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "afterbay/mpi.hpp"
#include "common/history_run.hpp"
#include "common/timing.hpp"

namespace bench {
namespace {

/// 512 MiB take a server a quarter of a second.
constexpr std::chrono::milliseconds time_to_allocate{500};

afterbay::SessionOptions session_options(const Options& options) {
  afterbay::SessionOptions session;
  session.name = "bench";
  session.set("report.table", "off");
  if (options.mode == "dedicated" || options.mode == "idle" || options.mode == "tiered") {
    session.set("topology", options.mode == "tiered" ? "tiered" : "dedicated")
        .set("servers", std::to_string(options.servers));
  } else {
    session.set("topology", "inline").set("inline.mode", options.mode);
  }
  session.arguments = options.settings;
  return session;
}

afterbay::Schema history_schema(const Grid& grid) {
  afterbay::Schema schema;
  schema.dimension("time", afterbay::unlimited);
  schema.dimension("lev", grid.levels).dimension("lat", grid.lat).dimension("lon", grid.lon);
  schema.variable("temperature", afterbay::Type::float32, {"time", "lev", "lat", "lon"})
      .on("volume")
      .attribute("units", "K");
  schema.variable("pressure", afterbay::Type::float32, {"time", "lat", "lon"})
      .on("surface")
      .attribute("units", "Pa");
  return schema;
}

class AfterbayWriter final : public HistoryWriter {
 public:
  AfterbayWriter(const Options& options, afterbay::Session& session, const Tile& tile) : session_(session) {
    const Grid& grid = options.grid;
    session.decomposition("volume", {{grid.levels, grid.lat, grid.lon},
                                     {0, tile.lat_start, tile.lon_start},
                                     {grid.levels, tile.lat_count, tile.lon_count}});
    session.decomposition(
        "surface",
        {{grid.lat, grid.lon}, {tile.lat_start, tile.lon_start}, {tile.lat_count, tile.lon_count}});
    afterbay::CollectionOptions how;
    how.directory = options.directory;
    how.file = "history.{step}.nc";
    how.store = options.format;
    history_ = session.collection("history", history_schema(grid), how);
    session.start();
  }

  void open(int file) override {
    afterbay::FileName name;
    name.step = file;
    file_ = history_.open(name);
  }

  void put(const Fields& fields, int /*file*/, int record) override {
    const auto index = static_cast<std::uint64_t>(record);
    file_.put("temperature", index, fields.volume().data());
    file_.put("pressure", index, fields.surface().data());
    session_.end_step();
  }

  void close(int /*file*/) override { tickets_.push_back(file_.close()); }

  void finish() override {
    for (const afterbay::Ticket ticket : tickets_) session_.wait(ticket);
  }

  /// Writes as many files as later, without measuring them: afterwards servers and model ranks have
  /// allocated and mapped the memory that they need. Twice, because servers allocate ahead of need
  /// while they are idle, as between the outputs of a model, and ranks map that when they use it.
  void warm_up(const Options& options, const Fields& fields, MPI_Comm model) {
    for (int time = 0; time < 2; ++time) {
      for (int file = -options.files; file < 0; ++file) {
        open(file);
        for (int record = 0; record < options.records; ++record) put(fields, file, record);
        close(file);
      }
      finish();
      tickets_.clear();
      MPI_Barrier(model);
      for (int file = -options.files; file < 0 && session_.model_rank() == 0; ++file)
        std::filesystem::remove(options.directory + "/history." + std::to_string(file) + ".nc");
      std::this_thread::sleep_for(time_to_allocate);
      MPI_Barrier(model);
    }
  }

 private:
  afterbay::Session& session_;
  afterbay::Collection history_;
  afterbay::OutputFile file_;
  std::vector<afterbay::Ticket> tickets_;
};

/// Computes only: the run time without output.
class NoOutput final : public HistoryWriter {
 public:
  void open(int /*file*/) override {}
  void put(const Fields& /*fields*/, int /*file*/, int /*record*/) override {}
  void close(int /*file*/) override {}
  void finish() override {}
};

/// The server processes of this job, including frontends.
std::vector<int> server_pids_of(const afterbay::Session& session) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int own = session.is_server() ? static_cast<int>(::getpid()) : 0;
  std::vector<int> pids(static_cast<std::size_t>(ranks));
  MPI_Allgather(&own, 1, MPI_INT, pids.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::erase(pids, 0);
  return pids;
}

double processes_cpu_s(const std::vector<int>& pids) {
  double total_s = 0;
  for (const int pid : pids) total_s += process_cpu_s(pid);
  return total_s;
}

/// Fractions of a core: `server` of the busiest server, `model` of this rank.
nlohmann::json sleep_and_watch(const Options& options, const std::vector<int>& server_pids) {
  std::vector<double> before;
  for (const int pid : server_pids) before.push_back(process_cpu_s(pid));
  const double own_before = process_cpu_s();
  const double start = now_s();
  std::this_thread::sleep_for(std::chrono::duration<double>(options.idle_s));
  const double elapsed = now_s() - start;
  const double own = (process_cpu_s() - own_before) / elapsed;
  double server = 0;
  for (std::size_t i = 0; i < server_pids.size(); ++i) {
    server = std::max(server, (process_cpu_s(server_pids[i]) - before[i]) / elapsed);
  }
  return {{"server", server}, {"model", own}, {"seconds", elapsed}};
}

void run_idle(const Options& options, MPI_Comm model, Fields& fields, AfterbayWriter& writer,
              const std::vector<int>& server_pids) {
  Timings timings;
  const double start = now_s();
  fields.stamp(0);
  writer.open(0);
  writer.put(fields, 0, 0);
  writer.close(0);
  writer.finish();
  timings.end_s = now_s() - start;
  timings.blocked_s = {timings.end_s};
  MPI_Barrier(model);
  nlohmann::json idle = sleep_and_watch(options, server_pids);
  double own = idle["model"];
  double busiest = 0;
  MPI_Allreduce(&own, &busiest, 1, MPI_DOUBLE, MPI_MAX, model);
  idle["model"] = busiest;
  report(options, model, timings, {{"program", "afterbay_history"}, {"mode", options.mode}, {"idle", idle}});
}

void run_model(const Options& options, afterbay::Session& session, double opened_at,
               const std::vector<int>& server_pids) {
  MPI_Comm model = afterbay::model_comm(session);
  Fields fields(options.grid, tile_of(options.grid, session.model_rank(), session.model_size()));
  AfterbayWriter writer(options, session, fields.tile());
  if (options.mode == "idle") {
    run_idle(options, model, fields, writer, server_pids);
  } else {
    const double setup_s = now_s() - opened_at;
    if (options.warm_up) writer.warm_up(options, fields, model);
    const double servers_before_s = processes_cpu_s(server_pids);
    Timings timings = run_history(options, model, fields, writer);
    const double servers_cpu_s = processes_cpu_s(server_pids) - servers_before_s;
    timings.setup_s = setup_s;
    nlohmann::json about{{"program", "afterbay_history"}, {"mode", options.mode}, {"format", options.format}};
    if (!server_pids.empty()) about["servers_cpu_ms_per_step"] = 1e3 * servers_cpu_s / options.steps();
    report(options, model, timings, about);
  }
  session.finalize();
}

void run(const Options& options) {
  if (options.mode == "none") {
    NoOutput none;
    return run_baseline(options, none, {{"program", "afterbay_history"}, {"mode", options.mode}});
  }
  const double start = now_s();
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, session_options(options));
  const std::vector<int> server_pids = server_pids_of(session);
  if (session.is_server()) {
    session.serve();
  } else {
    run_model(options, session, start, server_pids);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv,
                            "history by Afterbay (--mode dedicated, tiered, synchronous, thread, idle, none)",
                            bench::run);
}
