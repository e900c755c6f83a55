// SPDX-License-Identifier: Apache-2.0
// Document: the sections of a description, joined from its files, with variables replaced.
// References and inheritance are not resolved yet.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "describe/node.hpp"
#include "describe/problems.hpp"
#include "describe/read.hpp"

namespace afterbay::describe {

struct Document {
  Node case_name;  ///< null: not given
  Node state;      ///< null: not given
  Pairs defaults;
  Pairs fields;
  Pairs grids;
  Pairs groups;
  Pairs files;
};

inline constexpr std::size_t most_included_files = 256;
inline constexpr std::size_t most_include_depth = 16;
inline constexpr std::size_t most_description_bytes = std::size_t{16} << 20;  ///< total over all files

/// Reads the files and all that they include. A file that is included twice is read once.
/// `text`: one that the program gives, which comes first; empty: none.
Document join_files(const std::vector<std::string>& paths, const std::string& text,
                    const ReadOptions& options, Problems& problems);
Document join_text(const std::string& text, const std::string& name, const ReadOptions& options,
                   Problems& problems);

/// Replaces ${NAME} and ${NAME:-fallback} in `text`; $${ stands for ${. Replacements are not
/// searched again. Fails with the name of a variable that has no value and no fallback.
Result<std::string> replace_variables(std::string_view text,
                                      const std::map<std::string, std::string>& variables);

}  // namespace afterbay::describe
