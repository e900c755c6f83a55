// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <type_traits>

#include "packing/wgdos_kernels.hpp"

namespace afterbay::packing::wgdos {
namespace {

constexpr std::size_t vector_bytes = 16;
#include "packing/wgdos_kernels.inc"

}  // namespace

const KernelSet baseline{kernels<float>, kernels<double>};

}  // namespace afterbay::packing::wgdos
