// SPDX-License-Identifier: Apache-2.0
// Chunk lengths for archives, which are written once and read often.
#pragma once

#include <cstdint>
#include <optional>

#include "afterbay/schema.hpp"
#include "describe/description.hpp"
#include "output/model_time.hpp"
#include "output/schedule.hpp"

namespace afterbay::output {

/// The most records that a part of the file can have; nullopt if the description does not limit
/// them. `schedule`: of the file. `per_period`: records that each period has.
std::optional<std::uint64_t> most_records(const describe::File& file, const ModelTime& time,
                                          const Schedule& schedule, std::uint64_t per_period);

/// Sets the chunk lengths of all variables with records. Source: the checks of cmip7_repack 1.0
/// (https://github.com/NCAS-CMS/cmip7_repack): one chunk for the time axis and for its bounds; at
/// least 4 MiB before compression for all others, or the whole variable; of a record that is larger
/// than a block of a server, parts of at most that size. `records`: see most_records.
void set_archive_chunks(Schema& schema, std::optional<std::uint64_t> records, std::uint64_t block_bytes);

}  // namespace afterbay::output
