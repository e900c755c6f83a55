// SPDX-License-Identifier: Apache-2.0
#include "output/saved_state.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/clock.hpp"
#include "base/own_collections.hpp"
#include "base/printable.hpp"
#include "model/values.hpp"
#include "output/meaning.hpp"
#include "output/refuse.hpp"
#include "output/saved_statistics.hpp"
#include "output/server_states.hpp"

namespace afterbay::output {

namespace {

constexpr const char* head_attribute = "afterbay_output_state";
constexpr int version = 6;

/// With `change` applied to all texts. Paths may have any bytes, JSON only UTF-8.
Json with_texts(const Json& json, std::string (*change)(std::string_view)) {
  if (json.is_string()) return change(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  Json changed = json;
  for (Json& item : changed) item = with_texts(item, change);
  return changed;
}

std::string name_of_column(std::size_t statistics, std::size_t statistic, std::uint32_t column) {
  return fmt::format("{}_{}", name_of_columns(statistics, statistic), column);
}

/// Calls `visit(statistics, number, statistic, state)` for each statistic of the plan. The states
/// of those that servers compute have no points.
template <class Visit>
void for_each_state(Plan& plan, Visit visit) {
  for (std::size_t s = 0; s < plan.statistics.size(); ++s)
    for (std::size_t i = 0; i < plan.statistics[s]->bundle().size(); ++i)
      visit(*plan.statistics[s], s, i, plan.statistics[s]->bundle().state(i));
}

std::string name_of_once(std::size_t file, std::size_t variable) {
  return fmt::format("o{}_{}", file, variable);
}

/// Calls `visit(file, number, variable)` for each variable that is written once.
template <class Visit>
void for_each_once(Plan& plan, Visit visit) {
  for (std::size_t f = 0; f < plan.files.size(); ++f)
    for (std::size_t v = 0; v < plan.files[f]->variables().size(); ++v)
      if (plan.files[f]->variables()[v].kind == TimeKind::once) visit(*plan.files[f], f, v);
}

Json head_of(const FileState& file, const std::string& name, const Calendar& calendar) {
  return {{"name", name},
          {"path", file.path},
          {"records", file.records},
          {"part", file.part},
          {"part_begin", calendar.text(file.part_begin)},
          {"part_end", calendar.text(file.part_end)},
          {"record_end", calendar.text(file.record_end)},
          {"complete", file.complete},
          {"names", file.pattern},
          {"earlier names", file.earlier}};
}

FileState file_state(const Json& head, const Calendar& calendar) {
  FileState file;
  file.path = head.at("path").get<std::string>();
  file.records = head.at("records").get<std::uint64_t>();
  file.part = head.at("part").get<std::int64_t>();
  file.part_begin = calendar.parse(head.at("part_begin").get<std::string>());
  file.part_end = calendar.parse(head.at("part_end").get<std::string>());
  file.record_end = calendar.parse(head.at("record_end").get<std::string>());
  file.complete = head.at("complete").get<bool>();
  file.pattern = head.at("names").get<std::string>();
  file.earlier = head.at("earlier names").get<std::vector<std::uint64_t>>();
  return file;
}

/// What all values of a field depend on, of the fields that something uses.
Json heads_of_fields(const FieldDefinitions& definitions, const Plan& plan) {
  Json heads = Json::array();
  for (std::size_t f = 0; f < definitions.fields().size(); ++f) {
    if (plan.sources[f] == nullptr) continue;
    const Field& field = definitions.fields()[f];
    heads.push_back(Json{{"name", field.name},
                         {"units", field.options.units.empty() ? "none" : field.options.units},
                         {"fill value", model::text_of(field.options.fill)}});
  }
  return heads;
}

void check_fields(const Json& saved, const Json& here, const std::string& path) {
  std::map<std::string, const Json*> by_name;
  for (const Json& field : saved) by_name.emplace(field.at("name").get<std::string>(), &field);
  for (const Json& field : here) {
    const auto found = by_name.find(field.at("name").get<std::string>());
    if (found == by_name.end()) continue;  // its statistics are compared later
    for (const char* const key : {"units", "fill value"})
      if (const std::string there = found->second->at(key).get<std::string>();
          there != field.at(key).get<std::string>())
        throw Failure(make_error(ErrorCode::conflict,
                                 "field '{}' has the {} \"{}\" in the saved state, but \"{}\" in this run: a "
                                 "run continues with the fields of its earlier jobs. Give the field what it "
                                 "had, or change it in a run that begins when all periods have ended",
                                 field.at("name").get<std::string>(), key, there,
                                 field.at(key).get<std::string>())
                          .in_file(path));
  }
}

void check_same(const Json& head, const char* key, const std::string& here, const std::string& path) {
  if (const std::string there = head.at(key).get<std::string>(); there != here)
    throw Failure(make_error(ErrorCode::conflict,
                             "the saved state has the {} \"{}\", but this run has \"{}\"", key, there, here)
                      .in_file(path));
}

}  // namespace

Schema SavedState::schema() const {
  Schema schema;
  std::map<const Space*, std::vector<std::string>> dimensions;
  const auto dimensions_of = [&](const Space& space) -> const std::vector<std::string>& {
    auto [names, fresh] = dimensions.try_emplace(&space);
    if (fresh)
      for (const Space::Dimension& dimension : space.dimensions) {
        names->second.push_back(fmt::format("g{}_{}", dimensions.size() - 1, dimension.name));
        schema.dimension(names->second.back(), dimension.length);
      }
    return names->second;
  };
  for_each_state(plan_, [&](auto& of, std::size_t s, std::size_t i, const statistics::State& state) {
    if (of.is_left_to_servers()) return;
    const Space& space = of.of().space();
    for (std::uint32_t c = 0; c < state.layout().columns(); ++c) {
      Variable& variable = schema.variable(name_of_column(s, i, c), type_of_column(state, c, of.taken().type),
                                           dimensions_of(space));
      variable.decomposition = space.decomposition;
      variable.attribute("long_name", fmt::format("{}: {}", of.text(), text_of(of.bundle().statistic(i))));
    }
  });
  for_each_once(plan_, [&](FileSeries& file, std::size_t f, std::size_t v) {
    const FileVariable& it = file.variables()[v];
    Variable& variable = schema.variable(name_of_once(f, v), file.once(v).type, dimensions_of(*it.space));
    variable.decomposition = it.space->decomposition;
    variable.attribute("long_name", fmt::format("{} in {}, written once", it.name, file.file().name));
  });
  schema.attribute(head_attribute, "");
  return schema;
}

void SavedState::define_for_epochs() {
  if (of_epochs_) return;
  CollectionOptions options;
  options.existing = "replace";
  of_epochs_ = session_.collection(std::string(epoch_state_collection), schema(), options);
}

std::string SavedState::head(const std::string& path, const std::string& serial, std::int64_t step) const {
  Json head = {{"version", version},
               {"serial", serial},
               {"step", step},
               {"calendar", text_of_rules(time_.calendar)},
               {"start", time_.calendar.text(time_.start)},
               {"step length", time_.step.text()},
               {"fields", heads_of_fields(definitions_, plan_)}};
  Json& statistics = head["statistics"] = Json::array();
  for_each_state(plan_, [&](auto& of, std::size_t s, std::size_t i, const statistics::State&) {
    Json of_statistic = output::head_of(of, s, i);
    for (const auto& file : plan_.files) {
      if (&file->samples() != of.samples()) continue;
      const auto in = std::ranges::find(of.in_servers(), i, &SeriesStatistics::InFile::statistic);
      of_statistic["in"] = ServerStates::path_of(path, *file);
      of_statistic["variable"] = file->variables()[in->variable].name;
    }
    statistics.push_back(std::move(of_statistic));
  });
  Json& files = head["files"] = Json::array();
  for (const auto& file : plan_.files) {
    Json of_file = head_of(file->state(), file->file().name, time_.calendar);
    Json& once = of_file["once"] = Json::array();
    for (std::size_t v = 0; v < file->variables().size(); ++v) once.push_back(file->once(v).kept);
    of_file["meaning"] = meaning_of(*file);
    of_file["storing"] = storing_of(*file);
    files.push_back(std::move(of_file));
  }
  return with_texts(head, utf8_name).dump();
}

Ticket SavedState::write(const std::string& path, std::int64_t step) {
  if (!collection_) collection_ = session_.collection(std::string(state_collection), schema());
  return write(*collection_, path, step, false);
}

Ticket SavedState::write_at_epoch(const std::string& path, std::int64_t step) {
  define_for_epochs();
  return write(*of_epochs_, path, step, true);
}

std::vector<std::string> SavedState::files_of(const std::string& path) const {
  const std::string whole = std::filesystem::absolute(path).string();
  std::vector<std::string> files = ServerStates(plan_).paths_of(whole);
  files.push_back(whole);
  return files;
}

Ticket SavedState::write(Collection& collection, const std::string& path, std::int64_t step, bool replaces) {
  const std::string whole = std::filesystem::absolute(path).string();
  for (const std::string& file : files_of(path)) {
    const auto owner = plan_.taken->owner(file);
    if (owner && owner->file != nullptr)
      throw Failure(make_error(ErrorCode::conflict,
                               "a state would have the name of {}: give files and states different names",
                               owner->text())
                        .in_file(file));
    const OtherWriters* const others = replaces && !owner ? plan_.taken->others() : nullptr;
    if (const auto writer = others == nullptr ? std::nullopt : others->later_writer(file)) {
      if (!writer->empty())
        others->refuse(make_error(ErrorCode::conflict,
                                  "a state would replace one that the session '{}' has saved while this "
                                  "session runs: give the states of each component names of their own",
                                  *writer)
                           .in_file(file));
      others->logger().warning(
          "the state {} replaces one that another program has written while this session runs", file);
    }
    plan_.taken->take(file, {});
  }
  const std::string serial = fmt::format("{}-{:x}", step, now_ns());
  ServerStates servers(plan_);
  servers.write(whole, serial, replaces);
  OutputFile file = collection.open(FileName{.name = whole},
                                    SchemaChanges().attribute(head_attribute, head(whole, serial, step)));
  std::vector<std::byte> zeros;
  for_each_state(plan_, [&](auto& of, std::size_t s, std::size_t i, const statistics::State& state) {
    if (of.is_left_to_servers()) return;
    for (std::uint32_t c = 0; c < state.layout().columns(); ++c) {
      const statistics::State::Column column = state.column(c);
      const std::byte* data = column.data;
      if (!has_values(state.progress())) {
        zeros.resize(std::max(zeros.size(), column.bytes));
        data = zeros.data();
      }
      file.put_raw(name_of_column(s, i, c), no_record, data, type_of_column(state, c, of.taken().type), {},
                   true, {});
    }
  });
  for_each_once(plan_, [&](FileSeries& of, std::size_t f, std::size_t v) {
    const FileSeries::Once& once = of.once(v);
    const std::size_t bytes = of.variables()[v].space->points * size_of(once.type);
    if (!once.kept) zeros.resize(std::max(zeros.size(), bytes));
    file.put_raw(name_of_once(f, v), no_record, once.kept ? once.values.data() : zeros.data(), once.type, {},
                 true, {});
  });
  const Ticket closed = file.close();
  return servers.any() ? session_.flush() : closed;  // which is complete when all of these are published
}

std::int64_t SavedState::read(const std::string& path) {
  InputFile file = session_.open_input(path);
  const auto& attributes = file.schema().attributes;
  const auto found = std::ranges::find(attributes, head_attribute, &Attribute::name);
  if (found == attributes.end())
    throw Failure(
        Error(ErrorCode::format, "this is not a state that Output::save has written").in_file(path));
  std::int64_t step = 0;
  try {
    const Json head = with_texts(Json::parse(found->values.text()), name_from_utf8);
    if (head.at("version").get<int>() != version)
      throw Failure(make_error(ErrorCode::format, "the state has the version {}; this library reads {}",
                               head.at("version").get<int>(), version)
                        .in_file(path));
    check_same(head, "calendar", text_of_rules(time_.calendar), path);
    check_same(head, "start", time_.calendar.text(time_.start), path);
    check_same(head, "step length", time_.step.text(), path);
    check_fields(head.at("fields"), heads_of_fields(definitions_, plan_), path);
    step = head.at("step").get<std::int64_t>();
    SavedStatistics statistics(session_, file, path, head);
    statistics.check(plan_);
    const Json& files = head.at("files");
    if (files.size() != plan_.files.size())
      throw Failure(make_error(ErrorCode::conflict, "the state has {} files, but the description has {}",
                               files.size(), plan_.files.size())
                        .in_file(path));
    std::vector<bool> continued;
    for (std::size_t f = 0; f < files.size(); ++f) {
      check_same(files.at(f), "name", plan_.files[f]->file().name, path);
      check_meaning(files.at(f).at("meaning").get<Meaning>(), *plan_.files[f], path);
      continued.push_back(check_storing(files.at(f).value("storing", Meaning()),
                                        file_state(files.at(f), time_.calendar), *plan_.files[f], path));
    }
    const std::vector<ServerStates::Restored> restored = statistics.restore(plan_);
    if (!restored.empty()) {
      ServerStates(plan_).restore(restored);
      // Samples of the first step follow. If memory is short, servers take those of a step before
      // it ends, but none before all ranks have ended what came before.
      session_.flush();
    }
    for (std::size_t f = 0; f < files.size(); ++f)
      plan_.files[f]->resume(file_state(files.at(f), time_.calendar), continued[f]);
    for_each_once(plan_, [&](FileSeries& of, std::size_t f, std::size_t v) {
      if (!files.at(f).at("once").at(v).get<bool>()) return;
      const Space& space = *of.variables()[v].space;
      std::vector<std::byte> values(space.points * size_of(of.once(v).type));
      Selection selection;
      selection.decomposition = space.decomposition;
      file.get_raw(name_of_once(f, v), selection, values.data(), of.once(v).type, {});
      of.once(v).restore(std::move(values));
    });
  } catch (const Json::exception& damage) {
    throw Failure(make_error(ErrorCode::format, "the attribute {} of the state is damaged: {}",
                             head_attribute, damage.what())
                      .in_file(path));
  }
  file.close();
  for (const std::string& taken : files_of(path)) plan_.taken->take(taken, {});
  return step;
}

}  // namespace afterbay::output
