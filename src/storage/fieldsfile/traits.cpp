// SPDX-License-Identifier: Apache-2.0
#include "model/format.hpp"

namespace afterbay::storage::fieldsfile {
extern const MessageTraits message_traits;  // definition_fieldsfile.cpp
}  // namespace afterbay::storage::fieldsfile

namespace afterbay::formats {

extern constinit const FormatTraits fieldsfile_traits{
    .name = "fieldsfile",
    .title = "UM fields file",
    .shared = false,  // a header contains the time of its record: design/0091-messages.md
    .types = all_types.without(Type::string),
    .messages = &storage::fieldsfile::message_traits,
};

}  // namespace afterbay::formats
