// SPDX-License-Identifier: Apache-2.0
#include "storage/structure/netcdf_names.hpp"

#include "model/types.hpp"
#include "storage/block_writer/system_error.hpp"

namespace afterbay::storage {

nc_type netcdf_type(Type type) noexcept {
  switch (type) {
    case Type::int8: return NC_BYTE;
    case Type::text: return NC_CHAR;
    case Type::int16: return NC_SHORT;
    case Type::int32: return NC_INT;
    case Type::float32: return NC_FLOAT;
    case Type::float64: return NC_DOUBLE;
    case Type::uint8: return NC_UBYTE;
    case Type::uint16: return NC_USHORT;
    case Type::uint32: return NC_UINT;
    case Type::int64: return NC_INT64;
    case Type::uint64: return NC_UINT64;
    case Type::string: return NC_STRING;
  }
  return NC_NAT;
}

std::optional<Type> type_of_netcdf(nc_type type) noexcept {
  for (const Type it : model::every_type)
    if (netcdf_type(it) == type) return it;
  return std::nullopt;
}

Error netcdf_error(int status, const std::string& doing) {
  ErrorCode code = ErrorCode::format;
  if (status > 0) code = code_of_errno(status);
  if (status == NC_EMAXNAME || status == NC_EBADNAME || status == NC_ENAMEINUSE || status == NC_EINVAL ||
      status == NC_EBADCHUNK || status == NC_EVARSIZE || status == NC_EDIMSIZE || status == NC_ERANGE)
    code = ErrorCode::invalid_argument;
  if (status == NC_EBADTYPE || status == NC_ECHAR || status == NC_ESTRICTNC3) code = ErrorCode::wrong_type;
  if (status == NC_ENOMEM) code = ErrorCode::resources;
  return make_error(code, "cannot {}: {} (netCDF-C)", doing, nc_strerror(status)).with_native(status);
}

}  // namespace afterbay::storage
