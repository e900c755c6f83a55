// SPDX-License-Identifier: Apache-2.0
// FileSeries: the files that one entry under `files` makes, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "describe/description.hpp"
#include "expression/units.hpp"
#include "output/field_definitions.hpp"
#include "output/file_schema.hpp"
#include "output/part_names.hpp"
#include "output/sample_records.hpp"
#include "output/schedule.hpp"
#include "output/series.hpp"
#include "output/target.hpp"

namespace afterbay::output {

/// What a run goes on with, of one series of files.
struct FileState {
  std::string path;  ///< path of the open file; empty: none
  std::uint64_t records = 0;
  std::int64_t part = 0;  ///< number of the open or last part, from 1
  Date part_begin;
  Date part_end;                       ///< only with `split` by period
  Date record_end;                     ///< end of the last record
  bool complete = false;               ///< a file without records has been written
  std::string pattern;                 ///< PartNames::pattern
  std::vector<std::uint64_t> earlier;  ///< PartNames::earlier
};

/// One entry under `files`, and its file that is open.
class FileSeries {
 public:
  /// `schedule`: of the file; null if it has no records. Throws, at the place in the description,
  /// if the name cannot be made. `taken`: of the run.
  FileSeries(const describe::Description& description, const describe::File& file, const ModelTime& time,
             const Schedule* schedule, std::optional<std::int64_t> member, TakenPaths& taken);

  /// Returns the number of the variable. All are added before `define`.
  std::size_t add(FileVariable variable);
  /// Defines the files. `resumes`: those of an earlier run may be continued.
  /// `reductions`: servers compute them if they can: see reduces.
  void define(Targets& targets, const FieldDefinitions& definitions, Spaces& spaces, bool resumes,
              const std::vector<ServerReduction>& reductions);
  /// Adds the paths that are known before the first step; throws conflict if another file has one
  /// of them. Comes after `define`.
  void check_paths(TakenPaths& known) const;
  /// How many of its first files there are, of earlier runs; 0 if they do not matter. Without parts
  /// that are counted, it is at most 1.
  [[nodiscard]] std::int64_t earlier_files() const;
  /// On the first rank: why the last one of them must not be appended to (OtherWriters::refusal).
  [[nodiscard]] std::optional<Error> refusal_of_writer(std::int64_t earlier) const;
  /// Refuses these files, or goes on after the last one. On all ranks, before the first step.
  void begin_after(std::int64_t earlier);
  /// Where samples go of what servers compute.
  [[nodiscard]] SampleRecords& samples() noexcept { return samples_; }
  /// Says whether servers compute the reductions of the definition, and writes their states.
  [[nodiscard]] Target& target() const { return *target_; }

  /// Writes this rank's values of the record that ends at `value.end`; with a cycle, of its record
  /// for a part of the cycle. Values of kind `once` are copied, because each part of a file gets
  /// them.
  void write(std::size_t variable, const Value& value, std::size_t part_of_cycle = 0);
  /// Periods are folded: each has a record for each part of the cycle. Call it before `define`.
  void fold(const Cycle& cycle) { cycle_ = cycle; }
  /// The step has ended: closes a part that ends there.
  void end_step(const Date& now);
  /// Throws the refusal, and leaves the file open.
  void close();
  /// Why the open file must not be published: it has records of an earlier run after those of this
  /// one.
  [[nodiscard]] std::optional<Error> refusal() const;
  /// Complete when the last file that was closed is published; number 0: none was.
  [[nodiscard]] Ticket closed() const noexcept { return closed_; }

  /// Null if it has no records.
  [[nodiscard]] const Schedule* schedule() const noexcept { return schedule_; }
  [[nodiscard]] const describe::File& file() const noexcept { return *file_; }
  /// When epochs are marked; nullopt: the model marks them. Throws as Clock does, at the place in
  /// the description.
  [[nodiscard]] std::optional<Clock> epochs() const;
  [[nodiscard]] const std::vector<FileVariable>& variables() const noexcept { return variables_; }
  /// The kinds of records that its files have.
  struct Records {
    bool of_periods = false;
    bool of_instants = false;
    [[nodiscard]] bool any() const noexcept { return of_periods || of_instants; }
  };
  [[nodiscard]] const Records& records() const noexcept { return records_; }
  /// Whether the run must begin with step 0. The state at the start of a run that appends to files
  /// of an earlier one is that at its end, which has a record already. Comes after `begin_after`.
  [[nodiscard]] bool needs_start() const noexcept {
    const bool follows = appends_ && (is_continued_ || state_.part > 0);
    return file_->timing.at_start && records_.any() && !follows;
  }
  /// Whether values of kind `once` are still missing.
  [[nodiscard]] bool needs_once(std::size_t variable) const;
  [[nodiscard]] FileState state() const;
  [[nodiscard]] const PartNames& names() const noexcept { return names_; }
  /// Goes on with the files of an earlier run. `continues`: with the one that was open, too.
  void resume(FileState state, bool continues);

  /// Values of kind `once`, on this rank.
  struct Once {
    std::vector<std::byte> values;
    Type type = Type::float32;
    bool kept = false;
    bool written = false;  ///< into the file that is open
    /// With values that an earlier run has saved.
    void restore(std::vector<std::byte> saved) {
      values = std::move(saved);
      kept = true;
    }
  };
  [[nodiscard]] const Once& once(std::size_t variable) const { return once_[variable]; }
  [[nodiscard]] Once& once(std::size_t variable) { return once_[variable]; }
  /// Size of the coordinates that this rank writes into each file.
  [[nodiscard]] std::size_t coordinate_bytes() const noexcept;

 private:
  /// Throws conflict if another file of the run has the path of the part.
  void take_path();
  /// Refuses a name that the first two parts would have, if they have the records of one period.
  void check_second_part() const;
  [[noreturn]] void refuse_path(const std::string& path, const TakenPaths::Owner& own,
                                const TakenPaths::Owner& other) const;
  /// For a record that ends at `end`.
  void open_part(const Date& end);
  [[nodiscard]] bool is_in_open_part(const Date& end) const;
  void go_on_after_found(const Date& end);
  /// Before a new part is opened, which may exist: the texts that it keeps. Throws conflict if
  /// another session has written it, or if it differs. On all model ranks together, if records are
  /// appended.
  [[nodiscard]] SchemaChanges texts_to_keep(const std::string& path) const;
  void begin_record(const Date& end);
  void put_time(const Date& end);
  void put_time_of_instants(const Date& at);
  [[nodiscard]] std::uint64_t records_per_period() const noexcept { return cycle_ ? cycle_->parts() : 1; }
  void put_once(std::size_t variable);

  const describe::File* file_;
  const ModelTime* time_;
  const Schedule* schedule_;
  TimeUnits units_;
  PartNames names_;
  TakenPaths* taken_;
  std::vector<FileVariable> variables_;
  std::vector<Once> once_;  ///< by variable
  std::vector<DistributedCoordinate> distributed_;
  Records records_;
  std::optional<Cycle> cycle_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<TargetFile> open_;  ///< null: none
  Ticket closed_;
  SchemaChanges first_values_;        ///< attributes that the continued file keeps
  bool is_continued_ = false;         ///< the file that is to be opened exists
  bool resumes_ = false;              ///< new files replace those that an earlier job wrote after its state
  bool appends_ = false;              ///< records come after those of earlier runs
  std::uint64_t found_ = 0;           ///< records of the file that is continued
  std::optional<Existing> existing_;  ///< what happens to files that exist; nullopt: the run resumes
  std::optional<Error> refused_;      ///< why the open file must not be published
  /// What the current step has begun.
  struct Begun {
    bool record = false;
    bool time_of_instants = false;  ///< the record's time of instants
  };
  Begun begun_;
  SampleRecords samples_;
  FileState state_;
};

/// Whether its variables are results of reductions over grids: Space::late.
[[nodiscard]] inline bool is_late(const FileSeries& file) noexcept {
  return !file.variables().empty() && file.variables().front().space->late;
}

/// Puts the values of a series into a variable of a file.
class VariableWriter final : public Consumer {
 public:
  /// `schedule`: of the file; null for `once`. `units`: the conversion of the values.
  VariableWriter(Series& of, FileSeries& files, std::size_t variable, const Schedule* schedule,
                 const expression::Linear& units, std::size_t part_of_cycle = 0);

  [[nodiscard]] bool needs() const override;
  [[nodiscard]] Form wants(const Form& given) const override;
  [[nodiscard]] bool takes_layouts() const override { return is_plain_ && variable().kind != TimeKind::once; }
  void take(std::size_t slot, const Value& value) override;
  /// Size of the buffers for converted values.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept {
    const std::size_t results = converted_form_.type == Type::float64 ? 1 : 2;
    return is_plain_ || is_left_to_servers_ ? 0 : results * variable().space->points * sizeof(double);
  }
  /// Whether this is step 0, whose values only files with `at_start` have.
  void set_step(std::int64_t step) noexcept { step_ = step; }
  [[nodiscard]] const Series& of() const noexcept { return *of_; }
  [[nodiscard]] const FileSeries& files() const noexcept { return *files_; }
  /// Its number in the file.
  [[nodiscard]] std::size_t number() const noexcept { return variable_; }
  /// From now on, servers convert the values.
  void leave_to_servers() noexcept { is_left_to_servers_ = true; }
  /// To the units of the file.
  [[nodiscard]] const expression::Linear& units() const noexcept { return units_; }
  [[nodiscard]] const FileVariable& variable() const { return files_->variables()[variable_]; }
  /// Whether the variable has the values of the series as they are, up to their type.
  [[nodiscard]] bool is_plain() const noexcept { return is_plain_; }

 private:
  /// Whether the period, which ends now, has a record of statistics.
  [[nodiscard]] bool takes_period() const;
  void convert(const Value& value);
  /// Makes 64-bit integers, whose fill values a double cannot hold.
  void convert_to_integers();

  const Series* of_;
  FileSeries* files_;
  std::size_t variable_;
  const Schedule* schedule_;
  expression::Linear units_;
  std::size_t part_of_cycle_ = 0;
  bool is_plain_ = false;  ///< the series has the values that the file has, up to their type
  bool rounds_ = false;    ///< converted values are those of a computation, and the file has integers
  bool is_left_to_servers_ = false;
  std::int64_t step_ = 0;
  Form converted_form_ = {Type::float64, {}};  ///< form of converted values
  std::vector<double> converted_;
  std::vector<std::byte> integers_;  ///< 64-bit integers made from them
};

}  // namespace afterbay::output
