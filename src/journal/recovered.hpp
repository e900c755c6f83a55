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

/// Of the last run that did so, by final name; nothing when no run of the journal did.
std::optional<LeftFile> find_left(const Journal& journal, const std::string& path);

/// Whether `note_recovered` can open its file; changes nothing.
Result<> check_writable(const Journal& journal, const LeftFile& left);

/// Durable: the file is about to get its final name. `ready` needs no facts of the file.
Result<> note_ready(const Journal& journal, const LeftFile& left, FileReady ready);
/// Durable: the file has its name, with so many bytes and records, as of the epoch of that name.
Result<> note_recovered(const Journal& journal, const LeftFile& left, FileRecovered recovered);

}  // namespace afterbay::journal
