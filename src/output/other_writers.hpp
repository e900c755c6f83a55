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
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "describe/description.hpp"

namespace afterbay::output {

/// Sessions know nothing of each other: the times of files and the journal tell. On the first model
/// rank, which looks for all.
class OtherWriters {
 public:
  /// `session`: name of this one. `journal`: its directory, which components may share; empty:
  /// there is none.
  OtherWriters(std::string session, std::string journal, Logger logger)
      : session_(std::move(session)), journal_(std::move(journal)), logger_(std::move(logger)) {}

  /// Notes the time of the file system on which the file will lie: a file that gets a name there
  /// later is of this run or of another session that runs. Creates a file without a name.
  void watch(const std::string& path);
  struct Wanted {
    const describe::File* file = nullptr;
    std::string path;
  };
  /// Before the first step: the refusal to write one of the files, which a session that still runs
  /// has published. Reads the journal, if one of them exists. Waits for signs of life of sessions
  /// on other nodes, if they seem to be the writers (OwnerFile::usual_patience).
  [[nodiscard]] std::optional<Error> living_writer(const std::vector<Wanted>& files) const;
  /// The session that has given the file its name since this one looked first (`watch`). Empty:
  /// a program or session that the journal does not name. Nullopt: nobody.
  [[nodiscard]] std::optional<std::string> later_writer(const std::string& path) const;
  /// Before a file is opened for output. Throws (conflict), at the place in the description, if
  /// another session has written it since `watch`; warns if it is not known who has.
  void check(const describe::File& file, const std::string& path) const;
  [[nodiscard]] const Logger& logger() const noexcept { return logger_; }

 private:
  /// Nanoseconds by the clock of a file system, by its number.
  std::map<std::uint64_t, std::int64_t> since_;
  std::string session_;
  std::string journal_;
  Logger logger_;
};

}  // namespace afterbay::output
