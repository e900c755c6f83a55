// SPDX-License-Identifier: Apache-2.0
// The formats in which a collection can be stored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format_traits.hpp"

/// The registration: one line per format, in the order of messages. The folder of NAME under
/// storage/ defines `formats::NAME_traits` (traits.cpp) and `storage::make_NAME_store()`.
#define AFTERBAY_FORMATS(ROW) \
  ROW(netcdf4)                \
  ROW(cdf5)                   \
  ROW(cdf2)                   \
  ROW(memory)                 \
  ROW(grib2)                  \
  ROW(pp)                     \
  ROW(fieldsfile)

namespace afterbay {

#define AFTERBAY_ROW(NAME) NAME,
enum class Format : std::uint8_t { AFTERBAY_FORMATS(AFTERBAY_ROW) };
#undef AFTERBAY_ROW

/// The format of files if nothing says another: that of `CollectionOptions::store`.
inline constexpr Format default_format = Format::netcdf4;

/// All registered formats.
std::span<const Format> all_formats() noexcept;
/// Whether `format` is registered; a received value may be invalid.
bool is_known(Format format) noexcept;

/// The traits of a registered format.
const FormatTraits& traits_of(Format format) noexcept;

/// Its name, for example "netcdf4"; "unknown" if it is not registered.
std::string_view name_of(Format format) noexcept;
std::optional<Format> format_of(std::string_view name) noexcept;

/// The names of all formats, and of those that publish artifacts.
std::vector<std::string> format_names();
std::vector<std::string> published_format_names();

/// The name of a file of the format: with its first ending, unless it ends with one of any format.
std::string with_ending(std::string name, Format format);

/// For documentation, of the formats that publish artifacts, each once: the endings that
/// `with_ending` appends, and the others that it leaves. As code, such as "`.nc` or `.pp`".
std::string appended_endings();
std::string other_endings();

/// For messages: the formats that publish artifacts and have a capability, in the form "netcdf4 or
/// cdf5".
std::string formats_with(bool (*has)(const FormatTraits&));
std::string formats_that_hold(Type type);

/// "all types but string", or a list.
std::string text_of(TypeSet types);

}  // namespace afterbay
