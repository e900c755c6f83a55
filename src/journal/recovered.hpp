// SPDX-License-Identifier: Apache-2.0
// The lines that `afterbay recover` adds to a journal, for part files of a killed run that were
// restored.
#pragma once

#include <string>

#include "base/result.hpp"
#include "journal/read.hpp"

namespace afterbay::journal {

/// A part file that a run left.
struct LeftFile {
  const Run* run = nullptr;
  const OpenedFile* file = nullptr;
};

/// The run that left the file with that final name, by the file's identity in its epoch log. If the
/// identity in the log or in a run's entry is unknown, the last run that may have created it.
/// Nothing: no run of the journal did.
std::optional<LeftFile> find_left(const Journal& journal, const std::string& path, const FileIdentity& log);

/// Whether `note_recovered` can open its file; changes nothing.
Result<> check_writable(const Journal& journal, const LeftFile& left);

/// Durable: the file is about to get its final name. `ready` needs no data about the file.
Result<> note_ready(const Journal& journal, const LeftFile& left, FileReady ready);
/// Durable: the file has its name, with this number of bytes and records, as of the epoch of that
/// name.
Result<> note_recovered(const Journal& journal, const LeftFile& left, FileRecovered recovered);

}  // namespace afterbay::journal
