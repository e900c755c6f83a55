// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace afterbay {

/// Bytes of memory that this process can still allocate: of the node, or of its control groups if
/// that is less. Memory that the kernel can reclaim (clean cached files) counts as free. Nothing if
/// it is unknown.
std::optional<std::uint64_t> free_memory();

}  // namespace afterbay
