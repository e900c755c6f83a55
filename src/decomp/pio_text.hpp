// SPDX-License-Identifier: Apache-2.0
// PIO's text form of one map, as PIO writes it with PIO_SAVE_DECOMPS:
//
//   version 2001 npes P ndims N
//   the N lengths, the dimension that runs fastest first
//   then per rank: a line `rank length`, a line of `length` indices, 1-based, 0 = hole
//
// A stack trace may follow ("Obtained 10 stack frames." and arbitrary lines).
#pragma once

#include <string>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

/// Reads a map and names it after the file, without directory and extension. Strict: all ranks in
/// order, exactly the announced number of indices, each in range and followed by a blank or the end
/// of the line, and nothing after them except a stack trace. Errors name line and value.
Result<Decomposition> read_pio_text(const std::string& path);

/// Writes text from which read_pio_text reads the same lists, replacing an existing file.
Result<> write_pio_text(const std::string& path, const Decomposition& map);

}  // namespace afterbay::decomp
