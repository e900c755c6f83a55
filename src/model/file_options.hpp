// SPDX-License-Identifier: Apache-2.0
// Options of output files that the configuration, messages and storage share.
#pragma once

#include <cstdint>

#include "afterbay/types.hpp"  // Existing

namespace afterbay {

/// Whether to use O_DIRECT: if possible, always, never.
enum class DirectIo : std::uint8_t { automatic, on, off };

/// Whether to run `lfs`: on Lustre, everywhere, nowhere.
enum class StripeApply : std::uint8_t { automatic, always, never };

}  // namespace afterbay
