// SPDX-License-Identifier: Apache-2.0
// Numbers that order the runs of a journal, whatever the clocks say.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay::journal {

/// A number that is larger than `known` and than all that were given in the directory before. They are
/// counted in a file of the directory, under a lock, for a second at most; where that cannot be written the
/// number is only larger than `known`.
std::uint64_t next_sequence(const std::string& directory, std::uint64_t known);

}  // namespace afterbay::journal
