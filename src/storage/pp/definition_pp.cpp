// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "model/format_traits.hpp"
#include "model/message_accuracy.hpp"
#include "storage/pp/file_kind.hpp"
#include "storage/um/definition_check.hpp"

namespace afterbay::storage::pp {

extern constinit const um::FileKind file_kind{
    .message = "PP record",
    .types = all_types.without(Type::text)
                 .without(Type::string)
                 .without(Type::int64)
                 .without(Type::uint64)
                 .without(Type::uint32),
    .types_text = "PP records hold 32-bit reals and integers; use float32, float64, int32 or smaller",
    .most_points = std::numeric_limits<std::int32_t>::max() / 4,
    .most_points_text = "a PP record of at most 2^31 - 1 bytes",
};

namespace {

class Check final : public um::HeaderCheck {
 public:
  Check(const Schema& schema, const MessageTraits::Add& add) : HeaderCheck(schema, add, file_kind) {}
};

void check(const Schema& schema, const MessageTraits::Add& add) { Check(schema, add).run(); }

bool packs(const Variable& variable) { return um::packs(variable, file_kind); }

Result<bool> keep_error(Variable& variable, double largest) {
  return um::keep_error(variable, largest, file_kind);
}

constexpr MessageAccuracy message_accuracy{.packs = packs, .keep_error = keep_error};

}  // namespace

extern constinit const MessageTraits message_traits{.slab_dimensions = um::slab_dimensions,
                                                    .needed_first = um::is_needed_first,
                                                    .check = check,
                                                    .accuracy = &message_accuracy};

}  // namespace afterbay::storage::pp
