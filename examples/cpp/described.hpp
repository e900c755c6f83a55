// SPDX-License-Identifier: Apache-2.0
// Described output: the model offers its fields and puts each of them once per step. What is
// written, the description says that the setting `output` names, such as shallow_water/output.yaml.
#pragma once

#include <afterbay/output.hpp>
#include <string>
#include <vector>

#include "model.hpp"

namespace shallow_water {

class DescribedOutput {
 public:
  /// Defines grids and fields of a session that is open on this model rank.
  DescribedOutput(afterbay::Session& session, const Model& model);
  /// Puts all fields. Those that nothing uses in this step are neither copied nor computed.
  void write_step();
  void finalize() { output_.finalize(); }

 private:
  void define_grids();
  void define_field(const std::string& name, const std::string& grid, const std::string& units,
                    const std::string& long_name);
  /// Computes the field at all points of this rank, and puts it, if something wants it.
  template <class Value>
  void put_computed(const std::string& field, Value value);

  const Model& model_;
  afterbay::Output output_;
  std::vector<double> work_;
};

}  // namespace shallow_water
