// SPDX-License-Identifier: Apache-2.0
// Nested parallel regions of OpenMP, and tasks in them, put tiles of a rank: nested_cpp HOW FILE.
// HOW: `bound`, each thread of the inner teams has an endpoint; `lent`, it borrows one from a pool
// per step; `tasks`, tasks of the inner teams do; `none`, the session puts everything. nested.py
// compares the files. The Fortran twin is nested_fortran.f90.
#include <mpi.h>
#include <omp.h>

#include <afterbay/afterbay.hpp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace afterbay;

namespace {

constexpr int nl = 3, ny = 26, nx = 10, steps = 5;
constexpr int outer = 2, inner = 3, tiles = outer * inner;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "nested: does not hold: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Runs `body` in a parallel region, which an exception must not leave.
template <class Body>
void guarded(Body body) {
  try {
    body();
  } catch (const Failure& failure) {
    std::fprintf(stderr, "nested: %s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

struct Rows {
  int first = 0, count = 0;
  [[nodiscard]] Rows part(int parts, int number) const {
    const int from = count * number / parts;
    return {first + from, count * (number + 1) / parts - from};
  }
};

std::vector<double> values_of(Rows rows, int step, int level) {
  std::vector<double> values;
  for (int i = rows.first * nx; i < (rows.first + rows.count) * nx; ++i)
    values.push_back(10000.0 * step + 1000.0 * level + i);
  return values;
}

class Model {
 public:
  Model(Session& session, const std::string& path) : session_(session) {
    rows_ = Rows{0, ny}.part(session.model_size(), session.model_rank());
    session.decomposition("grid", Block{{ny, nx}, {rows_.first, 0}, {rows_.count, nx}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("level", nl).dimension("y", ny).dimension("x", nx);
    schema.variable("s", Type::int32, {"time", "y", "x"}).on("grid");
    schema.variable("t", Type::float64, {"time", "level", "y", "x"}).on("grid");
    file_ = session.collection("nested", schema, {.file = path}).open();
  }

  void run(const std::string& how) {
    if (how == "none") {
      for (int step = 0; step < steps; ++step) {
        file_.put("s", step, values_of(rows_, step, 0).data());
        std::vector<double> t;
        for (int level = 0; level < nl; ++level)
          for (const double value : values_of(rows_, step, level)) t.push_back(value);
        file_.put("t", step, t.data());
        session_.end_step();
      }
    } else {
      open_tiles();
      EndpointPool pool(endpoints_);
      run_regions(how, pool);
      for (int step = 0; step < steps; ++step) session_.end_step();
      for (Endpoint& endpoint : endpoints_) endpoint.close();
    }
    file_.close();
    session_.finalize();
  }

 private:
  void open_tiles() {
    for (int i = 0; i < tiles; ++i) {
      const Rows mine = rows_.part(tiles, i);
      endpoints_.push_back(session_.endpoint("tile"));
      endpoints_.back().part("grid", Block{{ny, nx}, {mine.first, 0}, {mine.count, nx}});
    }
  }

  /// Puts the next step of a tile, which no other thread has.
  void put_tile(int tile, Endpoint& endpoint) {
    const Rows mine = rows_.part(tiles, tile);
    const int step = ended_[tile]++;
    const auto rows = static_cast<std::uint64_t>(mine.count);
    endpoint.put(file_, "s", step, values_of(mine, step, 0).data());
    for (std::uint64_t level = nl; level-- > 0;)
      endpoint.put(file_, "t", step, values_of(mine, step, static_cast<int>(level)).data(), {},
                   Section{{level, 0, 0}, {1, rows, nx}});
    endpoint.end_step();
  }
  void put_lent(EndpointPool& pool) {
    EndpointLoan loan = pool.take();
    put_tile(static_cast<int>(loan.index()), loan.endpoint());
  }

  void run_regions(const std::string& how, EndpointPool& pool) {
#pragma omp parallel num_threads(outer)
    {
      const int team = omp_get_thread_num();
#pragma omp parallel num_threads(inner)
      guarded([&] {
        require(omp_get_active_level() == 2 && omp_get_num_threads() == inner, "regions are nested");
        if (how == "bound") {
          const int tile = team * inner + omp_get_thread_num();
          for (int step = 0; step < steps; ++step) put_tile(tile, endpoints_[static_cast<std::size_t>(tile)]);
        } else if (how == "lent") {
          for (int step = 0; step < steps; ++step) put_lent(pool);
        } else {
          require(how == "tasks", "HOW is known");
          make_tasks(pool);
        }
      });
    }
  }
  /// Half of the tasks of all steps; the team's threads run them, one of which makes them.
  void make_tasks(EndpointPool& pool) {
#pragma omp single
    for (int i = 0; i < steps * tiles / outer; ++i) {
#pragma omp task shared(pool)
      guarded([&] { put_lent(pool); });
    }
  }

  Session& session_;
  Rows rows_;
  OutputFile file_;
  std::vector<Endpoint> endpoints_;
  int ended_[tiles] =
      {};  ///< steps of each tile; the pool, or the region, gives a tile to one thread at a time
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  require(argc >= 3, "usage: nested_cpp HOW FILE");
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  guarded([&] {
    Session session = open_session(MPI_COMM_WORLD, SessionOptions().with_arguments(argc, argv));
    if (session.is_server())
      session.serve();
    else
      Model(session, argv[2]).run(argv[1]);
  });
  MPI_Finalize();
  return 0;
}
