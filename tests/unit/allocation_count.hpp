// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace afterbay::test {

/// Number of allocations by `new` in the calling thread; nothing under a sanitizer, which has its
/// own allocator.
std::optional<std::uint64_t> allocations() noexcept;

}  // namespace afterbay::test
