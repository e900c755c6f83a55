// SPDX-License-Identifier: Apache-2.0
// The sizes of links, from the configuration.
#pragma once

#include "config/config.hpp"
#include "transport/link.hpp"

namespace afterbay::session {

/// Sizes of all links of a session. `memory`: the settings of the session, or of a server's pool.
transport::LinkSizes link_sizes(const config::MemorySettings& memory);

/// What a frontend may take, for relay::divide: 0 if memory.frontend is not set.
std::uint64_t frontend_bytes(const config::Config& config);

}  // namespace afterbay::session
