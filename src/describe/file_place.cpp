// SPDX-License-Identifier: Apache-2.0
#include "describe/file_place.hpp"

namespace afterbay::describe {

FilePlace place_of(const File& file) {
  FilePlace place{file.settings.directory.value_or(""), file.naming.name};
  const std::size_t brace = place.directory.find_first_of("{}");
  if (brace == std::string::npos) return place;
  // The directory does not matter for absolute names.
  const std::size_t slash = place.directory.rfind('/', brace);
  const std::size_t first = slash == std::string::npos ? 0 : slash + 1;
  if (!place.name.starts_with('/')) {
    const std::string begin = place.directory.substr(first);
    place.name = begin + (begin.ends_with('/') ? "" : "/") + place.name;
  }
  place.directory.resize(first > 1 ? first - 1 : first);
  return place;
}

config::CollectionSettings settings_in_run(const File& file) {
  config::CollectionSettings settings = file.settings;
  const std::string directory = place_of(file).directory;
  settings.directory.reset();
  if (!directory.empty()) settings.directory = directory;
  return settings;
}

}  // namespace afterbay::describe
