// SPDX-License-Identifier: Apache-2.0
// Limits how far beyond the last record of a file the next one may lie.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

/// The most records that one put may skip. More is a mistake, for example a date or time given as
/// record index: it would create a file with that many records of fill values.
inline constexpr std::uint64_t most_records_left_out = 1'000'000;

/// Bytes by which a file can still grow; nullopt if unknown.
using FreeBytes = std::function<std::optional<std::uint64_t>()>;

/// Checks that a file with `records` records may get `record` of a variable: fails with
/// invalid_argument if too many records are skipped, and with no_space if there is no space for the
/// skipped records. `free_bytes` is given if these must be written. The error names variable,
/// record, and the space that the file would need. Fast if no records are skipped.
Result<> check_reach(const Schema& schema, const model::FileLayout& layout, std::uint32_t variable,
                     std::uint64_t record, std::uint64_t records, const FreeBytes& free_bytes = {});

}  // namespace afterbay::storage
