// SPDX-License-Identifier: Apache-2.0
// Numbers that order the runs of a journal, independent of clocks.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay::journal {

/// A number that is larger than `known` and than all numbers assigned in the directory before. A
/// file in the directory counts them, under a lock for which this waits a second at most; without
/// the lock, `next_sequence_without_locks` is used.
std::uint64_t next_sequence(const std::string& directory, std::uint64_t known);

/// The same by exclusive creation of an empty file `sequence.N`. If the directory cannot be
/// written, the number is only larger than those that can be read there.
std::uint64_t next_sequence_without_locks(const std::string& directory, std::uint64_t known);

}  // namespace afterbay::journal
