// SPDX-License-Identifier: Apache-2.0
#include "pipeline/message_accuracy.hpp"

#include <charconv>

#include "model/message_accuracy.hpp"
#include "pipeline/stages.hpp"

namespace afterbay::pipeline {

Result<> leave_accuracy_to_messages(const Schema& schema, Variable& variable, Settings& given,
                                    Format format) {
  const MessageAccuracy* const accuracy = message_accuracy_of(format);
  if (accuracy == nullptr || traits_of(format).messages->slab_dimensions(schema, variable) == 0) return {};
  const auto refused = [&variable](Error error) {
    error.message = fmt::format("variable '{}' {}", variable.name, error.message);
    return fail(std::move(error).in_variable(variable.name));
  };
  const StageSetting* other = nullptr;
  for (const StageSetting& it : stages::quantize().settings)
    if (it.name != "absolute_error" && given.contains(it.name)) other = &it;
  const auto asked = given.find("absolute_error");
  bool packs = accuracy->packs(variable);
  if (asked != given.end() && (packs || other == nullptr)) {
    double largest = 0;
    const std::string& text = asked->second;
    std::from_chars(text.data(), text.data() + text.size(), largest);
    auto kept = accuracy->keep_error(variable, largest);
    if (!kept) return refused(std::move(kept).error());
    if (*kept) given.erase(asked);
    packs = *kept;
  }
  if (!packs || other == nullptr) return {};
  return refused(make_error(ErrorCode::invalid_argument,
                            "is packed by {}, but {} is set for it, whose accuracy packing would not keep: "
                            "set absolute_error alone, which sets how values are packed",
                            traits_of(format).title, other->name));
}

}  // namespace afterbay::pipeline
