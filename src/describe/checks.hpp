// SPDX-License-Identifier: Apache-2.0
// Rules that a resolved description must keep.
#pragma once

#include "describe/description.hpp"
#include "describe/document.hpp"
#include "describe/keys.hpp"

namespace afterbay::describe {

/// Names of states at epochs, and that there are epochs. `node`: what the key `state` has.
void check_state_name(const Description& description, const ProblemReporter& report, const Node& node);

/// Periods that do not fit each other, keys without which others have no meaning, names that files
/// could not have. `properties`: where each key of the file is written.
void check_file(const File& file, const Pairs& properties, const ReadOptions& options,
                const Description& description, Problems& problems);

/// Files that are written must have different names.
void check_file_names(const Description& description, Problems& problems);

/// Derived fields must not depend on themselves.
void check_cycles(const Description& description, Problems& problems);

/// The operations of files whose records follow each other in time.
bool has_records(const File& file);

}  // namespace afterbay::describe
