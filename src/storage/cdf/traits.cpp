// SPDX-License-Identifier: Apache-2.0
// Source: NetCDF User's Guide, "Large File Support": CDF-2 has variables (of one record) of at most
// 2^32 - 4 bytes, dimensions of at most 2^31 - 4 and six types; CDF-5 has all number types and no
// such limits.
#include "model/format.hpp"

namespace afterbay::formats {

extern constinit const FormatTraits cdf5_traits{
    .name = "cdf5",
    .title = "CDF-5",
    .magic = "CDF",
    .arithmetic_places = true,
    .big_endian = true,
    .types = all_types.without(Type::string),
};

extern constinit const FormatTraits cdf2_traits{
    .name = "cdf2",
    .title = "CDF-2",
    .magic = "CDF",
    .arithmetic_places = true,
    .big_endian = true,
    .types = TypeSet{}
                 .with(Type::int8)
                 .with(Type::text)
                 .with(Type::int16)
                 .with(Type::int32)
                 .with(Type::float32)
                 .with(Type::float64),
    .most_dimension_length = (std::uint64_t{1} << 31) - 4,
    .most_variable_bytes = (std::uint64_t{1} << 32) - 4,
    .most_records = UINT32_MAX - 1,  // one value of the counter in the header means "streaming"
};

}  // namespace afterbay::formats
