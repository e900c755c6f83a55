// SPDX-License-Identifier: Apache-2.0
#include "model/format.hpp"

namespace afterbay::storage::grib2 {
extern const MessageTraits message_traits;  // definition_check.cpp
}  // namespace afterbay::storage::grib2

namespace afterbay::formats {

extern constinit const FormatTraits grib2_traits{
    .name = "grib2",
    .title = "GRIB2",
    .shared = false,  // a message contains the time of its record: design/0091-messages.md
    .types = all_types.without(Type::string),
    .messages = &storage::grib2::message_traits,
};

}  // namespace afterbay::formats
