// SPDX-License-Identifier: Apache-2.0
// Where files are written: the directory of an entry under `files` may have tokens, as names have.
#pragma once

#include <string>

#include "config/config.hpp"
#include "describe/description.hpp"

namespace afterbay::describe {

/// The directory and the names of the files of an entry. Parts of the directory with tokens, and
/// those after them, are the beginning of the names.
struct FilePlace {
  std::string directory;  ///< without tokens; empty: none
  std::string name;       ///< a template: see name_template.hpp
};

FilePlace place_of(const File& file);

/// The settings of the files in a run, whose directory has no tokens.
config::CollectionSettings settings_in_run(const File& file);

}  // namespace afterbay::describe
