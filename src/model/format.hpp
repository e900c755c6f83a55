// SPDX-License-Identifier: Apache-2.0
// The formats that a collection may be stored in, and what each can hold.
#pragma once

#include <optional>
#include <string_view>

namespace afterbay {

enum class Format { netcdf4, cdf5, cdf2, memory };

/// "netcdf4", "cdf5", "cdf2", "memory".
std::string_view name_of(Format format) noexcept;
std::optional<Format> format_of(std::string_view name) noexcept;

/// Classic formats are big-endian and laid out by arithmetic; the others are little-endian.
constexpr bool is_classic(Format format) noexcept { return format == Format::cdf5 || format == Format::cdf2; }

}  // namespace afterbay
