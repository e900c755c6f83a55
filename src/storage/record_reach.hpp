// SPDX-License-Identifier: Apache-2.0
// How far beyond the last record of a file the next one may lie.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

/// Most records that one put may leave out. More is a mistake, as a date or time given as record index:
/// it would give a file of that many records of fill values.
inline constexpr std::uint64_t most_records_left_out = 1'000'000;

/// Bytes that a file can still grow by; nothing when that cannot be told.
using FreeBytes = std::function<std::optional<std::uint64_t>()>;

/// Checks that a file which has `records` records may get `record` of a variable: invalid_argument when
/// it leaves out too many, no_space when those left out, which `free_bytes` (if given) says must be
/// written, would not find room. The error names variable, record, and what the file would need.
/// Cheap when nothing is left out.
Result<> check_reach(const Schema& schema, const model::FileLayout& layout, std::uint32_t variable,
                     std::uint64_t record, std::uint64_t records, const FreeBytes& free_bytes = {});

}  // namespace afterbay::storage
