// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace shallow_water {
namespace {

constexpr double per_cell = 1.0 / cell;
constexpr double pi = std::numbers::pi;

// The initial state: an eastward and a westward jet that meander.
constexpr double jet_speed = 2.0;    // m s-1
constexpr double jet_widths = 32.0;  // height of the domain
constexpr std::array<int, 4> waves{2, 3, 5, 7};
constexpr std::array<double, 4> wave_height{1.2, 0.8, 0.9, 0.4};  // jet widths

void share(int n, int parts, int number, int& first, int& count) {
  first = n * number / parts;
  count = n * (number + 1) / parts - first;
}

}  // namespace

Model::Model(MPI_Comm comm, int nx_in, int ny_in) : nx(nx_in), ny(ny_in) {
  int ranks = 0, rank = 0;
  std::array<int, 2> dims{}, place{};
  const std::array<int, 2> periodic{1, 1};
  MPI_Comm_size(comm, &ranks);
  MPI_Dims_create(ranks, 2, dims.data());
  MPI_Cart_create(comm, 2, dims.data(), periodic.data(), 0, &comm_);
  MPI_Comm_rank(comm_, &rank);
  MPI_Cart_coords(comm_, rank, 2, place.data());
  MPI_Cart_shift(comm_, 0, 1, &south_, &north_);
  MPI_Cart_shift(comm_, 1, 1, &west_, &east_);
  share(ny, dims[0], place[0], j0, nj);
  share(nx, dims[1], place[1], i0, ni);
  const auto points = static_cast<std::size_t>(ni + 2) * static_cast<std::size_t>(nj + 2);
  for (Field* field : {&now_.h, &now_.u, &now_.v, &next_.h, &next_.u, &next_.v, &fx_, &fy_, &q_, &b_})
    field->resize(points);
  to_.resize(3 * static_cast<std::size_t>(std::max(ni, nj) + 2));
  from_.resize(to_.size());
  initialise();
  exchange_halos(now_);
}

Model::~Model() { MPI_Comm_free(&comm_); }

/// The stream function (m2 s-1) at a position given in cells from the south-west corner.
double Model::stream_function(double x, double y) const {
  const double width = std::max(3.0, ny / jet_widths);
  double south = (y - 0.28 * ny) / width;
  double north = (y - 0.72 * ny) / width;
  for (int k = 1; k <= 4; ++k) {
    const auto wave = static_cast<std::size_t>(k - 1);
    south = south + wave_height[wave] * std::sin(2.0 * pi * waves[wave] * (x / nx) + k);
    north = north + wave_height[wave] * std::sin(2.0 * pi * waves[wave] * (x / nx) + 2 * k);
  }
  return jet_speed * width * cell * (std::tanh(north) - std::tanh(south));
}

/// Velocities along the stream function, depth in geostrophic balance with them.
void Model::initialise() {
  for (int j = 1; j <= nj; ++j) {
    for (int i = 1; i <= ni; ++i) {
      const double x = i + i0 - 1, y = j + j0 - 1;
      const std::size_t p = at(i, j);
      now_.u[p] = (stream_function(x, y) - stream_function(x, y + 1.0)) * per_cell;
      now_.v[p] = (stream_function(x + 1.0, y) - stream_function(x, y)) * per_cell;
      now_.h[p] = rest_depth + coriolis * stream_function(x + 0.5, y + 0.5) / gravity;
    }
  }
}

/// Sends a line of each field to one neighbour and receives the same from the other.
void Model::shift(State& state, int target, int source, int out, int in, int n, int stride) {
  const std::array<double*, 3> fields{state.h.data(), state.u.data(), state.v.data()};
  double* to = to_.data();
  for (const double* field : fields)
    for (int k = 0; k < n; ++k) *to++ = field[out + k * stride];
  MPI_Sendrecv(to_.data(), 3 * n, MPI_DOUBLE, target, 0, from_.data(), 3 * n, MPI_DOUBLE, source, 0, comm_,
               MPI_STATUS_IGNORE);
  const double* from = from_.data();
  for (double* field : fields)
    for (int k = 0; k < n; ++k) field[in + k * stride] = *from++;
}

/// West and east, then south and north with the corners.
void Model::exchange_halos(State& state) {
  const int row = ni + 2;
  shift(state, west_, east_, 1, ni + 1, nj + 2, row);
  shift(state, east_, west_, ni, 0, nj + 2, row);
  shift(state, south_, north_, row, (nj + 1) * row, row, 1);
  shift(state, north_, south_, nj * row, 0, row, 1);
}

void Model::fluxes(const State& state) {
  const auto& [h, u, v] = state;
  const auto row = static_cast<std::size_t>(ni + 2);
#pragma omp for nowait
  for (int j = 1; j <= nj + 1; ++j)
    for (std::size_t p = at(1, j); p <= at(ni + 1, j); ++p)
      q_[p] = (coriolis + (v[p] - v[p - 1] - (u[p] - u[p - row])) * per_cell) /
              (0.25 * (h[p] + h[p - 1] + (h[p - row] + h[p - row - 1])));
#pragma omp for nowait
  for (int j = 0; j <= nj; ++j)
    for (std::size_t p = at(0, j); p <= at(ni, j); ++p)
      b_[p] = gravity * h[p] +
              0.25 * (u[p] * u[p] + u[p + 1] * u[p + 1] + (v[p] * v[p] + v[p + row] * v[p + row]));
#pragma omp for nowait
  for (int j = 0; j <= nj; ++j)
    for (std::size_t p = at(1, j); p <= at(ni + 1, j); ++p) fx_[p] = 0.5 * (h[p] + h[p - 1]) * u[p];
#pragma omp for
  for (int j = 1; j <= nj + 1; ++j)
    for (std::size_t p = at(0, j); p <= at(ni, j); ++p) fy_[p] = 0.5 * (h[p] + h[p - row]) * v[p];
}

/// next = now + dt * the tendencies computed from the fluxes.
void Model::advance(double dt) {
  const auto row = static_cast<std::size_t>(ni + 2);
  const Field &fx = fx_, &fy = fy_, &q = q_, &b = b_;
#pragma omp for
  for (int j = 1; j <= nj; ++j) {
    for (std::size_t p = at(1, j); p <= at(ni, j); ++p) {
      next_.u[p] = now_.u[p] +
                   dt * (0.125 * (q[p] + q[p + row]) * (fy[p] + fy[p - 1] + (fy[p + row] + fy[p + row - 1])) -
                         (b[p] - b[p - 1]) * per_cell);
      next_.v[p] = now_.v[p] -
                   dt * (0.125 * (q[p] + q[p + 1]) * (fx[p] + fx[p - row] + (fx[p + 1] + fx[p + 1 - row])) +
                         (b[p] - b[p - row]) * per_cell);
      next_.h[p] = now_.h[p] - dt * ((fx[p + 1] - fx[p] + (fy[p + row] - fy[p])) * per_cell);
    }
  }
#pragma omp master
  exchange_halos(next_);
#pragma omp barrier
}

void Model::step() {
  fluxes(now_);
  advance(time_step / 3.0);
  fluxes(next_);
  advance(time_step / 2.0);
  fluxes(next_);
  advance(time_step);
#pragma omp single
  {
    std::swap(now_, next_);
    ++steps;
  }
}

double Model::vorticity(int i, int j) const {
  const std::size_t p = at(i, j), south = at(i, j - 1);
  return (now_.v[p] - now_.v[p - 1] - (now_.u[p] - now_.u[south])) * per_cell;
}

double Model::speed(int i, int j) const {
  const auto& [h, u, v] = now_;
  const std::size_t p = at(i, j), north = at(i, j + 1);
  return std::sqrt(0.5 * (u[p] * u[p] + u[p + 1] * u[p + 1] + (v[p] * v[p] + v[north] * v[north])));
}

}  // namespace shallow_water
