// SPDX-License-Identifier: Apache-2.0
#include "client/file_changes.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/changes.hpp"
#include "model/fill_value.hpp"
#include "model/missing_values.hpp"
#include "model/validate.hpp"
#include "pipeline/quantize.hpp"

namespace afterbay::client {
namespace {

constexpr std::string_view scaling_attributes[] = {"scale_factor", "add_offset"};
constexpr std::string_view limit_attributes[] = {"valid_min", "valid_max", "valid_range"};

/// The values of an attribute; none if there is no such attribute.
Values values_of(const Variable& variable, std::string_view attribute) {
  const auto found = std::ranges::find(variable.attributes, attribute, &Attribute::name);
  return found == variable.attributes.end() ? Values() : found->values;
}

/// Checks one variable.
class ChangedVariable {
 public:
  ChangedVariable(const CommonToFiles& common, const SchemaChanges& changes, const Schema& changed,
                  std::uint32_t index)
      : common_(common),
        changes_(changes),
        changed_schema_(changed),
        index_(index),
        ours_(common.schema.variables[index]),
        changed_(changed.variables[index]) {}

  [[nodiscard]] Result<> check() const {
    const Processing& processing = common_.processing;
    if (!(model::fill_of(changed_) == model::fill_of(ours_))) return refuse("_FillValue", same_for_all());
    const bool computed = processing.has_stages(index_);
    if (computed && !(model::missing_values(changed_) == model::missing_values(ours_)))
      return refuse("missing_value", same_for_all());
    for (const std::string_view attribute : fixed_attributes())
      if (differs(attribute)) return refuse(attribute, same_for_all());
    if (is_packed() || is_rounded())
      for (const auto* const all : {&ours_.attributes, &changed_.attributes})
        for (const Attribute& it : *all)
          if (pipeline::describes_quantization(it.name) && differs(it.name))
            return refuse(it.name,
                          "Afterbay sets it, because it rounds or packs the values; remove the change");
    return check_accuracy();
  }

 private:
  [[nodiscard]] bool is_packed() const { return common_.processing.packing(index_) != nullptr; }
  [[nodiscard]] bool is_rounded() const {
    return common_.processing.has_stages(index_) && pipeline::rounds(common_.processing.stages[index_]);
  }
  [[nodiscard]] bool differs(std::string_view attribute) const {
    return !(values_of(changed_, attribute) == values_of(ours_, attribute));
  }

  /// Attributes by which values are packed and rounded in `put` and in the servers, for all files.
  [[nodiscard]] std::vector<std::string_view> fixed_attributes() const {
    std::vector<std::string_view> fixed;
    const auto add = [&fixed](const auto& names) { fixed.insert(fixed.end(), names.begin(), names.end()); };
    if (is_packed() || is_rounded()) add(std::span(limit_attributes));
    // Readers compute other values from those whose errors are bounded.
    if (is_packed() || (is_rounded() && pipeline::states_accuracy(common_.processing.stages[index_])))
      add(std::span(scaling_attributes));
    if (is_packed()) fixed.emplace_back("missing_value");
    return fixed;
  }

  /// Attributes say how messages pack values, but the settings how accurately.
  [[nodiscard]] Result<> check_accuracy() const {
    auto kept = common_.processing.check_accuracy(changed_schema_, index_, common_.format);
    if (kept) return {};
    return refuse(which_breaks_accuracy(),
                  fmt::format("its values keep the accuracy that the settings state; remove the change, or "
                              "correct it: {}",
                              kept.error().message));
  }

  /// The attribute whose change alone would be refused, or all that change the variable.
  [[nodiscard]] std::string which_breaks_accuracy() const {
    std::string all;
    for (const auto& it : changes_.attributes) {
      if (!it.variable.empty() && it.variable != ours_.name) continue;
      SchemaChanges alone;
      alone.attributes.push_back(it);
      const auto changed = model::apply(common_.schema, alone);
      if (changed && !common_.processing.check_accuracy(*changed, index_, common_.format))
        return it.attribute.name;
      all += (all.empty() ? "" : ", ") + it.attribute.name;
    }
    return all;
  }

  [[nodiscard]] std::string same_for_all() const {
    return fmt::format(
        "all files of collection '{}' have the same one; give it in the schema of the collection",
        common_.collection);
  }
  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view attribute, const std::string& why) const {
    return fail(make_error(ErrorCode::conflict, "a file cannot have its own {} for variable '{}': {}",
                           attribute, ours_.name, why)
                    .in_variable(ours_.name));
  }

  const CommonToFiles& common_;
  const SchemaChanges& changes_;
  const Schema& changed_schema_;
  std::uint32_t index_;
  const Variable& ours_;
  const Variable& changed_;
};

}  // namespace

Result<> check_changes(const CommonToFiles& common, const SchemaChanges& changes) {
  AFTERBAY_TRY_ASSIGN(const Schema changed, model::apply(common.schema, changes));
  AFTERBAY_TRY(model::validate(changed, common.format));
  for (std::uint32_t v = 0; v < changed.variables.size(); ++v)
    if (common.is_put(v)) {
      AFTERBAY_TRY(ChangedVariable(common, changes, changed, v).check());
    }
  return {};
}

}  // namespace afterbay::client
