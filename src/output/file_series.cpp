// SPDX-License-Identifier: Apache-2.0
#include "output/file_series.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/default_arithmetic.hpp"
#include "model/convert/kernels.hpp"
#include "model/converted_values.hpp"
#include "model/fill_value.hpp"
#include "model/format.hpp"
#include "model/format_traits.hpp"
#include "output/appending.hpp"
#include "output/archive_chunks.hpp"
#include "output/numbers.hpp"
#include "output/refuse.hpp"
#include "statistics/sums.hpp"
#include "statistics/widening.hpp"

namespace afterbay::output {

namespace {

TimeUnits units_of(const describe::File& file, const ModelTime& time) {
  if (file.time.units.empty()) return {time.calendar, "days", time.reference};
  try {
    return {time.calendar, file.time.units};
  } catch (const Failure& failure) {
    refuse_at(file.at, failure.code(), "time_units of the file '{}': {}", file.name, failure.error().message);
  }
}

/// The error with the place of the variable that it names, or of the file.
Error placed(const describe::File& file, Error error) {
  const auto variable = std::ranges::find(file.variables, error.variable, &describe::Variable::name);
  const describe::Position& at = variable == file.variables.end() ? file.at : variable->at;
  if (!error.message.starts_with(at.file)) error.message = at.text() + ": " + error.message;
  return error;
}

/// What can be done about a file that differs from what is written, for errors. `existing`: of the
/// run; none if it resumes.
const char* otherwise(const std::optional<Existing>& existing) {
  return existing ? "choose another name, or write \"existing: replace\""
                  : "or change it when the file has ended";
}

/// What the record covers that ends at `end`; with a cycle, its record for a part of the cycle.
/// `schedule`: null if there are only instants.
Cycle::Span span_of(const Schedule* schedule, const std::optional<Cycle>& cycle, std::size_t part,
                    const Date& end) {
  if (cycle) return cycle->span(part, schedule->begin(), end);
  const Interval covered{schedule == nullptr ? end : schedule->begin(), end};
  return {covered, covered};
}

double stamp_of(const describe::File& file, const TimeUnits& units, const Cycle::Span& span) {
  const double begin = units.number(span.stamped.begin);
  const double end = units.number(span.stamped.end);
  if (file.time.stamp == describe::Stamp::start) return begin;
  if (file.time.stamp == describe::Stamp::centre) return begin + (end - begin) / 2;
  return end;
}

}  // namespace

FileSeries::FileSeries(const describe::Description& description, const describe::File& file,
                       const ModelTime& time, const Schedule* schedule, std::optional<std::int64_t> member,
                       TakenPaths& taken)
    : file_(&file),
      time_(&time),
      schedule_(schedule),
      units_(units_of(file, time)),
      names_(description, file, time, member),
      taken_(&taken) {}

std::size_t FileSeries::add(FileVariable variable) {
  records_.of_periods = records_.of_periods || variable.kind == TimeKind::period;
  records_.of_instants = records_.of_instants || variable.kind == TimeKind::instant;
  variables_.push_back(std::move(variable));
  once_.emplace_back();
  return variables_.size() - 1;
}

void FileSeries::define(Targets& targets, const FieldDefinitions& definitions, Spaces& spaces, bool resumes,
                        const std::vector<ServerReduction>& reductions) {
  FileSchema made = file_schema(*file_, variables_, definitions, spaces, *time_, units_);
  distributed_ = std::move(made.distributed);
  const TargetSettings settings = targets.settings(file_->name);
  if (file_->cmip) {
    const auto& store = settings.store;
    if (store && !traits_of(*store).chunks)
      refuse_at(
          file_->at, ErrorCode::conflict,
          "the file \"{}\" has cmip: on, which asks for chunks, and the store {}, which has none: write "
          "store: netcdf4",
          file_->name, name_of(*store));
    set_archive_chunks(
        made.schema,
        schedule_ == nullptr ? std::nullopt : most_records(*file_, *time_, *schedule_, records_per_period()),
        settings.block_bytes);
  }
  CollectionOptions options;
  names_.set_store(settings.store.value_or(format_of(options.store.name()).value()),
                   settings.all.directory.value_or(""));
  // What the description says of files lies in the settings of the session, except this: a run that
  // resumes must not replace what it continues.
  if (resumes)
    options.existing = Existing::append;
  else if (file_->settings.existing)
    options.existing = *file_->settings.existing;
  const auto& given = settings.existing;
  resumes_ = resumes && !given;
  const Existing existing = given.value_or(file_->settings.existing.value_or(Existing::refuse));
  if (!resumes) existing_ = existing;
  appends_ = existing == Existing::append && records_.any() && traits_of(names_.store()).publishes;
  try {
    target_ = targets.define(file_->name, made.schema, options, reductions);
    samples_.define(*target_, variables_);
  } catch (const Failure& failure) {
    throw Failure(placed(*file_, failure.error()));
  }
}

void FileSeries::take_path() {
  const std::string path = target_->path(FileName{.name = state_.path});
  const TakenPaths::Owner own{file_, state_.part};
  if (const auto owner = taken_->owner(path)) refuse_path(path, own, *owner);
  taken_->take(path, own);
}

void FileSeries::refuse_path(const std::string& path, const TakenPaths::Owner& own,
                             const TakenPaths::Owner& other) const {
  const char* const what_to_do =
      other.file == file_     ? "give {start} a finer format in the key name, or add {part}"
      : other.file == nullptr ? "give files and states different names"
                              : "add {file} to the key name, or choose another directory";
  refuse_at(file_->at, ErrorCode::conflict, "{} would have the name \"{}\", which {} has: {}", own.text(),
            path, other.text(), what_to_do);
}

void FileSeries::check_paths(TakenPaths& known) const {
  constexpr std::int64_t parts = 40;
  for (const PartNames::Part& part : names_.first(parts)) {
    const std::string path = target_->path(FileName{.name = names_.of(part)});
    const TakenPaths::Owner own{file_, part.number};
    // Whether the run is long enough for two parts of one name is not known.
    if (const auto owner = known.owner(path); owner && owner->file != file_) refuse_path(path, own, *owner);
    known.take(path, own);
  }
  check_second_part();
}

void FileSeries::check_second_part() const {
  // Runs may end before the second one of longer parts.
  if (names_.are_known() || !records_.any() || file_->timing.partial == describe::Partial::skip ||
      static_cast<std::uint64_t>(file_->naming.split.records) != records_per_period())
    return;
  const PartNames::Part first = names_.first(1).front();
  const Date begin = time_->calendar.interval(first.begin, schedule_->every(), schedule_->alignment()).end;
  const std::string name = names_.of({first.number + 1, begin, {}});
  if (name == names_.of(first)) names_.refuse_same_name(name);
}

std::int64_t FileSeries::earlier_files() const {
  if (!existing_ || *existing_ == Existing::replace || !traits_of(names_.store()).publishes) return 0;
  PartNames::Part part = names_.first(1).front();
  const auto is_there = [&] {
    std::error_code error;
    return std::filesystem::exists(target_->path(FileName{.name = names_.of(part)}), error);
  };
  std::int64_t count = 0;
  while (is_there()) {
    ++count;
    if (!names_.are_counted()) break;
    ++part.number;
  }
  return count;
}

std::optional<Error> FileSeries::refusal_of_writer(std::int64_t earlier) const {
  if (earlier == 0 || !appends_) return std::nullopt;
  return taken_->refusal(*file_, target_->path(FileName{.name = names_.of(names_.last(earlier))}));
}

void FileSeries::begin_after(std::int64_t earlier) {
  if (earlier == 0) return;
  if (existing_ != Existing::append) {
    const std::string path = target_->path(FileName{.name = names_.of(names_.first(1).front())});
    refuse_at(file_->at, ErrorCode::exists,
              "the file '{}' is to be written to {}, which exists already: remove it, choose another name, "
              "write \"existing: replace\", or resume from the saved state of the run that wrote it",
              file_->name, path);
  }
  const PartNames::Part part = names_.last(earlier);
  const std::string path = target_->path(FileName{.name = names_.of(part)});
  if (traits_of(names_.store()).magic.empty())
    refuse_at(file_->at, ErrorCode::conflict,
              "the file '{}' appends to {}, which exists, but nothing can be appended to {} files: choose "
              "another name, or write \"existing: replace\"",
              file_->name, path, traits_of(names_.store()).title);
  if (!records_.any()) return;
  const FoundRecords found = target_->found(path, records_per_period());
  const bool is_full = (names_.are_counted() || names_.begin_with_records()) &&
                       found.records >= static_cast<std::uint64_t>(file_->naming.split.records);
  const Interval first = time_->calendar.interval(time_->start, schedule_->every(), schedule_->alignment());
  const describe::Timing& timing = file_->timing;
  Date begin = time_->start;
  const bool is_skipped = timing.partial == describe::Partial::skip && first.begin < begin;
  // Whether the run makes a record of its start is known in its first step: open_part.
  if (!records_.of_periods || is_skipped) begin = first.end;
  FoundRecords last = found;
  if (is_full) last.records = 0;  // the next part gets the records
  if (const auto refused =
          refusal_to_append({*file_, *time_, units_, names_, records_.of_periods}, path, last, part, begin))
    throw Failure(*refused);
  state_.part = part.number;
  state_.record_end = time_->start;
  if (is_full) return;
  first_values_ = texts_kept(*file_, path, target_->compared(path, distributed_), otherwise(existing_));
  // A state that is saved before the first record says where the records of this run begin.
  state_.path = names_.of(part);
  state_.records = found.records;
  state_.part_begin = part.begin;
  state_.part_end = part.end;
  names_.begin(part, state_.path);
  take_path();
  is_continued_ = true;
}

/// Only the first rank knows of other sessions. If nothing is appended, the others need not wait
/// for it.
SchemaChanges FileSeries::texts_to_keep(const std::string& path) const {
  if (!appends_) {
    taken_->check_writer(*file_, path);
    return {};
  }
  const bool is_there = target_->is_there(path, [&] { return taken_->refusal(*file_, path); });
  return is_there ? texts_of_found(*file_, *target_, distributed_, path, otherwise(existing_))
                  : SchemaChanges();
}

bool FileSeries::is_in_open_part(const Date& end) const {
  if (!open_) return false;
  const describe::Split& split = file_->naming.split;
  if (split.period) return end <= state_.part_end;
  return split.records == 0 || begun_.record || state_.records < static_cast<std::uint64_t>(split.records);
}

void FileSeries::open_part(const Date& end) {
  close();
  if (!std::exchange(is_continued_, false) || (names_.clock() && end > state_.part_end)) {
    const FileState earlier = std::exchange(state_, {});
    const Date begin = earlier.part == 0 ? time_->start : earlier.record_end;
    PartNames::Part part{earlier.part + 1, names_.begin_with_records() ? end : begin, {}};
    if (names_.clock()) part = names_.until(end);
    state_.part = part.number;
    state_.part_begin = part.begin;
    state_.part_end = part.end;
    state_.path = names_.of(part);
    names_.begin(part, state_.path);
    take_path();
    const FileName name{.name = state_.path, .replace = resumes_ && !appends_};
    open_ = target_->open(name, texts_to_keep(target_->path(name)));
    if (appends_ && open_->records() > 0) go_on_after_found(end);
  } else {
    taken_->check_writer(*file_, target_->path(FileName{.name = state_.path}));
    open_ = target_->open(FileName{.name = state_.path}, std::exchange(first_values_, {}));
    found_ = open_->records();
    if (found_ < state_.records)
      throw Failure(
          make_error(ErrorCode::conflict,
                     "the saved state continues this file after record {}, but it has only {}: it is not the "
                     "file of that run, or was not recovered; see afterbay recover",
                     state_.records, found_)
              .in_file(open_->path()));
    if (existing_ && appends_) go_on_after_found(end);
  }
  for (const DistributedCoordinate& coordinate : distributed_)
    open_->put(coordinate.name, no_record, coordinate.values.bytes.data(), coordinate.values.type, {});
  for (std::size_t v = 0; v < once_.size(); ++v) {
    once_[v].written = false;
    if (once_[v].kept) put_once(v);
  }
}

/// Reads the open file, which has records: those of this run come after them. What follows the
/// state of a run that resumes is written again: these records are not before the one that ends at
/// `end`.
void FileSeries::go_on_after_found(const Date& end) {
  const FoundRecords found = target_->found(open_->path(), records_per_period());
  if (!existing_) {
    // A record of a part of the period may have another time in it.
    const double begin = units_.number(records_.of_periods ? schedule_->begin() : end);
    const bool may_end_there = records_.of_periods && file_->time.stamp != describe::Stamp::start;
    const double rounding = rounding_of_times(*time_, units_);
    const double before = begin + (may_end_there ? rounding : -rounding);
    state_.records = static_cast<std::uint64_t>(
        std::ranges::count_if(found.times, [&](double time) { return time < before; }));
    found_ = open_->records();
    return;
  }
  const PartNames::Part part{state_.part, state_.part_begin, state_.part_end};
  refused_ = refusal_to_append({*file_, *time_, units_, names_, records_.of_periods}, open_->path(), found,
                               part, records_.of_periods ? schedule_->begin() : end);
  if (refused_) throw Failure(*refused_);
  state_.records = open_->records();
}

/// The time of a record of statistics is that of its period, also if an instant is put first.
void FileSeries::put_time(const Date& end) {
  const std::uint64_t first = state_.records - records_per_period();
  const auto put = [&](const char* name, std::uint64_t record, const double* values) {
    open_->put(name, record, values, Type::float64, {});
  };
  for (std::size_t part = 0; part < records_per_period(); ++part) {
    const Cycle::Span span = span_of(records_.of_periods ? schedule_ : nullptr, cycle_, part, end);
    const double stamp = stamp_of(*file_, units_, span);
    const double bounds[2] = {units_.number(span.covered.begin), units_.number(span.covered.end)};
    put(time_name, first + part, &stamp);
    if (file_->time.bounds) put(cycle_ ? climatology_bounds_name : time_bounds_name, first + part, bounds);
  }
}

/// A record of a period that the run did not finish has no instants, and no time of any.
void FileSeries::put_time_of_instants(const Date& at) {
  if (!records_.of_periods || std::exchange(begun_.time_of_instants, true)) return;
  const double number = units_.number(at);
  open_->put(time_instant_name, state_.records - 1, &number, Type::float64, {});
}

/// The record of values up to `end`: the current one, or a new one.
void FileSeries::begin_record(const Date& end) {
  if (begun_.record && open_) return;
  // A period that the run does not finish has its record where a longer run would have it: a run
  // that resumes from an earlier state replaces it.
  const bool is_cut = records_.of_periods && schedule_->at_end_of_run();
  const Date place = is_cut ? schedule_->period_end() : end;
  if (!is_in_open_part(place)) open_part(place);
  state_.records += records_per_period();
  state_.record_end = end;
  begun_ = {.record = true};
  put_time(end);
}

void FileSeries::write(std::size_t variable, const Value& value, std::size_t part_of_cycle) {
  const FileVariable& it = variables_[variable];
  if (it.kind == TimeKind::once) {
    Once& once = once_[variable];
    once.type = value.form->type;
    const std::size_t bytes = it.space->points * size_of(once.type);
    once.values.assign(value.data, value.data + bytes);
    once.kept = true;
    if (!records_.any() && !open_) return open_part(time_->start);
    if (open_) put_once(variable);
    return;
  }
  samples_.begin_again();
  begin_record(value.end);
  if (it.kind == TimeKind::instant) put_time_of_instants(value.end);
  if (value.in_servers) return open_->put_reduced(it.name, state_.records - 1);
  open_->put(it.name, state_.records - records_per_period() + part_of_cycle, value.data, value.form->type,
             value.layout == nullptr ? MemoryLayout{} : *value.layout);
}

void FileSeries::put_once(std::size_t variable) {
  Once& once = once_[variable];
  if (std::exchange(once.written, true)) return;
  open_->put(variables_[variable].name, no_record, once.values.data(), once.type, {});
}

bool FileSeries::needs_once(std::size_t variable) const { return !state_.complete && !once_[variable].kept; }

void FileSeries::end_step(const Date& now) {
  begun_ = {};
  samples_.end_step();
  if (!open_) return;
  const describe::Split& split = file_->naming.split;
  const bool all_once = std::ranges::all_of(once_, &Once::written);
  const bool ends =
      records_.any() ? (split.period && now >= state_.part_end) ||
                           (split.records > 0 && state_.records >= static_cast<std::uint64_t>(split.records))
                     : all_once;
  if (!ends) return;
  state_.complete = !records_.any();
  close();
  state_.path.clear();
}

std::size_t FileSeries::coordinate_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const DistributedCoordinate& coordinate : distributed_) bytes += coordinate.values.bytes.size();
  return bytes;
}

std::optional<Error> FileSeries::refusal() const {
  if (refused_) return refused_;
  if (!open_ || state_.records >= found_) return std::nullopt;
  return make_error(ErrorCode::conflict,
                    "this file, which the run continues, has {} records of an earlier run, and this run "
                    "ends with record {}: the others would be taken for its results. The file is not "
                    "published; run at least as far as the earlier run",
                    found_, state_.records)
      .in_file(open_->path());
}

void FileSeries::close() {
  if (!open_) return;
  if (auto refused = refusal()) throw Failure(*std::move(refused));
  found_ = 0;
  closed_ = open_->close();
  open_.reset();
  begun_ = {};
}

std::optional<Clock> FileSeries::epochs() const {
  const describe::Timing& timing = file_->timing;
  if (!timing.epochs) return std::nullopt;
  try {
    return Clock(*time_, *timing.epochs, timing.align, "epochs of the file \"" + file_->name + "\"");
  } catch (const Failure& failure) {
    refuse_at(file_->at, failure.code(), "{}", failure.error().message);
  }
}

FileState FileSeries::state() const {
  FileState state = state_;
  state.pattern = names_.pattern();
  state.earlier = names_.earlier();
  return state;
}

void FileSeries::resume(FileState state, bool continues) {
  state_ = std::move(state);
  names_.set_earlier(std::exchange(state_.earlier, {}));
  is_continued_ = continues;
  const bool is_cut = !state_.path.empty() && !continues;  // what follows of the part has another name
  state_.path = continues ? state_.path : std::string();
  // It is not known which files earlier jobs have published under other names.
  resumes_ = resumes_ && state_.pattern == names_.pattern();
  // What the earlier jobs have published stays. What they wrote after the state is written again.
  const std::int64_t published = state_.part - (is_continued_ || is_cut ? 1 : 0);
  for (const PartNames::Part& part : names_.first(published))
    if (part.number <= published)
      taken_->take(target_->path(FileName{.name = names_.of(part)}), {file_, part.number});
  if (!is_continued_) return;
  const std::string path = target_->path(FileName{.name = state_.path});
  taken_->take(path, {file_, state_.part});
  first_values_ = texts_of_found(*file_, *target_, distributed_, path, otherwise(existing_));
}

// ---- VariableWriter

VariableWriter::VariableWriter(Series& of, FileSeries& files, std::size_t variable, const Schedule* schedule,
                               const expression::Linear& units, std::size_t part_of_cycle)
    : of_(&of),
      files_(&files),
      variable_(variable),
      schedule_(schedule),
      units_(units),
      part_of_cycle_(part_of_cycle) {
  const FileVariable& it = files.variables()[variable];
  const Form& form = of.form();
  const Values target = it.fill.empty() ? model::default_fill(it.type) : it.fill;
  // The file marks missing values as the series does.
  const bool same_missing =
      form.missing.empty() || model::converted(form.missing, it.type) == std::optional(target);
  const bool is_integer = it.type != Type::float32 && it.type != Type::float64;
  // Numbers of the model are converted as puts are; statistics round what they compute themselves.
  const bool has_rounded = of.gives_any_form() && !of.gives_values_of_steps();
  const bool converts = !(units == expression::Linear{});
  rounds_ = is_integer && (converts || (of.is_computed() && !has_rounded));
  is_plain_ = !converts && !rounds_ && (same_missing || of.gives_any_form());
  if (is_integer && size_of(it.type) == sizeof(double)) converted_form_.type = it.type;
  if (it.kind == TimeKind::once) files.once(variable).type = is_plain_ ? form.type : converted_form_.type;
  of.add(*this);
}

bool VariableWriter::needs() const {
  const describe::Timing& timing = files_->file().timing;
  switch (variable().kind) {
    case TimeKind::once: return files_->needs_once(variable_);
    case TimeKind::instant:
      if (schedule_->at_end_of_run()) return false;
      if (step_ == 0) return timing.at_start;
      if (!schedule_->ends()) return false;
      // A record that statistics leave out is not made for instants.
      return !files_->records().of_periods || takes_period();
    case TimeKind::period: return schedule_->ends() && takes_period();
  }
  return false;
}

bool VariableWriter::takes_period() const {
  return schedule_->covers_whole() || files_->file().timing.partial == describe::Partial::write;
}

Form VariableWriter::wants(const Form& /*given*/) const {
  const FileVariable& it = variable();
  if (is_plain_) return {it.type, it.fill.empty() ? model::default_fill(it.type) : it.fill};
  return {Type::float64, Values(std::numeric_limits<double>::quiet_NaN())};
}

/// To the units of the file, with the fill value of the file for missing values.
void VariableWriter::convert(const Value& value) {
  const DefaultArithmetic arithmetic;
  const FileVariable& it = variable();
  converted_.resize(it.space->points);
  statistics::Widening(value.form->type, value.form->missing)
      .run(converted_.data(), value.data, converted_.size());
  expression::convert(converted_, units_);
  if (rounds_) statistics::round_to_integers(converted_.data(), converted_.size());
  if (converted_form_.type != Type::float64) return convert_to_integers();
  // Without a fill value nothing is missing, and NaN is a value.
  if (!it.fill.empty()) expression::replace_missing(converted_, numbers_of(it.fill).front());
}

void VariableWriter::convert_to_integers() {
  const FileVariable& it = variable();
  const std::size_t bytes = size_of(it.type);
  integers_.resize(converted_.size() * bytes);
  std::uint64_t out_of_range =
      model::kernel(Type::float64, it.type, false)
          .convert(integers_.data(), reinterpret_cast<const std::byte*>(converted_.data()), converted_.size(),
                   static_cast<std::ptrdiff_t>(bytes), sizeof(double));
  for (std::size_t p = 0; !it.fill.empty() && p < converted_.size(); ++p) {
    if (!std::isnan(converted_[p])) continue;
    std::memcpy(integers_.data() + p * bytes, it.fill.bytes.data(), bytes);
    --out_of_range;
  }
  if (out_of_range > 0)
    refuse(ErrorCode::wrong_type,
           "'{}' of the file \"{}\": {} values do not fit into {}: give the variable another type, or other "
           "units",
           it.name, files_->file().name, out_of_range, name_of(it.type));
}

void VariableWriter::take(std::size_t /*slot*/, const Value& value) {
  Value given = value;
  if (variable().kind == TimeKind::period) {
    given.begin = schedule_->begin();
    given.end = schedule_->now();
  }
  if (is_plain_ || value.in_servers) return files_->write(variable_, given, part_of_cycle_);
  convert(value);
  // Also for the conversion to the type of the file, as in servers.
  const DefaultArithmetic arithmetic;
  given.form = &converted_form_;
  given.data = converted_form_.type == Type::float64 ? reinterpret_cast<const std::byte*>(converted_.data())
                                                     : integers_.data();
  given.layout = nullptr;
  files_->write(variable_, given, part_of_cycle_);
}

}  // namespace afterbay::output
