// SPDX-License-Identifier: Apache-2.0
// What a schema says about a fields file besides its fields: the fixed-length header, constants of
// grid and levels, the room for the lookup. Pure functions. Source: Unified Model Documentation
// Paper F3, sections 2 and 3.
#pragma once

#include <cstdint>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "packing/fields_file.hpp"
#include "storage/um/definition.hpp"

namespace afterbay::storage::fieldsfile {

extern const um::FileKind file_kind;  // definition_fieldsfile.cpp

struct FileDescription {
  packing::FileConstants constants;
  /// Entries of the lookup for which there is room before the values.
  std::uint64_t reserved_entries = 0;
  /// Rows or columns are irregular, so that the constants have the coordinates of all fields.
  bool variable_resolution = false;
};
/// Attributes FF_... of the file. Errors are sentences whose subject is the file ("has ...").
Result<> check_file_attributes(const Schema& schema);
/// Takes a schema whose fields have been checked. Fails with the name of a variable whose grid
/// differs from that of the others in a file of variable resolution, or of which no header can be
/// made; and for attributes of the file that say nothing valid.
Result<FileDescription> describe_file(const Schema& schema);

/// Enters the grid of a field into its header. In files of variable resolution, words on grids are
/// missing ones, even those of a regular axis: mule demands it.
void enter_grid(const packing::PpGrid& grid, bool variable_resolution, packing::PpHeader& header);

/// In files of variable resolution, leaves the STASH code of wind points out of a header, because
/// readers derive other coordinates from it: iris has one row less, and refuses the file. Fails if
/// then no code is left.
Result<> enter_code(const Variable& variable, bool variable_resolution, packing::PpHeader& header);

/// Whether the Unified Model has the field of a STASH code on the staggered points of winds.
bool is_on_wind_points(const packing::PpStash& stash) noexcept;  // definition_winds.cpp

/// MessageTraits::seal: finds the messages of the file from its end, writes the lookup, and the
/// fixed-length header with its address. The lookup is before the values if there is room, as
/// programs of the Unified Model want it, otherwise after them. Entries after the last one, which
/// an interrupted call left, become zeros.
Result<std::uint64_t> seal(FileBytes& file, std::uint64_t end_bytes);

}  // namespace afterbay::storage::fieldsfile
