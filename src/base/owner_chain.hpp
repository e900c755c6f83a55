// SPDX-License-Identifier: Apache-2.0
// The files behind OwnerFile: each names an owner, and the owners of one file follow each other in
// a chain of names. See design/0019-owners-without-locks.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/owner_process.hpp"
#include "base/result.hpp"

namespace afterbay {

/// One file of the chain.
struct OwnerLink {
  std::string path;
  std::string token;  ///< token of the claim
  OwnerIdentity owner;
  std::uint64_t number = 0;  ///< position in the claim's files: how often it confirmed that it was
                             ///< still the last
  bool complete = true;      ///< false: still being created, by an owner that is not known yet
};

std::string new_owner_token();
/// The contents of the file.
std::string owner_text(const OwnerIdentity& owner, const std::string& token);

/// The name of the file that follows this one in the chain of `name`.
std::string owner_successor(const std::string& name, const OwnerLink& link);
/// The chain from the first owner to the last; empty: no owner. Fails with format if one of the
/// files is not an owner file.
Result<std::vector<OwnerLink>> owner_chain(const std::string& name);

/// Creates the file `path` exclusively. Returns 0 or errno; EEXIST: the name is taken. No other
/// process sees a partial file, except on file systems with neither links nor RENAME_NOREPLACE.
/// `temporary`: a name that no other process uses.
int make_owner_link(const std::string& path, const std::string& text, const std::string& temporary);
/// The same as a hard link to the file `of`, which has that text, if the file system has links.
int repeat_owner_link(const std::string& path, const std::string& of, const std::string& text,
                      const std::string& temporary);

/// Removes files of killed processes of this machine from the directory, unless a chain leads to
/// them.
void remove_lost_owner_links(const std::string& directory);

}  // namespace afterbay
