// SPDX-License-Identifier: Apache-2.0
// Filters as HDF5 and netCDF-C list them, and as codecs: the only place where the two meet.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <optional>
#include <string>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "codec/chunk_codec.hpp"

namespace afterbay::storage {

/// What encodes and decodes the chunks of a dataset that was created with `creation_list`; nothing when it
/// has filters that no codec is registered for, or in an order that is not ours. Under a LibraryLock.
std::optional<codec::ChunkCodec> codec_of(hid_t creation_list, std::size_t element_bytes);

/// The filters of a variable of a netCDF-4 file that is open with netCDF-C, those without a codec left out,
/// in the order of new variables. Under a LibraryLock.
Result<FilterChain> read_filters(int file, int variable, Type type, const std::string& what);

/// Makes HDF5 accept the filters that it does not have: it and netCDF-C refuse to define variables with
/// filters that they do not know. Chunks of these variables are encoded and decoded by the codec only. Called
/// by the first LibraryLock of a process.
void register_codecs() noexcept;

/// Gives a new variable its filters. Under a LibraryLock.
Result<> define_filters(int file, int variable, const FilterChain& chain, const std::string& what);

}  // namespace afterbay::storage
