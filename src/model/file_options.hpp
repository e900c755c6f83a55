// SPDX-License-Identifier: Apache-2.0
// Options of output files that the configuration, messages and storage share.
#pragma once

#include <cstdint>

namespace afterbay {

/// What to do if a file with the final name exists.
enum class Existing : std::uint8_t { refuse, replace, append };

/// Whether to use O_DIRECT: if possible, always, never.
enum class DirectIo : std::uint8_t { automatic, on, off };

}  // namespace afterbay
