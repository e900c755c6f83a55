// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/dataset_codec.hpp"

#include <netcdf.h>
#include <netcdf_filter.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "codec/filter_chain.hpp"
#include "storage/structure/netcdf_names.hpp"

namespace afterbay::storage {
namespace {

constexpr std::size_t most_values = 11;  ///< largest number of values that a filter may list

/// Our filter for the values that HDF5 lists; nullopt if the codec does not support them.
std::optional<Filter> filter_from(const codec::Codec& codec, std::span<const unsigned> values,
                                  std::size_t element_bytes) {
  auto parameters = codec.from_hdf5(values, element_bytes);
  if (!parameters) return std::nullopt;
  return Filter{codec.id, *std::move(parameters)};
}

/// Whether all chunks are stored alike: edge chunks can be exempt from filters
/// (H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS).
bool filters_all_chunks(hid_t creation_list) {
  unsigned options = 0;
  return H5Pget_chunk_opts(creation_list, &options) >= 0 && options == 0;
}

struct FreeHdf5Memory {
  void operator()(std::byte* memory) const { H5free_memory(memory); }
};
using Hdf5Memory = std::unique_ptr<std::byte, FreeHdf5Memory>;

/// A filter of HDF5 (H5Z_func_t). HDF5 calls it if it writes or reads chunks itself: for netCDF-C,
/// and when a chunk that was incomplete is completed.
template <const codec::Codec& codec>
std::size_t filter_for_hdf5(unsigned flags, std::size_t value_count, const unsigned* values,
                            std::size_t input_bytes, std::size_t* buffer_bytes, void** buffer) {
  return filter_buffer(codec, (flags & H5Z_FLAG_REVERSE) != 0, {values, value_count}, input_bytes,
                       *buffer_bytes, *buffer);
}

/// HDF5 calls it when a dataset with the filter is made (H5Z_set_local_func_t).
template <const codec::Codec& codec>
herr_t list_values_in_hdf5(hid_t creation_list, hid_t type, hid_t) {
  const auto number = static_cast<H5Z_filter_t>(codec.id);
  const std::size_t element_bytes = H5Tget_size(type);
  unsigned flags = 0;
  std::array<unsigned, most_values> given{};
  std::size_t count = given.size();
  if (H5Pget_filter_by_id2(creation_list, number, &flags, &count, given.data(), 0, nullptr, nullptr) < 0)
    return -1;
  const auto parameters =
      codec.from_hdf5(std::span(given).first(std::min(count, given.size())), element_bytes);
  const std::vector<unsigned> values =
      codec.to_hdf5(parameters.value_or(std::vector<std::uint32_t>{}), element_bytes);
  return H5Pmodify_filter(creation_list, number, H5Z_FLAG_OPTIONAL, values.size(), values.data());
}

template <const codec::Codec& codec>
void register_codec() noexcept {
  const auto number = static_cast<H5Z_filter_t>(codec.id);
  if (codec.decoded_bytes == nullptr || H5Zfilter_avail(number) > 0) return;
  const H5Z_class2_t entry{.version = H5Z_CLASS_T_VERS,
                           .id = number,
                           .encoder_present = 1,
                           .decoder_present = 1,
                           .name = codec.name.data(),
                           .can_apply = nullptr,
                           .set_local = codec.to_hdf5 != nullptr ? list_values_in_hdf5<codec> : nullptr,
                           .filter = filter_for_hdf5<codec>};
  H5Zregister(&entry);  // if it fails, variables with this filter cannot be defined
}

}  // namespace

std::size_t filter_buffer(const codec::Codec& codec, bool decodes, std::span<const unsigned> values,
                          std::size_t input_bytes, std::size_t& buffer_bytes, void*& buffer) {
  const std::span<const std::byte> input(static_cast<const std::byte*>(buffer), input_bytes);
  std::size_t element_bytes = 1;
  if (const int place = codec.element_value; place >= 0 && static_cast<std::size_t>(place) < values.size())
    element_bytes = values[static_cast<std::size_t>(place)];
  const auto parameters = codec.from_hdf5(values, element_bytes);
  std::uint64_t room = input.size() + input.size() / 64 + 4096;  // more than any compressor adds
  if (decodes) room = codec.decoded_bytes(input).value_or(0);
  if (codec.kind != codec::FilterKind::compress) room = input.size();
  if (!parameters || room / codec.most_expansion > input.size()) return 0;
  Hdf5Memory memory(static_cast<std::byte*>(H5allocate_memory(std::max<std::uint64_t>(1, room), false)));
  if (memory == nullptr) return 0;
  const std::span output(memory.get(), room);
  const codec::Filtering filtering{*parameters, element_bytes};
  std::size_t made = 0;  // stays 0 if it fails, or if the result does not fit
  if (decodes)
    made = codec.decode(filtering, input, output) ? output.size() : 0;
  else
    made = codec.encode(filtering, input, output).value_or(0);
  if (made == 0) return 0;
  H5free_memory(buffer);
  buffer = memory.release();
  buffer_bytes = room;
  return made;
}

void register_codecs() noexcept {
#define AFTERBAY_REGISTER(NAME) register_codec<codec::NAME##_codec>();
    AFTERBAY_CODECS(AFTERBAY_REGISTER)
#undef AFTERBAY_REGISTER
}

std::optional<codec::ChunkCodec> codec_of(hid_t creation_list, std::size_t element_bytes) {
  FilterChain chain;
  const int count = H5Pget_nfilters(creation_list);
  if (count > 0 && !filters_all_chunks(creation_list)) return std::nullopt;
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::array<unsigned, most_values> values{};
    std::size_t value_count = values.size();
    const H5Z_filter_t number = H5Pget_filter2(creation_list, static_cast<unsigned>(i), &flags, &value_count,
                                               values.data(), 0, nullptr, nullptr);
    const codec::Codec* codec = number < 0 ? nullptr : codec::find_codec(static_cast<std::uint32_t>(number));
    if (codec == nullptr || !codec->lacks.empty() || value_count > values.size()) return std::nullopt;
    auto filter = filter_from(*codec, std::span(values).first(value_count), element_bytes);
    if (!filter) return std::nullopt;
    chain.push_back(*std::move(filter));
  }
  auto codec = codec::ChunkCodec::make(std::move(chain), element_bytes);
  if (!codec) return std::nullopt;
  return *std::move(codec);
}

Result<FilterChain> read_filters(int file, int variable, Type type, const std::string& what) {
  FilterChain chain;
  std::size_t count = 0;
  AFTERBAY_TRY(check_netcdf(nc_inq_var_filter_ids(file, variable, &count, nullptr), what));
  std::vector<unsigned> ids(count);
  if (count > 0) AFTERBAY_TRY(check_netcdf(nc_inq_var_filter_ids(file, variable, &count, ids.data()), what));
  for (const unsigned id : ids) {
    const codec::Codec* codec = codec::find_codec(std::uint32_t{id});
    if (codec == nullptr || !codec->lacks.empty() || codec::find_filter(chain, id) != nullptr) continue;
    std::size_t value_count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_var_filter_info(file, variable, id, &value_count, nullptr), what));
    if (value_count > most_values) continue;
    std::array<unsigned, most_values> values{};
    AFTERBAY_TRY(check_netcdf(nc_inq_var_filter_info(file, variable, id, &value_count, values.data()), what));
    if (auto filter = filter_from(*codec, std::span(values).first(value_count), size_of(type)))
      chain.push_back(*std::move(filter));
  }
  chain = codec::in_order(std::move(chain));
  if (codec::mistake_in(chain)) chain.clear();  // two compressors, for instance
  return chain;
}

Result<> define_filters(int file, int variable, const FilterChain& chain, const std::string& what) {
  for (const Filter& filter : chain) {
    const codec::Codec* codec = codec::find_codec(filter.id);
    if (codec == nullptr)
      return fail(ErrorCode::invalid_argument, "{} has the unknown filter {}", what, filter.id);
    AFTERBAY_TRY(check_netcdf(
        nc_def_var_filter(file, variable, filter.id, filter.parameters.size(), filter.parameters.data()),
        "give " + what + " the filter " + std::string(codec->name)));
  }
  return {};
}

}  // namespace afterbay::storage
