// SPDX-License-Identifier: Apache-2.0
// The choice of filters for collections with `compress: auto`, from what all servers measured.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/trial.hpp"
#include "observe/records.hpp"

namespace afterbay::session {

struct CodecChoice {
  std::string collection;
  std::optional<codec::FilterLevels> filters;  ///< nullopt: nothing could be chosen
  std::string why;                             ///< reason for the choice, or for its absence
  std::string table;                           ///< table of the chains that were tried; empty: none
  std::vector<codec::Trial> trials;
};

/// One per collection that was measured. A pure function.
std::vector<CodecChoice> choose_codecs(std::span<const observe::ServerHistory> servers);

/// The configuration with the choice, and its reasons as comments. There must be a choice.
std::string yaml_of(const CodecChoice& choice);

/// For the report: gives each collection its choice, and writes the files of those that were
/// chosen. Returns a line for each file that was written; `warnings`: for those that could not be.
std::vector<std::string> keep_choices(std::vector<observe::CollectionRecord>& collections,
                                      std::span<const observe::ServerHistory> servers,
                                      std::vector<std::string>& warnings);

}  // namespace afterbay::session
