// SPDX-License-Identifier: Apache-2.0
// Reads a text file that a user names: a configuration, an output description.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace afterbay {

/// The contents of a regular file, or of a path below /dev that the user chose (/dev/null,
/// /dev/stdin, `<(command)` of a shell). Other pipes and devices are refused: a pipe without a
/// writer would block. Fails with io, or with format if there are more than `most_bytes`: "this is
/// not `what`", for example "an output description".
Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes, std::string_view what);

}  // namespace afterbay
