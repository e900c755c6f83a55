// SPDX-License-Identifier: Apache-2.0
// Numbers that order the runs of a journal, whatever the clocks say.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay::journal {

/// A number that is larger than `known` and than all that were given in the directory before. They are
/// counted in a file of the directory, under a lock that is waited for a second at most; without the lock, by
/// `next_sequence_without_locks`.
std::uint64_t next_sequence(const std::string& directory, std::uint64_t known);

/// The same by exclusive creation of an empty file `sequence.N`. If the directory cannot be written, the
/// number is only larger than those that can be read there.
std::uint64_t next_sequence_without_locks(const std::string& directory, std::uint64_t known);

}  // namespace afterbay::journal
