// SPDX-License-Identifier: Apache-2.0
// A model on a HEALPix grid and on reduced Gaussian grids, whose coordinates the library computes:
// see point_grids_test.py. point_grids KIND NUMBER HOW [--afterbay.…], where KIND is nested, ring,
// octahedral or gaussian (latitudes with 4 to 7 points, in turn), and HOW says which points a rank
// holds: block, map (in turn, backwards, with holes) or whole.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "afterbay/mpi.hpp"
#include "afterbay/output.hpp"

namespace {

struct Points {
  std::uint64_t count = 0;
  std::vector<std::int64_t> mine;  ///< -1: a hole
};

void decompose(afterbay::Session& session, const std::string& how, Points& points) {
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  if (how == "map") {
    afterbay::Map map;
    map.global = {points.count};
    for (std::uint64_t p = points.count; p-- > 0;) {
      if (p % ranks != rank) continue;
      if (p % 5 == 0) map.indices.push_back(-1);
      map.indices.push_back(static_cast<std::int64_t>(p));
    }
    points.mine = map.indices;
    session.decomposition("points", map);
    return;
  }
  const std::uint64_t first = how == "whole" ? 0 : points.count * rank / ranks;
  const std::uint64_t end = how == "whole" ? points.count : points.count * (rank + 1) / ranks;
  for (std::uint64_t p = first; p < end && p - first < (std::uint64_t{1} << 24); ++p)
    points.mine.push_back(static_cast<std::int64_t>(p));
  if (how == "block")
    session.decomposition("points", afterbay::Block({points.count}, {first}, {end - first}));
}

void run(const std::string& kind, std::uint32_t number, const std::string& how, afterbay::Session& session) {
  afterbay::HealpixGrid healpix{number, kind == "nested"};
  afterbay::GaussianGrid gaussian = afterbay::GaussianGrid::octahedral(number);
  if (kind == "gaussian") {
    gaussian.points_of_latitudes.clear();
    for (std::uint32_t i = 0; i < number; ++i) gaussian.points_of_latitudes.push_back(4 + i % 4);
  }
  Points points{12 * healpix.nside * healpix.nside, {}};
  const bool is_healpix = kind == "nested" || kind == "ring";
  if (!is_healpix) {
    points.count = 0;
    for (const std::uint32_t in_row : gaussian.points_of_latitudes) points.count += in_row;
  }
  decompose(session, how, points);
  afterbay::Output output(session, {.start = {.year = 2000}, .step = afterbay::Period::parse("1d")});
  const std::string decomposition = how == "whole" ? "" : "points";
  const afterbay::ComputedCoordinates with_bounds{.bounds = true};
  if (is_healpix)
    output.healpix_grid("sphere", "cell", healpix, decomposition, with_bounds);
  else
    output.gaussian_grid("sphere", "cell", gaussian, decomposition, with_bounds);
  output.field("number", {.grid = "sphere", .type = afterbay::Type::float64});
  output.start();
  output.step(1);
  const std::vector<double> values(points.mine.begin(), points.mine.end());
  output.put("number", values.data());
  output.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    if (argc < 4) throw std::runtime_error("point_grids KIND NUMBER HOW");
    afterbay::SessionOptions options;
    options.name = "points";
    options.arguments.assign(argv + 4, argv + argc);
    afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, options);
    if (session.is_server()) {
      session.serve();
    } else {
      run(argv[1], static_cast<std::uint32_t>(std::stoul(argv[2])), argv[3], session);
      session.finalize();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
