// SPDX-License-Identifier: Apache-2.0
// The manual page afterbay(1), generated from the commands and their options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace afterbay::app {

/// The page in roff, for man(1). `root` is the whole command with its subcommands.
std::string manual_page(const CLI::App& root);

}  // namespace afterbay::app
