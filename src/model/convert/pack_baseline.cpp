// SPDX-License-Identifier: Apache-2.0
#include "base/strict_floating_point.hpp"
#include "model/convert/pack_rows.hpp"

namespace afterbay::model::convert {
namespace {

constexpr std::size_t lanes = 2;
#include "model/convert/pack_rows.inc"

}  // namespace

const PackLoop pack_baseline = &pack_block_values;

}  // namespace afterbay::model::convert
