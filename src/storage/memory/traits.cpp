// SPDX-License-Identifier: Apache-2.0
#include "model/format.hpp"

namespace afterbay::formats {

extern constinit const FormatTraits memory_traits{
    .name = "memory",
    .title = "memory",
    .publishes = false,
    .shared = false,
    .filters = FilterRule::ignored,
};

}  // namespace afterbay::formats
