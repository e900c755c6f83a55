// SPDX-License-Identifier: Apache-2.0
// What `afterbay recover` adds to a journal: files that a killed run left in the making and that came back.
#pragma once

#include <string>

#include "base/result.hpp"
#include "journal/read.hpp"

namespace afterbay::journal {

/// A file that a run left in the making.
struct LeftFile {
  const Run* run = nullptr;
  const OpenedFile* file = nullptr;
};

/// Which run left the file of that final name whose log of epochs says what it is: by the file's identity. If
/// that of the log or of a run's entry is not known, the last run that may have made it. Nothing: no run of
/// the journal did.
std::optional<LeftFile> find_left(const Journal& journal, const std::string& path, const FileIdentity& log);

/// Whether `note_recovered` can open its file; changes nothing.
Result<> check_writable(const Journal& journal, const LeftFile& left);

/// Durable: the file is about to get its final name. `ready` needs no facts of the file.
Result<> note_ready(const Journal& journal, const LeftFile& left, FileReady ready);
/// Durable: the file has its name, with so many bytes and records, as of the epoch of that name.
Result<> note_recovered(const Journal& journal, const LeftFile& left, FileRecovered recovered);

}  // namespace afterbay::journal
