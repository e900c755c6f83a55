// SPDX-License-Identifier: Apache-2.0
// Translates between the filters of HDF5 and netCDF-C and our codecs. No other code does this.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <optional>
#include <string>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "codec/chunk_codec.hpp"

namespace afterbay::storage {

/// The codec for the chunks of a dataset that was created with `creation_list`; nullopt if the
/// dataset has filters without a registered codec, or in an order that is not supported, or if its
/// edge chunks are exempt from filters. Needs a LibraryLock.
std::optional<codec::ChunkCodec> codec_of(hid_t creation_list, std::size_t element_bytes);

/// The filters of a variable of a netCDF-4 file that netCDF-C has opened, without those that have
/// no codec, in the order for new variables. Needs a LibraryLock.
Result<FilterChain> read_filters(int file, int variable, Type type, const std::string& what);

/// Registers with HDF5 the filters that it lacks: HDF5 and netCDF-C refuse to define variables with
/// unknown filters. Plug-ins that HDF5 finds take precedence over our codecs when HDF5 itself reads
/// or writes a chunk. The first LibraryLock of a process calls this.
void register_codecs() noexcept;

/// Defines the filters of a new variable. Needs a LibraryLock.
Result<> define_filters(int file, int variable, const FilterChain& chain, const std::string& what);

}  // namespace afterbay::storage
