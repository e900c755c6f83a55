// SPDX-License-Identifier: Apache-2.0
// Options of output files that configuration, messages and storage share.
#pragma once

#include <cstdint>

namespace afterbay {

/// What to do when a file of the final name exists.
enum class Existing : std::uint8_t { refuse, replace, append };

/// O_DIRECT: try it, insist on it, never use it.
enum class DirectIo : std::uint8_t { automatic, on, off };

}  // namespace afterbay
