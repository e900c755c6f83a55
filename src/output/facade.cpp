// SPDX-License-Identifier: Apache-2.0
// The public handle Output: steps and puts.
#include "afterbay/output.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/log.hpp"
#include "base/new_file.hpp"
#include "base/suggest.hpp"
#include "base/units.hpp"
#include "model/moves.hpp"
#include "output/earlier_files.hpp"
#include "output/meaning.hpp"
#include "output/model_definitions.hpp"
#include "output/needed_for.hpp"
#include "output/point_grids.hpp"
#include "output/reducers.hpp"
#include "output/refuse.hpp"
#include "output/same_options.hpp"
#include "output/spaces.hpp"
#include "output/state.hpp"
#include "session/state.hpp"

namespace afterbay {

using output::refuse;

namespace {

void check_memory(std::string_view field, const void* data, const MemoryLayout& memory,
                  const std::vector<std::uint64_t>& lengths, std::uint64_t points) {
  if (data == nullptr && points > 0)
    refuse(ErrorCode::invalid_argument, "field '{}': data is null, but {} values are to be put", field,
           points);
  if (auto fits = model::check(memory, model::Index(lengths)); !fits)
    throw Failure(std::move(fits).error().in_variable(std::string(field)));
}

model::Box box_of(std::string_view field, const Section& section, const std::vector<std::uint64_t>& lengths) {
  if (section.start.size() != lengths.size() || section.count.size() != lengths.size())
    refuse(ErrorCode::invalid_argument,
           "field '{}': the section has {} dimensions; the field has {} on this rank", field,
           section.count.size(), lengths.size());
  for (std::size_t d = 0; d < lengths.size(); ++d)
    if (section.count[d] > lengths[d] || section.start[d] > lengths[d] - section.count[d])
      refuse(
          ErrorCode::invalid_argument,
          "field '{}': the section {} + {} leaves this rank's part, which has the length {} in dimension {}",
          field, section.start[d], section.count[d], lengths[d], d);
  return {model::Index(section.start), model::Index(section.count)};
}

}  // namespace

// ---- State

Output::State::State(Session& of, const OutputOptions& given,
                     std::shared_ptr<const describe::Description> described)
    : session(std::shared_ptr<Session::State>(std::shared_ptr<void>(), &of.state())),
      model(of.state().model),
      targets(session),
      options(given),
      description(std::move(described)),
      time(output::model_time(given)) {}

Output::State::~State() {
  if (model.expired()) return;
  // The session's end would publish the files that are open.
  session.state().output.refusal = [refused = refusal()] { return refused; };
  session.state().output.unfinished = [error = unfinished()] { return error; };
}

std::optional<Error> Output::State::refusal() const {
  if (end_failure) return end_failure;
  for (const auto& file : plan.files)
    if (auto refused = file->refusal()) return refused;
  return std::nullopt;
}

std::optional<Error> Output::State::unfinished() const {
  if (!in_step || ended) return std::nullopt;
  std::vector<std::string> periods;
  for (const auto& file : plan.files)
    if (const output::Schedule* const schedule = file->schedule();
        schedule != nullptr && file->records().any())
      periods.push_back(fmt::format("\"{}\" ({}, from {} on)", file->file().name, schedule->every().text(),
                                    time.calendar.text(schedule->begin())));
  if (periods.empty()) return std::nullopt;
  return make_error(ErrorCode::bad_state,
                    "the output has not been finalized: step {} has not ended, and these files would lose "
                    "what their last periods have: {}. Call finalize() of the output before that of the "
                    "session; with a path it saves their state",
                    current, fmt::join(periods, ", "));
}

/// All but files that must not be published, of which it throws the first; the others are then
/// published.
void Output::State::close_files() {
  for (const auto& file : plan.files)
    if (!file->refusal()) file->close();
  auto refused = refusal();
  if (!refused) return;
  for (const auto& file : plan.files)
    if (file->closed().number > 0) session.wait(file->closed());
  throw Failure(*std::move(refused));
}

void Output::State::check_defining(const char* call) const {
  if (started) refuse(ErrorCode::bad_state, "{} comes before start()", call);
}

void Output::State::start() {
  check_defining("start");
  output::check_same_options(session, time, options);
  write_definitions();
  spaces.emplace(&session, definitions);
  plan = output::make_plan({*description, definitions, time, options.member, targets}, *spaces);
  epochs.emplace(session, *description, time, options.member);
  const output::Reducers reducers(plan, &session);
  output::TakenPaths known;
  for (const auto& file : plan.files) {
    file->define(targets, definitions, *spaces, !options.resume.empty(), reducers.of(*file));
    file->check_paths(known);
    if (auto clock = file->epochs()) epochs->add(*std::move(clock), file->file().name);
  }
  epochs->check_paths(known);
  output::look_for_other_writers(session, plan);
  reducers.apply();
  late.emplace(&session, plan, time);
  Session::State& of = session.state();
  memory.emplace(of.config->output.memory_bytes,
                 of.model_profile.counter(observe::counters::output_memory, observe::CounterKind::peak));
  memory->take(session, output::memory_of(plan, late->waiting()));
  for (std::size_t f = 0; f < definitions.fields().size(); ++f) {
    const output::Field& field = definitions.fields()[f];
    fields.push_back({plan.sources[f].get(), field.options.type});
    by_name.emplace(field.name, f);
  }
  saved.emplace(session, time, definitions, plan);
  if (epochs->saves_states()) saved->define_for_epochs();
  session.start();
  if (!options.resume.empty()) {
    const std::int64_t step = saved->read(options.resume);
    begun = step != output::SavedState::before_first;
    if (begun) plan.resume(current = step);
  } else {
    output::look_at_earlier_files(session, plan);
  }
  started = true;
  session.state().output.refusal = [this] { return refusal(); };
  session.state().output.unfinished = [this] { return unfinished(); };
  report_plan();
}

/// For `afterbay describe --definitions`. A file that cannot be written ends no run.
void Output::State::write_definitions() const {
  const Session::State& of = session.state();
  const std::string& path = of.config->output.definitions;
  const client::RankIdentity& identity = of.model->identity();
  if (path.empty() || identity.model_rank != 0) return;
  output::GridKinds kinds;
  for (const output::Grid& grid : definitions.grids()) {
    const auto decomposition = of.model->definitions().decomposition(grid.decomposition);
    const bool is_map = decomposition && (*decomposition)->map != nullptr;
    kinds[grid.name] = grid.decomposition.empty() ? "whole" : is_map ? "map" : "block";
  }
  const output::Processes processes{identity.model_size, static_cast<std::int64_t>(of.servers)};
  const std::string text = output::write_definitions(definitions, options, kinds, processes);
  if (const int number = replace_file(path, text); number != 0)
    Logger({of.name, "model", 0}, of.config->log)
        .warning("the definitions of the model cannot be written to '{}' (output.definitions): {}", path,
                 std::strerror(number));
}

/// What the plan does and needs, in the log of the first model rank.
void Output::State::report_plan() const {
  const Session::State& of = session.state();
  if (of.model->identity().model_rank != 0) return;
  const auto used =
      std::ranges::count_if(fields, [](const FieldStep& field) { return field.source != nullptr; });
  std::size_t statistics = 0;
  for (const auto& some : plan.statistics) statistics += some->bundle().size();
  const Logger logger({of.name, "model", 0}, of.config->log);
  for (const std::string& text : plan.without_effect) logger.warning("{}", text);
  if (epochs->saves_states() || !options.resume.empty())
    for (const auto& file : plan.files)
      if (output::may_be_cut(*file))
        logger.warning(
            "{}: the file '{}' ({}) cannot be continued by another run: one that resumes from a state of the "
            "time when it was open needs another name for it",
            file->file().at.text(), file->file().name, afterbay::name_of(file->names().store()));
  // A run that resumes goes on with a period of the earlier one.
  if (options.resume.empty())
    for (const std::string& text : plan.first_periods) logger.warning("{}", text);
  logger.info(
      "described output: {} of {} fields go into {} kinds of files; {} statistics and {} computed fields "
      "take {} of memory on this rank, and with results, subsets and conversions {}",
      used, fields.size(), plan.files.size(), statistics, plan.computed.size(),
      print_about(plan.state_bytes()), print_about(memory->bytes()));
}

/// Whether the model saves states is not known before it does.
void Output::State::report_open_files(const std::string& path) {
  const Session::State& of = session.state();
  const bool is_known = epochs->saves_states() || !options.resume.empty();
  if (is_known || open_files_reported || of.model->identity().model_rank != 0) return;
  const Logger logger({of.name, "model", 0}, of.config->log);
  for (const auto& file : plan.files) {
    const output::FileState open = file->state();
    if (open.path.empty() || !output::may_be_cut(*file)) continue;
    open_files_reported = true;
    logger.warning(
        "{}: the state {} is saved while '{}' is open, to which nothing can be appended, because it is a {} "
        "file: a run that resumes from it needs another name for the file '{}'. To need none, choose split "
        "so that files end where jobs do, or write a netCDF file",
        file->file().at.text(), path, open.path, afterbay::name_of(file->names().store()), file->file().name);
  }
}

void Output::State::begin_step(std::int64_t number) {
  if (!started) refuse(ErrorCode::bad_state, "step comes after start()");
  if (ended) refuse(ErrorCode::bad_state, "step: the output has been finalized");
  const bool first = !begun && (number == 0 || number == 1);
  if (!first && (!begun || number != current + 1))
    refuse(ErrorCode::invalid_argument, "step {} cannot follow {}: steps are consecutive; expected {}",
           number, begun ? fmt::format("step {}", current) : std::string("the start of the run"),
           begun ? std::to_string(current + 1) : std::string("1, or 0 for the state at the start"));
  if (first && number == 1) check_start();
  end_step();
  covered = output::covered_by_step(time, number);
  plan.begin_step(number);
  for (FieldStep& field : fields) {
    field.wanted = field.source != nullptr && field.source->needed();
    field.put = false;
    field.sections.clear();
  }
  current = number;
  begun = in_step = true;
  plan.put_constants(covered);
}

void Output::State::check_start() const {
  for (const auto& file : plan.files)
    if (file->needs_start())
      refuse(ErrorCode::conflict,
             "step 1 cannot be the first one: the file \"{}\" has at_start (at {}), a record of the state at "
             "the start, which the model puts in step 0. Begin with step 0, or remove at_start",
             file->file().name, file->file().at.text());
}

void Output::State::end_step() {
  if (!in_step) return;
  std::vector<std::string> missing;
  std::string user;  // the first one's
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].wanted && !fields[f].put) {
      if (missing.empty()) user = output::needed_for(*fields[f].source);
      missing.push_back(definitions.fields()[f].name +
                        (fields[f].sections.empty() ? "" : " (of which sections are missing)"));
    }
  if (!missing.empty())
    refuse(ErrorCode::bad_state,
           "step {} cannot end: the description needs {} {} in this step, which {} not been put{}", current,
           missing.size() == 1 ? "the field" : "the fields", fmt::join(missing, ", "),
           missing.size() == 1 ? "has" : "have",
           user.empty() ? "" : fmt::format(". {} is for {}", missing.size() == 1 ? "It" : "The first", user));
  const Date now = time.at(current);
  plan.end_step(now);
  session.end_step();
  in_step = false;
  // After all that other ranks may wait for.
  late->end_step(current);
  if (current > 0 && late->is_behind() && epochs->is_due(current)) late->finish();
  if (current > 0) epochs->end_step(current, *saved);
  for (FieldStep& field : fields) field.wanted = false;
}

Output::State::FieldStep& Output::State::find(std::string_view field) {
  const auto found = by_name.find(field);
  if (found != by_name.end()) return fields[found->second];
  if (!started) refuse(ErrorCode::bad_state, "put and wants come after start() and step()");
  refuse(ErrorCode::unknown_name, "there is no field '{}'{}", field,
         did_you_mean(field, definitions.field_names()));
}

// ---- Output

Output::Output() noexcept = default;
Output::Output(Output&&) noexcept = default;
Output& Output::operator=(Output&&) noexcept = default;
Output::~Output() = default;

Output::Output(Session& session, const OutputOptions& options) {
  Session::State& of = session.state();
  (void)of.model_side();
  output::must(of.check_thread("opening an Output"));
  if (std::exchange(of.output.taken, true))
    refuse(ErrorCode::bad_state, "this session has an Output already");
  try {
    state_ = std::make_unique<State>(session, options, of.output.description);
  } catch (const Failure&) {
    of.output.taken = false;
    throw;
  }
}

Output::State& Output::state() const {
  if (state_ == nullptr)
    refuse(ErrorCode::bad_state, "the output handle is empty: it was never opened, or has been closed");
  if (state_->model.expired() || state_->session.state().ended)
    refuse(ErrorCode::bad_state, "the session of this output has ended: finalize the output before it");
  return *state_;
}

void Output::dimension(const std::string& name, std::uint64_t length) {
  state().check_defining("dimension");
  state().definitions.add(output::Dimension{name, length, {}, {}});
}

void Output::dimension(const std::string& name, const Values& values, const CoordinateOptions& options) {
  state().check_defining("dimension");
  state().definitions.add(output::Dimension{name, values.count(), values, options});
}

void Output::grid(const std::string& name, const std::vector<std::string>& dimensions,
                  const std::string& decomposition) {
  state().check_defining("grid");
  state().definitions.add(output::Grid{name, dimensions, decomposition});
}

namespace {

Values as_values(const std::vector<double>& numbers) {
  return Values::raw(Type::float64, numbers.data(), numbers.size());
}

/// `made` with dimension, grid and coordinates.
output::FieldDefinitions with_point_grid(Session& session, output::FieldDefinitions made,
                                         const output::PointGrid& points, const output::Grid& grid,
                                         const ComputedCoordinates& names) {
  made.add(output::Dimension{grid.dimensions.front(), points.points(), {}, {}});
  made.add(grid);
  const std::string vertices = grid.dimensions.front() + "_vertices";
  if (names.bounds) made.add(output::Dimension{vertices, 4, {}, {}});
  std::vector<double> values[2];
  std::vector<double> corners[2];
  for (const std::optional<std::uint64_t>& index : output::Spaces(&session, made).points_of(grid)) {
    const output::CellOnSphere cell = index ? points.cell(*index) : output::CellOnSphere{};
    values[0].push_back(cell.centre.latitude);
    values[1].push_back(cell.centre.longitude);
    if (!names.bounds) continue;
    for (const output::PointOnSphere& corner : cell.corners) {
      corners[0].push_back(corner.latitude);
      corners[1].push_back(corner.longitude);
    }
  }
  const std::string* const name_of[] = {&names.latitude, &names.longitude};
  const char* const units_of[] = {"degrees_north", "degrees_east"};
  const char* const standard_name_of[] = {"latitude", "longitude"};
  for (int i = 0; i < 2; ++i) {
    CoordinateOptions options{.units = units_of[i], .standard_name = standard_name_of[i]};
    const std::string bounds = *name_of[i] + "_bnds";
    if (names.bounds) options.attributes.push_back({"bounds", bounds});
    made.add(output::Coordinate{*name_of[i], {}, grid.name, as_values(values[i]), options});
    if (names.bounds)
      made.add(output::Coordinate{bounds, {}, grid.name, as_values(corners[i]), {.vertices = vertices}});
  }
  return made;
}

}  // namespace

void Output::healpix_grid(const std::string& name, const std::string& dimension, const HealpixGrid& points,
                          const std::string& decomposition, const ComputedCoordinates& coordinates) {
  State& it = state();
  it.check_defining("healpix_grid");
  const output::HealpixPoints all(points);
  output::FieldDefinitions made = it.definitions;
  const std::string order = points.nested ? "nested" : "ring";
  std::vector<Attribute> attributes{{"grid_mapping_name", "healpix"}, {"indexing_scheme", order}};
  if (std::has_single_bit(points.nside))
    attributes.push_back({"refinement_level", std::int32_t{std::countr_zero(points.nside)}});
  attributes.push_back({"healpix_nside", static_cast<std::int32_t>(points.nside)});
  attributes.push_back({"healpix_order", order});
  made.add(output::Coordinate{name, {}, {}, std::vector<std::int32_t>{0}, {.attributes = attributes}});
  it.definitions = with_point_grid(it.session, std::move(made), all, {name, {dimension}, decomposition, name},
                                   coordinates);
}

void Output::gaussian_grid(const std::string& name, const std::string& dimension, const GaussianGrid& points,
                           const std::string& decomposition, const ComputedCoordinates& coordinates) {
  State& it = state();
  it.check_defining("gaussian_grid");
  it.definitions = with_point_grid(it.session, it.definitions, output::GaussianPoints(points),
                                   {name, {dimension}, decomposition}, coordinates);
}

void Output::coordinate(const std::string& name, const std::vector<std::string>& dimensions,
                        const Values& values, const CoordinateOptions& options) {
  state().check_defining("coordinate");
  state().definitions.add(output::Coordinate{name, dimensions, {}, values, options});
}

void Output::grid_coordinate_raw(const std::string& name, const std::string& grid, const void* data,
                                 Type type, const CoordinateOptions& options) {
  State& it = state();
  it.check_defining("grid_coordinate");
  // The grid's points on this rank are those of a field without axes.
  output::Spaces spaces(&it.session, it.definitions);
  output::Field field;
  field.name = name;
  field.options.grid = it.definitions.grid(grid).name;
  std::size_t points = spaces.own(field).points;
  if (!options.vertices.empty()) points *= it.definitions.dimension(options.vertices).length;
  if (points > 0 && data == nullptr)
    refuse(ErrorCode::invalid_argument, "coordinate '{}': data is null, but this rank holds {} points", name,
           points);
  it.definitions.add(output::Coordinate{name, {}, grid, Values::raw(type, data, points), options});
}

void Output::field(const std::string& name, const FieldOptions& options) {
  state().check_defining("field");
  state().definitions.add(output::Field{name, options});
}

void Output::start() { state().start(); }
void Output::step(std::int64_t number) { state().begin_step(number); }

bool Output::wants(std::string_view field) const { return state().find(field).wanted; }

bool Output::State::check_put(std::string_view field, const FieldStep& of, Type type, bool in_part) const {
  if (type != of.type)
    refuse(ErrorCode::wrong_type, "field '{}' holds {}, but {} was put", field, name_of(of.type),
           name_of(type));
  if (!in_step)
    refuse(ErrorCode::bad_state, "field '{}' was put outside of a step: call step() first", field);
  // A rank without points may hand over further sections, which are empty.
  const bool is_empty = in_part && !of.sections.empty() && of.source->space().points == 0;
  if (of.put && !is_empty)
    refuse(ErrorCode::conflict, "field '{}' has been put in step {} before", field, current);
  return of.wanted;
}

/// A rank without points has put the field when it has handed over all levels, so that it completes
/// fields in the order in which ranks with points do.
bool Output::State::is_complete(const FieldStep& of) {
  if (of.put) return false;
  const output::Space& space = of.source->space();
  const std::size_t dimensions = space.points == 0 ? space.axes : space.local.size();
  const auto count_of = [&](const auto& lengths) {
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < dimensions; ++d) count *= lengths[d];
    return count;
  };
  std::uint64_t count = 0;
  for (const model::Box& known : of.sections) count += count_of(known.count);
  return count >= count_of(space.local);
}

void Output::State::emit(FieldStep& of, const void* data, const MemoryLayout& memory_layout) {
  if (!memory_layout.dense() && !of.copied && of.source->copies_layouts()) {
    memory->take(output::MemoryUse{fmt::format("a copy of the array of '{}'", of.source->name()),
                                   of.source->space().points * size_of(of.type)});
    of.copied = true;
  }
  of.put = true;
  output::Value value = covered;
  value.data = static_cast<const std::byte*>(data);
  value.form = &of.source->form();
  value.layout = memory_layout.dense() ? nullptr : &memory_layout;
  of.source->put(value);
}

void Output::put_raw(std::string_view field, const void* data, Type type, const MemoryLayout& memory) {
  State& it = state();
  State::FieldStep& of = it.find(field);
  if (!it.check_put(field, of, type)) return;
  const output::Space& space = of.source->space();
  if (!of.sections.empty())
    refuse(ErrorCode::conflict, "sections of field '{}' have been put in step {} before", field, it.current);
  check_memory(field, data, memory, space.local, space.points);
  it.emit(of, data, memory);
}

void Output::put_section_raw(std::string_view field, const Section& section, const void* data, Type type,
                             const MemoryLayout& memory) {
  State& it = state();
  State::FieldStep& of = it.find(field);
  if (section.whole()) return put_raw(field, data, type, memory);
  if (!it.check_put(field, of, type, true)) return;
  const output::Space& space = of.source->space();
  const model::Box box = box_of(field, section, space.local);
  check_memory(field, data, memory, section.count, box.points());
  for (const model::Box& other : of.sections)
    if (!model::intersect(box, other).empty())
      refuse(ErrorCode::conflict, "a section of field '{}' overlaps with one that was put in step {} before",
             field, it.current);
  const std::size_t bytes = size_of(type);
  if (of.values.size() < space.points * bytes)
    it.memory->take(output::MemoryUse{fmt::format("the sections of '{}'", field), space.points * bytes});
  of.values.resize(space.points * bytes);
  output::copy_section(of.values.data(), space.local, box, static_cast<const std::byte*>(data), memory,
                       bytes);
  of.sections.push_back(box);
  if (it.is_complete(of)) it.emit(of, of.values.data(), {});
}

Ticket Output::save(const std::string& path) {
  State& it = state();
  if (!it.started) refuse(ErrorCode::bad_state, "save comes after start()");
  if (it.ended) refuse(ErrorCode::bad_state, "save: the output has been finalized");
  it.end_step();
  it.late->finish();
  it.report_open_files(path);
  return it.saved->write(path, it.step_to_save());
}

void Output::finalize(const std::string& save_to) {
  if (state_ != nullptr && state_->ended) return;
  State& it = state();
  if (!it.started) {
    it.ended = true;
    return;
  }
  try {
    it.end_step();
  } catch (const Failure& failure) {
    it.end_failure = failure.error();
    throw;
  }
  it.end_failure.reset();
  it.late->finish();
  if (save_to.empty() && it.begun) {
    it.plan.end_run(output::covered_by_step(it.time, it.current));
    it.late->end_run(it.current);
  } else if (!save_to.empty()) {
    it.report_open_files(save_to);
    it.saved->write(save_to, it.step_to_save());
  }
  it.ended = true;
  it.close_files();
}

// These two are known after the end of the session, too.
Date Output::date() const {
  const State& it = state_ == nullptr ? state() : *state_;
  return it.time.at(it.current);
}
std::int64_t Output::current_step() const { return state_ == nullptr ? state().current : state_->current; }

}  // namespace afterbay
