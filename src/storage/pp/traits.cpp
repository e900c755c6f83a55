// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "model/format.hpp"

namespace afterbay::storage::pp {
extern const MessageTraits message_traits;  // definition_pp.cpp
}  // namespace afterbay::storage::pp

namespace afterbay::formats {
namespace {

constexpr std::array<std::string_view, 1> pp_endings{".pp"};

}  // namespace

extern constinit const FormatTraits pp_traits{
    .name = "pp",
    .title = "PP",
    .endings = pp_endings,
    .shared = false,  // a header contains the time of its record: design/0091-messages.md
    .types = all_types.without(Type::string),
    .messages = &storage::pp::message_traits,
};

}  // namespace afterbay::formats
