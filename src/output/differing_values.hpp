// SPDX-License-Identifier: Apache-2.0
// Coordinates of a file that a run continues, compared with those that the run would write.
#pragma once

#include <string>
#include <vector>

#include "afterbay/input.hpp"
#include "afterbay/session.hpp"
#include "client/collection.hpp"
#include "output/file_schema.hpp"

namespace afterbay::output {

/// A sentence for each coordinate whose values differ. The schema of the file does not differ from
/// that of the collection. Collective over the model ranks; all get the same answer. Throws Failure
/// on all ranks if one of them cannot read the file.
///
/// Constants of the schema must be equal; each is read by one rank. Each rank reads its own part of
/// the `distributed` coordinates, and compares it up to rounding: ranks compute them.
/// They are not compared on maps on which points may be listed several times: ranks may give a
/// point several values, of which the file has one; nor if settings round, convert or pack them,
/// because the file then has other values.
std::vector<std::string> differing_values(Session& session, InputFile& file,
                                          const client::Collection& collection,
                                          const std::vector<DistributedCoordinate>& distributed);

}  // namespace afterbay::output
