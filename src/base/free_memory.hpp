// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace afterbay {

/// Bytes of memory that this process can still get: of the node, or of its control groups if that is less.
/// What the kernel can reclaim (clean files in its cache) counts as free. Nothing when it is not known.
std::optional<std::uint64_t> free_memory();

}  // namespace afterbay
