// SPDX-License-Identifier: Apache-2.0
// The transport between model ranks and servers that the configuration asks for, and that
// connections get.
#pragma once

#include <cstdint>

namespace afterbay {

enum class TransportChoice : std::uint8_t {
  automatic,  ///< shared memory on a node, MPI between nodes
  shm,        ///< shared memory for all pairs; refused if a pair spans two nodes
  mpi,        ///< MPI for all pairs, except of an inline server with its own rank
};

}  // namespace afterbay
