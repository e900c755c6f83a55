// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "model/format.hpp"

namespace afterbay::storage::fieldsfile {
extern const MessageTraits message_traits;  // definition_fieldsfile.cpp
}  // namespace afterbay::storage::fieldsfile

namespace afterbay::formats {
namespace {

constexpr std::array<std::string_view, 1> fieldsfile_endings{".ff"};

}  // namespace

extern constinit const FormatTraits fieldsfile_traits{
    .name = "fieldsfile",
    .title = "UM fields file",
    .endings = fieldsfile_endings,
    .shared = false,  // a header contains the time of its record: design/0091-messages.md
    .types = all_types.without(Type::string),
    .messages = &storage::fieldsfile::message_traits,
};

}  // namespace afterbay::formats
