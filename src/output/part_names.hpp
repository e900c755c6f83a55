// SPDX-License-Identifier: Apache-2.0
// PartNames: the names of the files that one entry under `files` makes. TakenPaths: which files of
// a run have which paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "describe/description.hpp"
#include "model/format.hpp"
#include "output/model_time.hpp"
#include "output/other_writers.hpp"
#include "output/schedule.hpp"

namespace afterbay::output {

/// What a run has written or will write, so that none of its files replaces another one, whatever
/// `existing` says. The same on all ranks.
class TakenPaths {
 public:
  struct Owner {
    const describe::File* file = nullptr;  ///< null: a saved state
    std::int64_t part = 0;                 ///< part of the file, from 1
    /// "part 3 of the file 'day'"
    [[nodiscard]] std::string text() const;
  };
  /// Relative paths are those below the working directory; "a/../x" is "x".
  [[nodiscard]] std::optional<Owner> owner(const std::string& path) const;
  void take(const std::string& path, const Owner& owner);
  /// Files of other sessions. Null: this rank does not look for them.
  [[nodiscard]] const OtherWriters* others() const noexcept { return others_ ? &*others_ : nullptr; }
  void set_others(OtherWriters others) { others_ = std::move(others); }
  /// See OtherWriters; nothing on ranks that do not look for them.
  [[nodiscard]] std::optional<Error> refusal(const describe::File& file, const std::string& path) const {
    return others_ ? others_->refusal(file, path) : std::nullopt;
  }
  void check_writer(const describe::File& file, const std::string& path) const {
    if (others_) others_->check(file, path);
  }

 private:
  std::optional<OtherWriters> others_;
  std::unordered_map<std::uint64_t, Owner> owners_;  ///< by digests of paths: there may be many
};

class PartNames {
 public:
  /// All arguments outlive it. Throws, at the place in the description, if the name contains what
  /// is not known, or if parts that follow each other would have one name.
  PartNames(const describe::Description& description, const describe::File& file, const ModelTime& time,
            std::optional<std::int64_t> member);

  /// A file.
  struct Part {
    std::int64_t number = 0;  ///< from 1
    Date begin;
    Date end;  ///< only with `split` by period
  };
  [[nodiscard]] std::string of(const Part& part) const;
  /// The format of the files, after which names end.
  void set_store(Format store, const std::string& directory) {
    store_ = store;
    directory_ = directory;
  }
  [[nodiscard]] Format store() const noexcept { return store_; }
  /// As the settings and the description say; empty: the working directory.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  /// Whether parts are numbered from 1 in their names and have a fixed number of records, so that a
  /// run that appends continues the last one.
  [[nodiscard]] bool are_counted() const noexcept {
    return has_number_ && !has_start_ && !clock_ && file_->naming.split.records > 0;
  }
  /// The template, with what does not depend on the part.
  [[nodiscard]] std::string pattern() const;
  /// The clock of `split` by period; nullopt: no such split.
  [[nodiscard]] std::optional<Clock>& clock() noexcept { return clock_; }
  [[nodiscard]] bool has_clock() const noexcept { return clock_.has_value(); }
  /// The part that contains the record that ends at `end`. Requires a split by period.
  [[nodiscard]] Part until(const Date& end);
  /// Parts from the start of the run, as far as their names are known before it: at most `most`.
  [[nodiscard]] std::vector<Part> first(std::int64_t most) const;

  /// The last one of so many files of earlier runs.
  [[nodiscard]] Part last(std::int64_t earlier) const {
    Part part = first(1).front();
    if (are_counted()) part.number = earlier;
    return part;
  }

  /// What a run that resumes must know of the parts before: digests of their names, if they do not
  /// follow from the description.
  [[nodiscard]] const std::vector<std::uint64_t>& earlier() const noexcept { return earlier_; }
  void set_earlier(std::vector<std::uint64_t> digests) { earlier_ = std::move(digests); }
  /// Remembers the part for `earlier`. Throws conflict if an earlier part had its name.
  void begin(const Part& part, const std::string& name);

  /// Whether all parts have different names because they are numbered, or their names can be
  /// computed.
  [[nodiscard]] bool are_known() const noexcept {
    return clock_.has_value() || has_number_ || !file_->naming.split.any();
  }
  /// Whether a part begins at the time of its first record, as the record of the start does, which
  /// covers no time. Other parts begin where the last record ended.
  [[nodiscard]] bool begin_with_records() const noexcept {
    return file_->timing.at_start && file_->naming.split.records > 0;
  }

  [[noreturn]] void refuse_same_name(const std::string& name) const;

 private:
  void check_neighbours() const;

  const describe::Description* description_;
  const describe::File* file_;
  const ModelTime* time_;
  std::optional<std::int64_t> member_;
  Format store_ = default_format;
  std::string directory_;
  std::optional<Clock> clock_;
  bool has_number_ = false;  ///< {part}
  bool has_start_ = false;   ///< {start}
  std::vector<std::uint64_t> earlier_;
};

}  // namespace afterbay::output
