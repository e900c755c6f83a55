// SPDX-License-Identifier: Apache-2.0
#include "output/saved_statistics.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

std::string key_of(const std::string& statistic, const std::string& of) {
  return fmt::format("{} of {}", statistic, of);
}

/// What names a statistic. Two files may each have it, with equal states, if servers compute it.
std::string key_of(const SeriesStatistics& statistics, std::size_t statistic) {
  return key_of(text_of(statistics.statistic(statistic)), statistics.text());
}

std::string key_of_saved(const Json& saved) {
  return key_of(saved.at("statistic").get<std::string>(), saved.at("of").get<std::string>());
}

/// The text of the statistics over shorter periods that a saved one lacks; empty: it lacks nothing.
std::string from_of(const Json& saved) { return saved.value("from", std::string()); }

statistics::IntervalProgress progress_of(const Json& saved) {
  return {saved.at("steps").get<std::uint64_t>(), saved.at("duration").get<double>(),
          saved.at("has_reference").get<std::uint64_t>()};
}

}  // namespace

std::string name_of_columns(std::size_t statistics, std::size_t statistic) {
  return fmt::format("s{}_{}", statistics, statistic);
}

Type type_of_column(const statistics::State& state, std::uint32_t column, Type field) {
  const statistics::Layout& layout = state.layout();
  if (column < layout.doubles) return Type::float64;
  return column < layout.doubles + layout.values ? field : Type::uint32;
}

Json head_of(const SeriesStatistics& statistics, std::size_t number, std::size_t statistic) {
  const statistics::IntervalProgress& progress = statistics.state_of(statistic).progress();
  Json head{{"of", statistics.text()},
            {"statistic", text_of(statistics.statistic(statistic))},
            {"columns", name_of_columns(number, statistic)},
            {"steps", progress.steps},
            {"duration", progress.duration},
            {"has_reference", progress.has_reference}};
  if (statistics.lacking() != nullptr) head["from"] = statistics.lacking()->text();
  return head;
}

SavedStatistics::SavedStatistics(Session& session, InputFile& file, const std::string& path, const Json& head)
    : session_(session), file_(file), path_(path), head_(head) {
  for (const Json& it : head.at("statistics")) by_key_.emplace(key_of_saved(it), &it);
  for (const Json& it : head.at("statistics")) {
    std::size_t parts = 0;
    for (const Json* at = lacking(it); at != nullptr; at = lacking(*at))
      if (++parts > by_key_.size())
        throw Failure(
            Error(ErrorCode::format, "the state is damaged: a statistic is a part of itself").in_file(path_));
  }
}

void SavedStatistics::check(const Plan& plan) const {
  std::set<std::string> known;
  const std::string* lacking = nullptr;
  const std::string* more = nullptr;
  for (const auto& of : plan.statistics)
    for (std::size_t i = 0; i < of->bundle().size(); ++i) {
      const auto at = known.insert(key_of(*of, i)).first;
      if (lacking == nullptr && !by_key_.contains(*at)) lacking = &*at;
    }
  for (const Json& it : head_.at("statistics")) {
    const auto at = by_key_.find(key_of_saved(it));
    if (more == nullptr && !known.contains(at->first)) more = &at->first;
  }
  if (more == nullptr && lacking == nullptr) return;
  constexpr const char* changed = "the description or the fields of the model have changed";
  std::string text =
      more == nullptr ? fmt::format("the state has no statistic \"{}\": {}", *lacking, changed)
      : lacking == nullptr
          ? fmt::format("the state has the statistic \"{}\", which this run does not have: {}", *more,
                        changed)
          : fmt::format("the saved state has \"{}\" where this run has \"{}\": {}", *more, *lacking, changed);
  throw Failure(Error(ErrorCode::conflict, std::move(text)).in_file(path_));
}

const Json& SavedStatistics::find(const std::string& key, const std::string& from) const {
  const auto [begin, end] = by_key_.equal_range(key);
  const Json* found = begin->second;
  for (auto at = begin; at != end; ++at) {
    const std::string lacks = from_of(*at->second);
    if (lacks == from) return *at->second;
    if (lacks.empty()) found = at->second;
  }
  return *found;
}

const Json* SavedStatistics::lacking(const Json& saved) const {
  const std::string from = from_of(saved);
  if (from.empty()) return nullptr;
  const std::string key = key_of(saved.at("statistic").get<std::string>(), from);
  if (!by_key_.contains(key))
    throw Failure(make_error(ErrorCode::format, "the state is damaged: it has no statistic \"{}\"", key)
                      .in_file(path_));
  return &find(key, {});
}

bool SavedStatistics::fits(const SeriesStatistics& of) const {
  if (of.finer() == nullptr) return false;
  for (std::size_t i = 0; i < of.results().size(); ++i)
    if (from_of(find(key_of(of, i), of.finer()->text())) != of.finer()->text()) return false;
  return true;
}

/// Adds as Bundle::absorb does.
statistics::IntervalProgress SavedStatistics::whole_progress(const Json& saved) const {
  statistics::IntervalProgress progress = progress_of(saved);
  if (const Json* const other = lacking(saved)) {
    const statistics::IntervalProgress more = whole_progress(*other);
    progress.steps += more.steps;
    progress.duration += more.duration;
  }
  return progress;
}

std::vector<ServerStates::Restored> SavedStatistics::restore(Plan& plan) {
  std::vector<ServerStates::Restored> restored;
  std::vector<SeriesStatistics*> whole;
  for (const auto& of : plan.statistics) {
    const bool is_whole = !fits(*of);
    if (is_whole) whole.push_back(of.get());
    for (std::size_t i = 0; i < of->bundle().size(); ++i) {
      const Json& saved = find(key_of(*of, i), is_whole ? std::string() : of->finer()->text());
      const statistics::State& state = of->bundle().state(i);
      state.progress() = is_whole ? whole_progress(saved) : progress_of(saved);
      if (!has_values(state.progress())) continue;
      RankState read = this->read(*of, i, saved, is_whole);
      if (of->is_left_to_servers()) {
        restored.push_back({of.get(), i, std::move(read)});
        continue;
      }
      for (std::uint32_t c = 0; c < state.layout().columns(); ++c)
        std::memcpy(state.column(c).data, read.state().column(c).data, state.column(c).bytes);
    }
  }
  for (SeriesStatistics* const of : whole) of->take_rest_of_finer();
  for (auto& [name, part] : parts_) part.close();
  return restored;
}

RankState SavedStatistics::read(const SeriesStatistics& of, std::size_t statistic, const Json& saved,
                                bool whole) {
  RankState read(of.statistic(statistic), of.taken(), of.of().space().points);
  read.state().progress() = progress_of(saved);
  if (has_values(progress_of(saved))) read_columns(of, saved, read);
  const Json* const other = whole ? lacking(saved) : nullptr;
  if (other != nullptr) read.absorb(this->read(of, statistic, *other, true));
  return read;
}

void SavedStatistics::read_columns(const SeriesStatistics& of, const Json& saved, const RankState& to) {
  const std::string& decomposition = of.of().space().decomposition;
  if (saved.contains("in")) {
    const std::string part = beside(saved.at("in").get<std::string>());
    auto at = parts_.find(part);
    if (at == parts_.end())
      at = parts_.try_emplace(part, session_, part, head_.at("serial").get<std::string>()).first;
    return at->second.read(saved.at("variable").get<std::string>(), decomposition, to);
  }
  Selection selection;
  selection.decomposition = decomposition;
  for (std::uint32_t c = 0; c < to.state().layout().columns(); ++c)
    file_.get_raw(fmt::format("{}_{}", saved.at("columns").get<std::string>(), c), selection,
                  to.state().column(c).data, type_of_column(to.state(), c, of.taken().type), {});
}

std::string SavedStatistics::beside(const std::string& part) const {
  const std::filesystem::path there =
      std::filesystem::path(path_).parent_path() / std::filesystem::path(part).filename();
  std::error_code error;
  return std::filesystem::exists(there, error) ? there.string() : part;
}

}  // namespace afterbay::output
