// SPDX-License-Identifier: Apache-2.0
// One shared netCDF-4 file by Afterbay. --mode dedicated (the last --servers processes serve, in
// addition to those that hold data), synchronous or thread (inline).
#include <mpi.h>

#include <filesystem>

#include "afterbay/mpi.hpp"
#include "shared/shared_run.hpp"

namespace bench::shared {
namespace {

afterbay::SessionOptions session_options(const Options& options) {
  afterbay::SessionOptions session;
  session.name = "bench";
  session.set("report.table", "off");
  if (options.mode == "dedicated") {
    session.set("topology", "dedicated").set("servers", std::to_string(options.servers));
  } else {
    session.set("topology", "inline").set("inline.mode", options.mode);
  }
  if (options.stripe_count != 0)
    session.set("stripe.count", options.stripe_count < 0 ? "all" : std::to_string(options.stripe_count));
  if (options.stripe_mib != 0) session.set("stripe.size", std::to_string(options.stripe_mib) + "MiB");
  session.arguments = options.settings;
  return session;
}

class AfterbayFile final : public Writer {
 public:
  AfterbayFile(const Options& options, afterbay::Session& session) : options_(options), session_(session) {
    const Grid grid = grid_for(session.model_size(), options.levels());
    const Tile tile = tile_of(grid, session.model_rank(), session.model_size());
    session.decomposition("block", {{grid.levels, grid.lat, grid.lon},
                                    {0, tile.lat_start, tile.lon_start},
                                    {grid.levels, tile.lat_count, tile.lon_count}});
    afterbay::Schema schema;
    schema.dimension("time", afterbay::unlimited);
    schema.dimension("lev", grid.levels).dimension("lat", grid.lat).dimension("lon", grid.lon);
    schema.variable("field", afterbay::Type::float32, {"time", "lev", "lat", "lon"}).on("block");
    afterbay::CollectionOptions how;
    how.directory = options.directory;
    how.file = "shared.nc";
    how.store = "netcdf4";
    collection_ = session.collection("shared", schema, how);
    how.file = "warm-up.nc";
    warm_up_ = session.collection("warm-up", schema, how);
    session.start();
  }

  /// Writes a file that is not measured, so that servers and processes have allocated the memory
  /// that they need later.
  void prepare(const Block& block) override {
    file_ = warm_up_.open();
    for (int record = 0; record < options_.records; ++record) write(block, record);
    finish();
    MPI_Barrier(afterbay::model_comm(session_));
    if (session_.model_rank() == 0) std::filesystem::remove(options_.directory + "/warm-up.nc");
  }

  void open(const Block& /*block*/) override { file_ = collection_.open(); }

  void write(const Block& block, int record) override {
    file_.put("field", static_cast<std::uint64_t>(record), block.data());
    session_.end_step();
  }

  void finish() override { session_.wait(file_.close()); }

 private:
  const Options& options_;
  afterbay::Session& session_;
  afterbay::Collection collection_;
  afterbay::Collection warm_up_;
  afterbay::OutputFile file_;
};

void body(const Options& options) {
  check_mode(options, {"dedicated", "synchronous", "thread"});
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, session_options(options));
  if (session.is_server()) {
    session.serve();
    return;
  }
  {
    AfterbayFile writer(options, session);
    run(options, afterbay::model_comm(session), writer,
        {{"program", "afterbay_shared"}, {"mode", options.mode}});
  }
  session.finalize();
}

}  // namespace
}  // namespace bench::shared

int main(int argc, char** argv) {
  return bench::shared::run_program(argc, argv, "one shared netCDF-4 file by Afterbay", bench::shared::body);
}
