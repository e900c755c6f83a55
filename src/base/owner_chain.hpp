// SPDX-License-Identifier: Apache-2.0
// The files of OwnerFile: one names an owner, and the owners of one file follow each other in a chain of
// names. See design/0019-owners-without-locks.md.
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
  std::string token;  ///< of the claim
  OwnerIdentity owner;
  std::uint64_t number = 0;  ///< of the claim's files: it made sure so often that it still was the last
  bool complete = true;      ///< false: being made, by somebody who is not known yet
};

std::string new_owner_token();
/// The contents of the file.
std::string owner_text(const OwnerIdentity& owner, const std::string& token);

/// The name of the file that follows this one in the chain of `name`.
std::string owner_successor(const std::string& name, const OwnerLink& link);
/// From the first owner to the last; empty: nobody owns it. Fails with format if one of the files is somebody
/// else's.
Result<std::vector<OwnerLink>> owner_chain(const std::string& name);

/// Makes the file `path`, unless that name is taken: 0, or errno; EEXIST: it is. Nobody sees half of it,
/// except on file systems with neither links nor renames that replace nothing. `temporary`: a name that
/// nobody else uses.
int make_owner_link(const std::string& path, const std::string& text, const std::string& temporary);
/// The same by a further name of the file `of`, which has that text, if the file system has links.
int repeat_owner_link(const std::string& path, const std::string& of, const std::string& text,
                      const std::string& temporary);

/// Removes what killed processes of this machine left in the directory, and no chain leads to.
void remove_lost_owner_links(const std::string& directory);

}  // namespace afterbay
