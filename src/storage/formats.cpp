// SPDX-License-Identifier: Apache-2.0
// Joins the traits of all formats in one table. These files form the target afterbay_formats, which
// lies below model: they contain data, and include only headers of model that need no more.
#include <array>
#include <cstddef>

#include "model/format.hpp"
#include "model/message_accuracy.hpp"

namespace afterbay {

namespace storage {
namespace grib2 {
extern const MessageAccuracy message_accuracy;  // definition_packing.cpp
}
namespace pp {
extern const MessageAccuracy message_accuracy;  // definition_pp.cpp
}
namespace fieldsfile {
extern const MessageAccuracy message_accuracy;  // definition_fieldsfile.cpp
}
}  // namespace storage

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
  switch (format) {
    case Format::grib2: return &storage::grib2::message_accuracy;
    case Format::pp: return &storage::pp::message_accuracy;
    case Format::fieldsfile: return &storage::fieldsfile::message_accuracy;
    default: return nullptr;
  }
}

}  // namespace afterbay
