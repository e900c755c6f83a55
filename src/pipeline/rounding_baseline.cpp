// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>
#include <utility>

#include "base/strict_floating_point.hpp"
#include "pipeline/rounding_loops.hpp"

namespace afterbay::pipeline::rounding {
namespace {

constexpr std::size_t vector_bytes = 16;
#include "pipeline/rounding_loops.inc"

}  // namespace

const RoundingLoops baseline{&run_float, &run_double};

}  // namespace afterbay::pipeline::rounding
