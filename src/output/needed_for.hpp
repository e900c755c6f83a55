// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "output/series.hpp"

namespace afterbay::output {

/// A variable that needs the series in the current step, for messages: "tas of the file \"day\", at
/// output.yaml:2:30". Empty: there is none.
std::string needed_for(const Series& series);

}  // namespace afterbay::output
