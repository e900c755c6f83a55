// SPDX-License-Identifier: Apache-2.0
// RunJournal: a server's lines in the journal of its run. If no journal is kept, its functions do
// nothing and succeed. Files in memory are not recorded: only tests use them. Any thread; which
// calls wait for the disk is stated by journal::Recorder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "journal/recorder.hpp"
#include "server/files/output_file.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

class RunJournal {
 public:
  /// Null: no journal is kept.
  explicit RunJournal(std::unique_ptr<journal::Recorder> recorder) : recorder_(std::move(recorder)) {}

  [[nodiscard]] bool is_kept() const noexcept { return recorder_ != nullptr; }
  /// Whether files of the collection are recorded.
  [[nodiscard]] bool records(const ServedCollection& collection) const;
  /// Whether this server records the opening of the file, and that it is given up: not as a member,
  /// because the leader does.
  [[nodiscard]] bool records_opening(const OutputFile& file) const;

  /// The run has output.
  void expect_output() const;
  [[nodiscard]] Result<> begin() const;
  /// `records_opening`: the file is open.
  [[nodiscard]] Result<> opened(const OutputFile& file) const;
  /// Before the first epoch log of an opened file is complete, so that `recover` finds the file in
  /// the journal also after a loss of power.
  [[nodiscard]] Result<> settle() const;
  /// The line of a file that will be published. `triggers`: names of the triggers that will run.
  [[nodiscard]] static journal::FilePublished line_of(const OutputFile& file,
                                                      const storage::Published& published,
                                                      std::vector<std::string> triggers);
  [[nodiscard]] Result<> ready(std::vector<journal::FileReady> files) const;
  [[nodiscard]] Result<> published(std::vector<journal::FilePublished> files) const;
  /// The file will not be published.
  void given_up(const OutputFile& file, std::string why) const;
  [[nodiscard]] Result<> epoch_completed(journal::EpochCompleted line) const;
  void triggered(journal::TriggerRan line) const;
  void warned(std::string text) const;
  void failed(const Error& error) const;
  /// The last line.
  [[nodiscard]] Result<> ended(bool ok) const;

 private:
  const std::unique_ptr<journal::Recorder> recorder_;
};

}  // namespace afterbay::server
