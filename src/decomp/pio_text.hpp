// SPDX-License-Identifier: Apache-2.0
// PIO's text form of one map, as PIO writes it with PIO_SAVE_DECOMPS:
//
//   version 2001 npes P ndims N
//   the N lengths, the dimension that runs fastest first
//   then per rank: a line `rank length`, a line of `length` indices, 1-based, 0 = hole
//
// A stack trace may follow ("Obtained 10 stack frames." and lines of any kind).
#pragma once

#include <string>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

/// Reads a map and calls it as the file without directory and ending. Strict: all ranks in order, as many
/// indices as announced, each in range and followed by a blank or the end of the line, nothing behind them
/// but a stack trace. Errors name line and value.
Result<Decomposition> read_pio_text(const std::string& path);

/// Writes what read_pio_text reads back as the same lists, over a file that exists.
Result<> write_pio_text(const std::string& path, const Decomposition& map);

}  // namespace afterbay::decomp
