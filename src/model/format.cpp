// SPDX-License-Identifier: Apache-2.0
#include "model/format.hpp"

namespace afterbay {

std::string_view name_of(Format format) noexcept {
  switch (format) {
    case Format::netcdf4: return "netcdf4";
    case Format::cdf5: return "cdf5";
    case Format::cdf2: return "cdf2";
    case Format::memory: return "memory";
  }
  return "unknown";
}

std::optional<Format> format_of(std::string_view name) noexcept {
  for (const Format format : {Format::netcdf4, Format::cdf5, Format::cdf2, Format::memory})
    if (name == name_of(format)) return format;
  return std::nullopt;
}

}  // namespace afterbay
