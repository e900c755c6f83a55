// SPDX-License-Identifier: Apache-2.0
// OtherWriters: files of other sessions that run at the same time, such as those of another
// component of the job. They are never replaced, whatever `existing` says: it is about files of
// runs that have ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "describe/description.hpp"

namespace afterbay::output {

/// Sessions know nothing of each other: the times of files and the journal tell. On the first model
/// rank, which looks for all.
class OtherWriters {
 public:
  /// `session`: name of this one. `journal`: its directory, which components may share; empty:
  /// there is none.
  OtherWriters(std::string session, std::string journal)
      : session_(std::move(session)), journal_(std::move(journal)) {}

  /// Notes the time of the file system on which the file will lie: a file that gets a name there
  /// later is of this run or of another session that runs. Creates a file without a name.
  void watch(const std::string& path);
  /// Before the first step: who has written the file, if that session still runs. Reads the
  /// journal. Nullopt: nobody, or it is not known.
  [[nodiscard]] std::optional<std::string> living_writer(const std::string& path) const;
  /// Who has given the file its name since this session looked first (`watch`): "the session
  /// 'ocean'", or "another session or program". Nullopt: nobody.
  [[nodiscard]] std::optional<std::string> later_writer(const std::string& path) const;
  /// The refusal to write the file, at its place in the description. `writer`: as above.
  [[nodiscard]] Error refusal(const describe::File& file, const std::string& path,
                              const std::string& writer) const;

 private:
  /// Nanoseconds by the clock of a file system, by its number.
  std::map<std::uint64_t, std::int64_t> since_;
  std::string session_;
  std::string journal_;
};

}  // namespace afterbay::output
