// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "model/format_traits.hpp"
#include "model/message_accuracy.hpp"
#include "storage/fieldsfile/definition.hpp"
#include "storage/um/definition_check.hpp"

namespace afterbay::storage::fieldsfile {

extern constinit const um::FileKind file_kind{
    .message = "fields file",
    .types = all_types.without(Type::text).without(Type::string).without(Type::int64).without(Type::uint64),
    .types_text =
        "fields files hold 64-bit reals, and integers of up to 32 bits: use float32, float64, uint32 "
        "or smaller",
    .wide = true,
    .most_points = std::numeric_limits<std::int32_t>::max() - packing::sector_words,
    .most_points_text = "an entry of the lookup, which counts words in 32 bits",
};

namespace {

class Check final : public um::HeaderCheck {
 public:
  Check(const Schema& schema, const MessageTraits::Add& add) : HeaderCheck(schema, add, file_kind) {}

 private:
  void file() override {
    if (const auto taken = check_file_attributes(schema()); !taken) return add_error(taken.error());
    if (has_problems()) return;  // levels and grids of fields may be anything
    if (const auto described = describe_file(schema()); !described) add_error(described.error());
  }

  void add_error(const Error& error) {
    if (const Variable* const variable = schema().find_variable(error.variable))
      return problem(*variable, error.code, "{}", error.message);
    file_problem(error.code, "the file " + error.message);
  }
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
                                                    .seal = seal,
                                                    .accuracy = &message_accuracy};

}  // namespace afterbay::storage::fieldsfile
