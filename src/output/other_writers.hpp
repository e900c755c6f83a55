// SPDX-License-Identifier: Apache-2.0
// OtherWriters: files of other sessions that run at the same time, such as those of another
// component of the job. They are never replaced, whatever `existing` says: it is about files of
// runs that have ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "describe/description.hpp"
#include "journal/publications.hpp"

namespace afterbay::output {

/// Sessions know nothing of each other: the times of files and the journal tell. On the first model
/// rank, which looks for all.
class OtherWriters {
 public:
  /// Ends the session on all ranks with an error that this rank has met, and returns the error.
  using FailForAll = std::function<Error(Error)>;
  /// `session`: name of this one. `journal`: its directory, which components may share; empty:
  /// there is none.
  OtherWriters(std::string session, const std::string& journal, Logger logger, FailForAll fail)
      : session_(std::move(session)),
        published_(journal.empty() ? nullptr : std::make_unique<journal::Publications>(journal)),
        journal_(journal),
        logger_(std::move(logger)),
        fail_(std::move(fail)) {}

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
  /// Before a file is opened for output: the refusal (conflict), at the place in the description,
  /// if another session has written it since `watch`; warns if it is not known who has.
  [[nodiscard]] std::optional<Error> refusal(const describe::File& file, const std::string& path) const;
  /// Throws the refusal, with which the session fails on all ranks: only this one knows.
  void check(const describe::File& file, const std::string& path) const;
  /// The session fails on all ranks with this error.
  [[noreturn]] void refuse(Error error) const { throw Failure(fail_(std::move(error))); }
  [[nodiscard]] const Logger& logger() const noexcept { return logger_; }

 private:
  /// Nanoseconds by the clock of a file system, by its number.
  std::map<std::uint64_t, std::int64_t> since_;
  std::string session_;
  std::unique_ptr<journal::Publications> published_;  ///< null: there is no journal
  std::string journal_;
  Logger logger_;
  FailForAll fail_;
};

}  // namespace afterbay::output
