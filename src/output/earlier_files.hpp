// SPDX-License-Identifier: Apache-2.0
// Files of earlier runs: before the first step of a run that does not resume, those that it must
// not touch are refused, and those to which it appends are looked at.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "afterbay/session.hpp"
#include "output/plan.hpp"

namespace afterbay::output {

/// From now on, the first model rank knows which files other sessions write (OtherWriters), such as
/// other components of the job. Comes after the files have been defined. `session` outlives the
/// plan.
void look_for_other_writers(Session& session, Plan& plan);

/// Collective over the model ranks; comes after Session::start and look_for_other_writers. Throws
/// Failure, at the place in the description, on all ranks: exists if a file must not be there,
/// conflict if records of this run would not follow those of the file that it appends to, or if a
/// session that still runs has written it.
void look_at_earlier_files(Session& session, Plan& plan);

/// Collective over the model ranks: whether there is a file, as the first one sees it. `refusal`:
/// called by the first rank; all throw what it returns.
bool is_there(Session& session, const std::string& path,
              const std::function<std::optional<Error>()>& refusal);

}  // namespace afterbay::output
