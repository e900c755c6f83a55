// SPDX-License-Identifier: Apache-2.0
// Joins the traits of all formats in one table. These files form the target afterbay_formats, which
// lies below model: they contain data, and include only headers of model that need no more.
#include <array>
#include <cstddef>

#include "model/format.hpp"
#include "model/message_accuracy.hpp"

namespace afterbay {

namespace formats {
#define AFTERBAY_ROW(NAME) extern const FormatTraits NAME##_traits;
AFTERBAY_FORMATS(AFTERBAY_ROW)
#undef AFTERBAY_ROW
}  // namespace formats

namespace {

#define AFTERBAY_ROW(NAME) Format::NAME,
constexpr std::array formats_in_order{AFTERBAY_FORMATS(AFTERBAY_ROW)};
#undef AFTERBAY_ROW

#define AFTERBAY_ROW(NAME) &formats::NAME##_traits,
constexpr std::array<const FormatTraits*, formats_in_order.size()> rows{AFTERBAY_FORMATS(AFTERBAY_ROW)};
#undef AFTERBAY_ROW

}  // namespace

std::span<const Format> all_formats() noexcept { return formats_in_order; }

const FormatTraits& traits_of(Format format) noexcept { return *rows[static_cast<std::size_t>(format)]; }

const MessageAccuracy* message_accuracy_of(Format format) noexcept {
  const MessageTraits* const messages = traits_of(format).messages;
  return messages == nullptr ? nullptr : messages->accuracy;
}

}  // namespace afterbay
