// SPDX-License-Identifier: Apache-2.0
// The shallow-water model of examples/shallow_water in C++: the same numbers, bit for bit.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

namespace shallow_water {

inline constexpr double gravity = 0.05;      ///< reduced gravity, m s-2
inline constexpr double coriolis = 1.0e-4;   ///< s-1
inline constexpr double rest_depth = 500.0;  ///< m
inline constexpr double cell = 2000.0;       ///< width of a cell, m
inline constexpr double time_step = 200.0;   ///< s

/// This rank's part of the model. Fields have nj + 2 rows of ni + 2 values: the part and a halo of
/// one. Cell (i, j) has its depth h in the centre, u on its west edge, v on its south edge.
class Model {
 public:
  /// Collective over `comm`.
  Model(MPI_Comm comm, int nx, int ny);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Compiled with OpenMP, it is called by all threads of a team, which share its loops.
  void step();

  /// Relative vorticity (s-1) on the south-west corner, speed (m s-1) in the centre of a cell.
  [[nodiscard]] double vorticity(int i, int j) const;
  [[nodiscard]] double speed(int i, int j) const;
  [[nodiscard]] double elevation(int i, int j) const { return now_.h[at(i, j)] - rest_depth; }

  [[nodiscard]] const double* h() const { return now_.h.data(); }
  [[nodiscard]] const double* u() const { return now_.u.data(); }
  [[nodiscard]] const double* v() const { return now_.v.data(); }

  int nx, ny;          ///< the whole grid
  int ni = 0, nj = 0;  ///< this rank's part
  int i0 = 0, j0 = 0;  ///< its first point in the whole grid, from 0
  int steps = 0;       ///< done

 private:
  using Field = std::vector<double>;
  struct State {
    Field h, u, v;
  };

  [[nodiscard]] std::size_t at(int i, int j) const { return static_cast<std::size_t>(j * (ni + 2) + i); }
  [[nodiscard]] double stream_function(double x, double y) const;
  void initialise();
  void fluxes(const State& state);
  void advance(double dt);
  void exchange_halos(State& state);
  void shift(State& state, int target, int source, int out, int in, int n, int stride);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int west_ = 0, east_ = 0, south_ = 0, north_ = 0;
  State now_, next_;
  Field fx_, fy_, q_, b_;  ///< fluxes, potential vorticity, Bernoulli function
  Field to_, from_;        ///< halo messages
};

}  // namespace shallow_water
