// SPDX-License-Identifier: Apache-2.0
// VariableStorage: how a variable's bytes are written to a netCDF-4 file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "codec/chunk_codec.hpp"
#include "model/layout.hpp"
#include "storage/leader_part.hpp"

namespace afterbay::storage {

enum class StorageKind {
  chunks,  ///< HDF5 chunks as the layout cuts them: placed by HDF5, written by this library
  dense,   ///< contiguous: one address
  /// Stored in another way (files from other software) or strings: written by HDF5 itself.
  library,
};

struct VariableStorage {
  StorageKind kind = StorageKind::library;
  std::uint64_t span = 1;  ///< number of records per chunk
  codec::ChunkCodec codec;

  /// Whether a chunk is encoded, and therefore written as a whole.
  [[nodiscard]] bool encodes() const { return kind == StorageKind::chunks && codec.active(); }
  /// Whether several records must be collected before they can be encoded.
  [[nodiscard]] bool assembles() const { return encodes() && span > 1; }
};

/// The data that members of a shared file need.
struct Netcdf4Share {
  LeaderPart part;
  std::vector<VariableStorage> variables;
};

std::vector<std::byte> seal(const Netcdf4Share& share, const model::FileLayout& layout);
Result<Netcdf4Share> open_netcdf4_share(std::span<const std::byte> bytes, const model::FileLayout& layout);

}  // namespace afterbay::storage
