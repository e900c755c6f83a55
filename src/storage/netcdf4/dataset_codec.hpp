// SPDX-License-Identifier: Apache-2.0
// Translates between the filters of HDF5 and netCDF-C and our codecs. No other code does this.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <optional>
#include <span>
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

/// What a filter that is registered with HDF5 does (H5Z_func_t): decodes or encodes the first
/// `input_bytes` of `buffer`, with HDF5's list of values. Frees `buffer`, which is memory of HDF5,
/// and replaces it and its size; returns the number of bytes in it. Returns 0, and changes nothing,
/// if that fails.
std::size_t filter_buffer(const codec::Codec& codec, bool decodes, std::span<const unsigned> values,
                          std::size_t input_bytes, std::size_t& buffer_bytes, void*& buffer);

/// Defines the filters of a new variable. Needs a LibraryLock.
Result<> define_filters(int file, int variable, const FilterChain& chain, const std::string& what);

}  // namespace afterbay::storage
