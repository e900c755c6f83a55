// SPDX-License-Identifier: Apache-2.0
// Reads, checks and resolves output descriptions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "describe/description.hpp"

namespace afterbay::describe {

struct ReadOptions {
  /// Values of ${NAME}; they take precedence over the environment.
  std::map<std::string, std::string> variables;
  /// Unset: the environment of this process.
  std::optional<std::map<std::string, std::string>> environment;
  /// The model's calendar, for dates and for whether periods are multiples of each other. Unset:
  /// not known yet; what depends on it is not checked.
  std::optional<Calendar> calendar = Calendar();
  /// The model's time step, if it is known: periods are then compared with it.
  std::optional<Period> step;
};

/// The description in these files and those that they include. All problems of all files are
/// reported together, one per line, as FILE:LINE:COLUMN and what to do. Pure apart from reading
/// files.
Result<Description> read_files(const std::vector<std::string>& paths, const ReadOptions& options);

/// The same for these files and a text that the program gives, joined as files are. Includes of the
/// text are relative to the working directory. Empty: no text.
Result<Description> read_files_and_text(const std::vector<std::string>& paths, const std::string& text,
                                        const ReadOptions& options);

/// The same for a text that is not in a file; `name` stands for it in messages. Includes are
/// relative to the working directory.
Result<Description> read_text(const std::string& text, const std::string& name, const ReadOptions& options);

}  // namespace afterbay::describe
