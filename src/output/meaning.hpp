// SPDX-License-Identifier: Apache-2.0
// Meaning: what the records of a file are, in texts that a run that resumes compares with those of
// the jobs before, so that no file has records of two kinds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "output/file_series.hpp"

namespace afterbay::output {

/// Names and texts: ("every", "1d by calendar"), ("the values of 'tas'", "mean of tas"). Long texts
/// are digests.
using Meaning = std::vector<std::pair<std::string, std::string>>;

/// What cannot change within a run: periods, times, parts, and for each variable its values,
/// points, type, conversions and stages. Without what only says how files are stored.
Meaning meaning_of(const FileSeries& files);

/// What only a file that has begun cannot change: how and where it is stored.
Meaning storing_of(const FileSeries& files);

/// Whether a state may be saved while a file is open to which nothing can be appended.
bool may_be_cut(const FileSeries& files);

/// Throws conflict, at the place in the description, if a file that is continued would be stored in
/// another way. A file of a format to which nothing can be appended is not continued: what follows
/// must get another name. Returns whether the file is continued. `open`: its state; `saved`: empty
/// in states of earlier versions; `path`: of the saved state.
bool check_storing(const Meaning& saved, const FileState& open, const FileSeries& files,
                   const std::string& path);

/// Throws conflict, at the place in the description, if this is not what the earlier jobs wrote.
/// `path`: of the saved state.
void check_meaning(const Meaning& saved, const FileSeries& files, const std::string& path);

}  // namespace afterbay::output
