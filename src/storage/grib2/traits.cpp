// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "model/format.hpp"

namespace afterbay::storage::grib2 {
extern const MessageTraits message_traits;  // definition_check.cpp
}  // namespace afterbay::storage::grib2

namespace afterbay::formats {
namespace {

constexpr std::array<std::string_view, 4> grib2_endings{".grib2", ".grb2", ".grib", ".grb"};

}  // namespace

extern constinit const FormatTraits grib2_traits{
    .name = "grib2",
    .title = "GRIB2",
    .endings = grib2_endings,
    .shared = false,  // a message contains the time of its record: design/0091-messages.md
    .types = all_types.without(Type::string),
    .messages = &storage::grib2::message_traits,
};

}  // namespace afterbay::formats
