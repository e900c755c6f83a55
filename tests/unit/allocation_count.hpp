// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace afterbay::test {

/// How many times the calling thread has allocated with `new`; nothing under a sanitizer, which has its own.
std::optional<std::uint64_t> allocations() noexcept;

}  // namespace afterbay::test
