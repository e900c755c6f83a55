// SPDX-License-Identifier: Apache-2.0
#include "output/server_states.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "output/refuse.hpp"
#include "statistics/planes.hpp"

namespace afterbay::output {

namespace {

constexpr const char* serial_attribute = "afterbay_output_state_part";

}  // namespace

RankState::RankState(const statistics::Statistic& statistic, const Form& form, std::size_t points)
    : memory_(statistic, form.type, points), bundle_(bundle_for(form, points)) {
  must(bundle_.add(statistic, memory_.bytes()));
}

void RankState::absorb(const RankState& part) { must(bundle_.absorb(part.bundle_)); }

/// Calls `visit(FileSeries&, statistics)` for files whose statistics servers compute.
template <class Visit>
void ServerStates::for_each_file(Visit visit) const {
  for (const auto& file : plan_.files) {
    std::vector<SeriesStatistics*> statistics;
    for (const auto& it : plan_.statistics)
      if (it->samples() == &file->samples()) statistics.push_back(it.get());
    if (!statistics.empty()) visit(*file, statistics);
  }
}

bool ServerStates::any() const {
  return std::ranges::any_of(plan_.statistics, [](const auto& it) { return it->is_left_to_servers(); });
}

std::string ServerStates::path_of(const std::string& path, const FileSeries& files) {
  const std::filesystem::path whole(path);
  const std::string name =
      fmt::format("{}.{}{}", whole.stem().string(), files.file().name, whole.extension().string());
  return (whole.parent_path() / name).string();
}

std::vector<std::string> ServerStates::paths_of(const std::string& path) const {
  std::vector<std::string> paths;
  for_each_file([&](const FileSeries& file, const auto&) { paths.push_back(path_of(path, file)); });
  return paths;
}

void ServerStates::write(const std::string& path, const std::string& serial, bool replaces) {
  for_each_file([&](const FileSeries& file, const std::vector<SeriesStatistics*>& statistics) {
    const auto to = file.target().open_states(FileName{.name = path_of(path, file), .replace = replaces},
                                              SchemaChanges().attribute(serial_attribute, serial));
    // A plane of all variables before the next one: at most a few records may be begun at a time.
    bool more = true;
    for (std::uint32_t plane = 0; std::exchange(more, false); ++plane)
      for (const SeriesStatistics* const it : statistics)
        for (const SeriesStatistics::InFile& written : it->in_servers()) {
          // The planes of a state without points are those of any.
          const statistics::Planes planes(it->state_of(written.statistic), size_of(written.type));
          if (plane >= planes.count()) continue;
          to->put_state(file.variables()[written.variable].name, plane,
                        it->state_of(written.statistic).progress());
          more = true;
        }
    static_cast<void>(to->close());
  });
}

ServerStates::Reader::Reader(Session& session, const std::string& path, const std::string& serial)
    : file_(session.open_input(path)) {
  const auto& attributes = file_.schema().attributes;
  const auto found = std::ranges::find(attributes, serial_attribute, &Attribute::name);
  if (found == attributes.end() || found->values.text() != serial)
    throw Failure(
        Error(ErrorCode::conflict,
              "this file does not belong to the state that names it: both were written at different "
              "times; take the files of one state")
            .in_file(path));
}

void ServerStates::Reader::read(const std::string& variable, const std::string& decomposition,
                                const RankState& to) {
  const Variable* const stored = file_.schema().find_variable(variable);
  const std::size_t element = stored == nullptr ? 0 : size_of(stored->type);
  if (element != sizeof(float) && element != sizeof(double))
    throw Failure(
        make_error(ErrorCode::format, "this file of a state has no planes for variable '{}'", variable)
            .in_file(file_.path()));
  const Type type = stored->type;
  const statistics::Planes planes(to.state(), element);
  plane_.resize(to.state().points() * element);
  Selection selection;
  selection.decomposition = decomposition;
  for (std::uint32_t plane = 0; plane < planes.count(); ++plane) {
    selection.record = plane;
    file_.get_raw(variable, selection, plane_.data(), type, {});
    planes.set(plane, plane_.data());
  }
}

void ServerStates::restore(const std::vector<Restored>& states) {
  std::vector<std::byte> buffer;
  for_each_file([&](FileSeries& file, const auto&) {
    statistics::IntervalProgress progress;
    std::uint32_t most = 0;
    const auto planes_of = [](const Restored& it, Type type) {
      return statistics::Planes(it.state.state(), size_of(type));
    };
    for (const Restored& it : states) {
      if (it.statistics->samples() != &file.samples()) continue;
      for (const SeriesStatistics::InFile& written : it.statistics->in_servers())
        if (written.statistic == it.statistic) most = std::max(most, planes_of(it, written.type).count());
      const statistics::IntervalProgress& of = it.statistics->bundle().progress(it.statistic);
      progress.steps = std::max(progress.steps, of.steps);
      progress.duration = std::max(progress.duration, of.duration);
      progress.has_reference = std::max(progress.has_reference, of.has_reference);
    }
    for (std::uint32_t plane = 0; plane < most; ++plane) {
      file.samples().begin_state(plane, most - plane - 1, progress);
      for (const Restored& it : states) {
        if (it.statistics->samples() != &file.samples()) continue;
        for (const SeriesStatistics::InFile& written : it.statistics->in_servers()) {
          const statistics::Planes planes = planes_of(it, written.type);
          if (written.statistic != it.statistic || plane >= planes.count()) continue;
          buffer.resize(std::max(buffer.size(), it.state.state().points() * size_of(written.type)));
          planes.get(plane, buffer.data());
          file.samples().put_state(written.variable, plane, buffer.data(), written.type);
        }
      }
    }
  });
}

}  // namespace afterbay::output
