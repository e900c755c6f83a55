// SPDX-License-Identifier: Apache-2.0
// Puts a rank's packed contribution in its place in a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ingest_thread.hpp"
#include "server/served_collection.hpp"
#include "server/served_decompositions.hpp"

namespace afterbay::server {

/// `to`: the piece in its frame. Returns false if the contribution does not match the definitions.
[[nodiscard]] bool scatter(const ServedCollection& collection, const ServedDecomposition* decomposition,
                           std::size_t peer, const model::Piece& piece, std::span<const std::byte> packed,
                           std::byte* to) AFTERBAY_REQUIRES(ingest_thread);

}  // namespace afterbay::server
