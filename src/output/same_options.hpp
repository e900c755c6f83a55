// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "afterbay/output.hpp"
#include "output/model_time.hpp"

namespace afterbay::output {

/// Collective over the model ranks; waits, at most for the session's deadline. Throws conflict, on
/// all ranks, if ranks give the output another time, member or state: their records would belong to
/// different periods and files.
void check_same_options(Session& session, const ModelTime& time, const OutputOptions& options);

}  // namespace afterbay::output
