// SPDX-License-Identifier: Apache-2.0
// Threads put through Afterbay. --mode endpoints: each through an endpoint of its own. --mode
// gather: into one array, a barrier, and the master puts it. --mode one: the only thread puts with
// the session; with several ranks, flat MPI. --mode cost: what endpoints cost, with small parts.
#include <malloc.h>
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

#include "afterbay/mpi.hpp"
#include "common/timing.hpp"
#include "threads/case.hpp"

namespace bench::threads {
namespace {

std::string name_of(int variable) { return "v" + std::to_string(variable); }

class AfterbayOutput : public Output {
 public:
  AfterbayOutput(const Case& of, afterbay::Session& session, const Band& mine)
      : of_(of), session_(session), mine_(mine) {
    session.decomposition("volume", afterbay::Block{std::vector<std::size_t>{of.levels, of.lat, of.lon},
                                                    std::vector<std::size_t>{0, mine.first, 0},
                                                    std::vector<std::size_t>{of.levels, mine.count, of.lon}});
    afterbay::Schema schema;
    schema.dimension("time", afterbay::unlimited).dimension("lev", of.levels).dimension("lat", of.lat);
    schema.dimension("lon", of.lon);
    for (int v = 0; v < of.variables; ++v)
      schema.variable(name_of(v), afterbay::Type::float32, {"time", "lev", "lat", "lon"}).on("volume");
    collection_ = session.collection("threads", schema,
                                     {.directory = of.directory, .store = of.store, .existing = "replace"});
  }
  void open(const std::string& name) override { file_ = collection_.open(name); }
  void end_step(int /*step*/) override { session_.end_step(); }
  void finish() override { session_.wait(file_.close()); }
  [[nodiscard]] const afterbay::OutputFile& file() const { return file_; }

 protected:
  const Case& of_;
  afterbay::Session& session_;
  Band mine_;
  afterbay::Collection collection_;
  afterbay::OutputFile file_;
};

class Endpoints final : public AfterbayOutput {
 public:
  Endpoints(const Case& of, afterbay::Session& session, const Band& mine)
      : AfterbayOutput(of, session, mine) {
    session.start();
    for (int t = 0; t < of.threads; ++t) {
      const Band band = band_of(mine, t, of.threads);
      afterbay::Endpoint& endpoint = endpoints_.emplace_back(session.endpoint());
      endpoint.part("volume", afterbay::Block{std::vector<std::size_t>{of.levels, of.lat, of.lon},
                                              std::vector<std::size_t>{0, band.first, 0},
                                              std::vector<std::size_t>{of.levels, band.count, of.lon}});
    }
  }
  void put(int thread, int step, const std::vector<Field>& fields) override {
    afterbay::Endpoint& endpoint = endpoints_[static_cast<std::size_t>(thread)];
    for (int v = 0; v < of_.variables; ++v)
      endpoint.put(file_, name_of(v), static_cast<std::uint64_t>(step),
                   fields[static_cast<std::size_t>(v)].data());
    endpoint.end_step();
  }

 private:
  std::vector<afterbay::Endpoint> endpoints_;
};

/// With one thread: a plain put.
class Gather final : public AfterbayOutput {
 public:
  Gather(const Case& of, afterbay::Session& session, const Band& mine) : AfterbayOutput(of, session, mine) {
    for (int v = 0; v < of.variables && of.threads > 1; ++v)
      whole_.emplace_back(of.levels * mine.count * of.lon);
  }
  void put(int thread, int step, const std::vector<Field>& fields) override {
    if (of_.threads > 1) {
      const Band band = band_of(mine_, thread, of_.threads);
      for (std::size_t v = 0; v < fields.size(); ++v)
        for (std::size_t level = 0; level < of_.levels; ++level)
          std::copy_n(fields[v].data() + level * band.count * of_.lon, band.count * of_.lon,
                      whole_[v].data() + (level * mine_.count + band.first - mine_.first) * of_.lon);
      wait(thread);
    }
    if (thread == 0)
      for (int v = 0; v < of_.variables; ++v) {
        const auto i = static_cast<std::size_t>(v);
        file_.put(name_of(v), static_cast<std::uint64_t>(step),
                  of_.threads > 1 ? whole_[i].data() : fields[i].data());
      }
    if (of_.threads > 1) wait(thread);
  }

 private:
  std::vector<Field> whole_;
};

/// What endpoints cost: the time to open one, to register its part and to put for the first time,
/// and memory.
void measure_cost(const Case& of, afterbay::Session& session, const Band& mine, MPI_Comm model) {
  Gather output(of, session, mine);
  output.open("threads.nc");
  session.end_step();
  const auto heap = [] { return static_cast<double>(mallinfo2().uordblks); };
  const double heap_before = heap();
  double start = now_s();
  std::vector<afterbay::Endpoint> endpoints;
  for (int t = 0; t < of.threads; ++t) {
    const Band band = band_of(mine, t, of.threads);
    endpoints.push_back(session.endpoint());
    endpoints.back().part("volume", afterbay::Block{std::vector<std::size_t>{of.levels, of.lat, of.lon},
                                                    std::vector<std::size_t>{0, band.first, 0},
                                                    std::vector<std::size_t>{of.levels, band.count, of.lon}});
  }
  const double opened_s = now_s() - start;
  const Field field(of.levels * mine.count * of.lon);
  start = now_s();
  for (auto& endpoint : endpoints) {
    for (int v = 0; v < of.variables; ++v) endpoint.put(output.file(), name_of(v), 0, field.data());
    endpoint.end_step();
  }
  const double first_s = now_s() - start;
  const double heap_bytes = heap() - heap_before;
  session.end_step();
  start = now_s();
  for (auto& endpoint : endpoints) {
    for (int v = 0; v < of.variables; ++v) endpoint.put(output.file(), name_of(v), 1, field.data());
    endpoint.end_step();
  }
  const double later_s = now_s() - start;
  session.end_step();
  endpoints.clear();
  output.finish();
  const double per_put = 1e6 / of.threads / of.variables;
  const nlohmann::json line{{"program", "afterbay_threads"},
                            {"end_s", opened_s + first_s + later_s},
                            {"open_us", 1e6 * opened_s / of.threads},
                            {"first_put_us", first_s * per_put},
                            {"put_us", later_s * per_put},
                            {"endpoint_bytes", heap_bytes / of.threads}};
  int rank = 0;
  MPI_Comm_rank(model, &rank);
  if (rank == 0) std::printf("BENCH %s\n", line.dump().c_str());
}

void run(const Case& of) {
  afterbay::SessionOptions options;
  options.name = "bench";
  options.set("report.table", "off").set("servers", std::to_string(of.servers));
  options.arguments = of.settings;
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, options);
  if (session.is_server()) return session.serve();
  const Band mine = band_of({0, of.lat}, session.model_rank(), session.model_size());
  const nlohmann::json about{{"program", "afterbay_threads"}, {"mode", of.mode}};
  MPI_Comm model = afterbay::model_comm(session);
  if (of.mode == "cost") {
    measure_cost(of, session, mine, model);
  } else if (of.mode == "endpoints") {
    Endpoints output(of, session, mine);
    run_case(of, model, mine, output, about);
  } else {
    Gather output(of, session, mine);
    run_case(of, model, mine, output, about);
  }
  session.finalize();
}

}  // namespace
}  // namespace bench::threads

int main(int argc, char** argv) {
  return bench::threads::run_program(argc, argv, "output by threads (--mode endpoints, gather, one)",
                                     bench::threads::run);
}
