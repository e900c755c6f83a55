// SPDX-License-Identifier: Apache-2.0
// Writes fields of the example model (examples/cpp): depth, the two velocities, vorticity, speed
// and elevation, as float32.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "model.hpp"

int main(int argc, char** argv) {
  int nx = 480, ny = 320, steps = 600;
  std::string file;
  CLI::App app("fields of the shallow-water model after some steps");
  app.add_option("--nx", nx);
  app.add_option("--ny", ny);
  app.add_option("--steps", steps);
  app.add_option("--file", file)->required();
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  bool good = false;
  {
    shallow_water::Model model(MPI_COMM_WORLD, nx, ny);
    for (int step = 0; step < steps; ++step) model.step();
    std::vector<float> values;
    const auto add = [&](auto value) {
      for (int j = 1; j <= ny; ++j)
        for (int i = 1; i <= nx; ++i) values.push_back(static_cast<float>(value(i, j)));
    };
    const auto inside = [&](const double* field) {
      add([=](int i, int j) { return field[j * (nx + 2) + i]; });
    };
    inside(model.h());
    inside(model.u());
    inside(model.v());
    add([&](int i, int j) { return model.vorticity(i, j); });
    add([&](int i, int j) { return model.speed(i, j); });
    add([&](int i, int j) { return model.elevation(i, j); });
    std::ofstream output(file, std::ios::binary);
    output.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(float)));
    good = output.flush().good();
  }
  MPI_Finalize();
  if (!good) std::fprintf(stderr, "cannot write %s\n", file.c_str());
  return good ? 0 : 1;
}
