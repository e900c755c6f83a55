// SPDX-License-Identifier: Apache-2.0
#include "client/processing.hpp"

#include <utility>

#include "pipeline/message_accuracy.hpp"
#include "pipeline/pack.hpp"

namespace afterbay::client {

Result<> Processing::take_settings(Schema& schema, Format format,
                                   const std::vector<std::optional<model::PackedValues>>& packed,
                                   const config::CollectionSettings& settings) {
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    Variable& variable = schema.variables[v];
    pipeline::Settings own = settings.settings_for(variable.name).stages;
    std::optional<model::PackedValues> packing;
    pipeline::Settings before;
    if (v < packed.size() && packed[v]) {
      packing = packed[v];
      own.clear();  // packing has used them
    } else {
      AFTERBAY_TRY_ASSIGN(packing, pipeline::pack(variable, own, format));
      before = own;
      AFTERBAY_TRY(pipeline::leave_accuracy_to_messages(schema, variable, own, format));
    }
    stages.push_back(std::move(own));
    before_messages.push_back(std::move(before));
    packings.push_back(std::move(packing));
  }
  if (std::ranges::all_of(stages, &pipeline::Settings::empty)) stages.clear();
  return {};
}

Result<> Processing::check_accuracy(const Schema& changed, std::uint32_t variable, Format format) const {
  if (variable >= before_messages.size() || before_messages[variable].empty()) return {};
  const Variable& given = changed.variables[variable];
  Variable packed = given;
  pipeline::Settings left = before_messages[variable];
  AFTERBAY_TRY(pipeline::leave_accuracy_to_messages(changed, packed, left, format));
  if (packed == given && left == (stages.empty() ? pipeline::Settings() : stages[variable])) return {};
  return fail(ErrorCode::conflict,
              "variable '{}' would be packed otherwise than in the other files of the collection",
              given.name);
}

void Processing::leave_to_ranks(const Schema& schema, bool changes_servers, Format format,
                                const config::CollectionSettings& settings) {
  std::string& why = why_not_reduced;
  bool leaves_demanded = true;
  reductions.clear();
  why.clear();
  if (asked.empty()) return;
  if (changes_servers)
    why =
        "its files go to different servers in turn: with placement: collection, slab or variable, in one "
        "pool, they do not";
  else if (!traits_of(format).publishes)
    why = "its store writes no files";
  else if (settings.optional.value_or(false) || settings.droppable.value_or(false))
    why = "its files or records may be given up (optional, droppable), also those that save states";
  // Saved states are files of the collection, whose values must be kept as they are.
  const auto why_not = [&](const AskedReduction& it) {
    if (has_stages(it.what.variable)) return "pass stages (multiply, add, rounding)";
    return packing(it.what.variable) != nullptr ? "are packed as integers" : "";
  };
  if (why.empty()) leaves_demanded = false;
  for (const AskedReduction& it : asked) {
    const std::string own = why_not(it);
    if (own.empty() || leaves_demanded) continue;
    why = fmt::format("values of variable '{}' {}", schema.variables[it.what.variable].name, own);
    leaves_demanded = it.is_demanded;
  }
  has_undemanded = why.empty();
  for (const AskedReduction& it : asked)
    if (!leaves_demanded && (it.is_demanded || has_undemanded)) reductions.push_back(it.what);
}

}  // namespace afterbay::client
