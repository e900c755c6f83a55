// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/message_store.hpp"

#ifdef AFTERBAY_HAS_ECCODES
#include "storage/grib2/grib2_encoder.hpp"
#endif

namespace afterbay::storage {
namespace {

#ifdef AFTERBAY_HAS_ECCODES
Result<std::unique_ptr<MessageEncoder>> make_encoder(const Schema& schema, const model::FileLayout& layout) {
  return grib2::Grib2Encoder::make(schema, layout);
}
#else
Result<std::unique_ptr<MessageEncoder>> make_encoder(const Schema&, const model::FileLayout&) {
  return fail(ErrorCode::invalid_argument,
              "this build of Afterbay has no ecCodes, which encodes GRIB2: install it (Debian's package "
              "libeccodes-dev) "
              "and build again, or use netCDF");
}
#endif

}  // namespace

std::unique_ptr<Store> make_grib2_store() {
  return std::make_unique<MessageStore>(Format::grib2, make_encoder);
}

}  // namespace afterbay::storage
