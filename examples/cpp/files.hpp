// SPDX-License-Identifier: Apache-2.0
// The command line of the programs, and what is in their files.
#pragma once

#include <afterbay/afterbay.hpp>
#include <string>
#include <vector>

#include "model.hpp"

namespace shallow_water {

struct Settings {
  int nx = 480, ny = 320, steps = 600, fields_every = 20, surface_every = 10;
  std::string directory = ".";
  bool described = false;  ///< a description says what is written; false: the program does
};

/// Arguments that begin with --afterbay. are left to Afterbay.
Settings read_settings(const std::vector<std::string>& arguments);

/// The state of the model and its vorticity.
afterbay::Schema fields_schema(const Model& model);
/// Elevation and speed.
afterbay::Schema surface_schema(const Model& model);
/// Where the rank's part lies in the model's arrays, which have a halo of one point.
afterbay::MemoryLayout inside_halo(const Model& model);

}  // namespace shallow_water
