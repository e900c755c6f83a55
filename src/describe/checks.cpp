// SPDX-License-Identifier: Apache-2.0
#include "describe/checks.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/printable.hpp"
#include "describe/file_place.hpp"
#include "describe/inheritance.hpp"
#include "describe/name_template.hpp"
#include "model/format.hpp"

namespace afterbay::describe {

namespace {

/// Bounds of the length of a period in seconds, in any calendar of CF.
struct Length {
  double shortest = 0;
  double longest = 0;
};

constexpr double day_seconds = 86400;

std::optional<Length> length_of(const Period& period) {
  if (period.steps != 0) return std::nullopt;
  const double rest = static_cast<double>(period.days) * day_seconds + static_cast<double>(period.seconds) +
                      static_cast<double>(period.nanoseconds) * 1e-9;
  const auto years = static_cast<double>(period.years);
  const auto months = static_cast<double>(period.months);
  return Length{rest + day_seconds * (360 * years + 28 * months),
                rest + day_seconds * (366 * years + 31 * months)};
}

/// Whether the period consists of days and seconds only.
bool counts_days(const Period& period) { return period.years == 0 && period.months == 0; }

/// Whether a is shorter than b whatever the date.
bool is_shorter(const Period& a, const Period& b) {
  const auto counts_steps = [](const Period& it) { return Period{.steps = it.steps} == it; };
  if (counts_steps(a) && counts_steps(b)) return a.steps < b.steps;
  const auto first = length_of(a);
  const auto second = length_of(b);
  return first && second && first->longest < second->shortest;
}

class FileCheck {
 public:
  FileCheck(const File& file, const Pairs& properties, const ReadOptions& options, Problems& problems)
      : file_(file), properties_(properties), options_(options), problems_(problems) {}

  void periods() {
    const Timing& timing = file_.timing;
    if (!timing.every) return without_period();
    multiple("every", *timing.every, "sample", timing.sample);
    multiple("every", *timing.every, "cycle", timing.cycle);
    if (timing.cycle) multiple("cycle", *timing.cycle, "cycle_step", timing.cycle_step);
    if (timing.cycle && !timing.cycle_step)
      add("cycle", ErrorCode::invalid_argument,
          "cycle needs cycle_step, the length of its parts, for example 1h");
    if (timing.cycle_step && !timing.cycle)
      add("cycle_step", ErrorCode::invalid_argument, "cycle_step needs cycle, for example 1d");
    against_step("every", timing.every);
    against_step("sample", timing.sample);
    offset();
    split();
  }

  void alignment() {
    if (file_.timing.align.to != Align::To::date || !options_.calendar) return;
    try {
      static_cast<void>(options_.calendar->parse(file_.timing.align.date));
    } catch (const Failure& failure) {
      add("align", failure.code(),
          "align: expected calendar, seasons, start or a date: " + failure.error().message);
    }
  }

  void time_units() {
    if (file_.time.units.empty() || !options_.calendar) return;
    try {
      static_cast<void>(TimeUnits(*options_.calendar, file_.time.units));
    } catch (const Failure& failure) {
      add("time_units", failure.code(), "time_units: " + failure.error().message);
    }
  }

  void name(const std::string& case_name) {
    const std::string name = place_of(file_).name;
    const auto tokens = name_tokens(name);
    if (!tokens) return;  // has been reported
    const auto has = [&](std::string_view word) {
      return std::ranges::any_of(*tokens, [&](const NameToken& token) { return token.name == word; });
    };
    if (has("case") && case_name.empty())
      add("name", ErrorCode::invalid_argument,
          fmt::format("the name \"{}\" contains {{case}}, but the description has no \"case:\" at the top",
                      printable(name)));
    const bool by_period = file_.naming.split.period.has_value();
    const bool once_only = !file_.variables.empty() && !has_records(file_);
    if (has("end") && once_only && file_.active())
      return add("name", ErrorCode::invalid_argument,
                 fmt::format("the name \"{}\" contains {{end}}, but a file of fields that are written once "
                             "has no end: leave it out",
                             printable(file_.naming.name)));
    if (has("end") && !by_period && file_.active())
      return add(
          "name", ErrorCode::invalid_argument,
          fmt::format("the name \"{}\" contains {{end}}, which is only known with \"split\" by a period, "
                      "such as 1mo: leave it out",
                      printable(name)));
    if (file_.naming.split.any() && has_records(file_) && !has("start") && !has("end") && !has("part"))
      add("name", ErrorCode::conflict,
          fmt::format("all files that split makes would have the name \"{}\"; add {{start}}{} or {{part}}",
                      printable(name), by_period ? ", {end}" : ""));
  }

  void contents() {
    const bool left_out = value_in(properties_, "without") != nullptr;
    if (file_.variables.empty() && file_.enabled && (left_out || !has_list()))
      problems_.add(ErrorCode::invalid_argument, file_.at,
                    fmt::format("the file \"{}\" has no fields: add a list, for example \"mean: [tas]\", or "
                                "\"enabled: false\" if it is a pattern",
                                file_.name));
    const std::optional<Format> store = file_.settings.store;
    if (!store) return;
    for (const Variable& variable : file_.variables) {
      const std::optional<Type> type = variable.options.type.value_or(file_.type).given;
      if (type && !traits_of(*store).types.has(*type))
        problems_.add(
            ErrorCode::conflict, variable.at,
            fmt::format("the variable \"{}\" has the type {}, which the format {} of the file \"{}\" "
                        "cannot hold; {} can",
                        variable.name, afterbay::name_of(*type), afterbay::name_of(*store), file_.name,
                        formats_that_hold(*type)));
    }
  }

 private:
  /// Whether there is a list with entries; if there are no variables, they were refused or left
  /// out.
  [[nodiscard]] bool has_list() const {
    return std::ranges::any_of(all_operations(), [&](Operation operation) {
      const Node* const list = value_in(properties_, name_of(operation));
      return list != nullptr && !(list->is_sequence() && list->items().empty());
    });
  }

  /// At the value of the key if it is given, else at the file.
  void add(std::string_view key, ErrorCode code, std::string_view text) {
    const Node* const node = value_in(properties_, key);
    problems_.add(code, node == nullptr ? file_.at : node->at, fmt::format("files.{}: {}", file_.name, text));
  }

  void without_period() {
    // A period that cannot be read has been reported.
    if (!has_records(file_) || value_in(properties_, "every") != nullptr) return;
    const auto timed = std::ranges::find_if(
        file_.variables, [](const Variable& it) { return it.operation != Operation::once; });
    problems_.add(ErrorCode::invalid_argument, file_.at,
                  fmt::format("files.{}: every is missing; \"{}\" needs a period, for example \"every: 1d\"",
                              file_.name, name_of(timed->operation)));
  }

  void multiple(std::string_view key, const Period& period, std::string_view unit_key,
                const std::optional<Period>& unit) {
    if (!unit || known_multiple(period, *unit) != Multiple::no) return;
    add(unit_key, ErrorCode::invalid_argument,
        fmt::format("{} ({}) is not a multiple of {} ({})", key, period.text(), unit_key, unit->text()));
  }

  void against_step(std::string_view key, const std::optional<Period>& period) {
    if (!period || !options_.step || known_multiple(*period, *options_.step) != Multiple::no) return;
    add(key, ErrorCode::invalid_argument,
        fmt::format("{} ({}) is not a multiple of the model's step ({})", key, period->text(),
                    options_.step->text()));
  }

  /// Periods in steps are compared if the model's step is known, or if both are in steps.
  [[nodiscard]] Multiple known_multiple(const Period& period, const Period& unit) const {
    try {
      if (options_.step && options_.calendar)
        return options_.calendar->multiple(period.resolved(*options_.step), unit.resolved(*options_.step));
      const bool only_steps = Period{.steps = period.steps} == period && Period{.steps = unit.steps} == unit;
      if (only_steps) return period.steps % unit.steps == 0 ? Multiple::yes : Multiple::no;
      if (period.steps != 0 || unit.steps != 0) return Multiple::depends;
      if (options_.calendar) return options_.calendar->multiple(period, unit);
      // Days have the same length in most calendars, months and years do not.
      if (counts_days(period) != counts_days(unit)) return Multiple::depends;
      return Calendar().multiple(period, unit);
    } catch (const Failure&) {
      return Multiple::depends;  // out of range: the period is refused when it is used
    }
  }

  void offset() {
    const Timing& timing = file_.timing;
    if (!timing.sample_offset || timing.sample_offset->is_zero()) return;
    if (!timing.sample)
      return add("sample_offset", ErrorCode::invalid_argument,
                 fmt::format("sample_offset ({}) needs sample, the time between samples",
                             timing.sample_offset->text()));
    if (*timing.sample_offset == *timing.sample || is_shorter(*timing.sample, *timing.sample_offset))
      return add("sample_offset", ErrorCode::invalid_argument,
                 fmt::format("sample_offset ({}) must be shorter than sample ({})",
                             timing.sample_offset->text(), timing.sample->text()));
    against_step("sample_offset", timing.sample_offset);
  }

  void split() {
    const std::optional<Period>& period = file_.naming.split.period;
    if (!period || !is_shorter(*period, *file_.timing.every)) return;
    add("split", ErrorCode::invalid_argument,
        fmt::format(
            "split ({}) is shorter than every ({}), so that files would have no record; write a longer "
            "split, or \"1 records\"",
            period->text(), file_.timing.every->text()));
  }

  const File& file_;
  const Pairs& properties_;
  const ReadOptions& options_;
  Problems& problems_;
};

/// A cycle among fields that all depend on one of the others.
std::vector<std::string> cycle_from(const std::string& start,
                                    const std::map<std::string, std::vector<std::string>>& left) {
  std::vector<std::string> path{start};
  std::map<std::string, std::size_t> places{{start, 0}};
  while (true) {
    const auto& operands = left.at(path.back());
    const auto next =
        std::ranges::find_if(operands, [&](const std::string& it) { return left.contains(it); });
    const auto [seen, fresh] = places.emplace(*next, path.size());
    if (!fresh) {
      path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(seen->second));
      return path;
    }
    path.push_back(*next);
  }
}

/// Removes fields whose operands are all known, as often as there are any. What is left depends on
/// a cycle.
std::map<std::string, std::vector<std::string>> dependent_on_cycles(const Description& description) {
  std::map<std::string, std::vector<std::string>> left;
  std::map<std::string, std::vector<std::string>> users;
  std::map<std::string, std::size_t> unknown;
  for (const Field& field : description.fields)
    if (!field.expression.empty()) left.emplace(field.name, field.operands);
  std::vector<std::string> known;
  for (const auto& [name, operands] : left) {
    std::size_t count = 0;
    for (const std::string& operand : operands) {
      if (!left.contains(operand)) continue;
      users[operand].push_back(name);
      ++count;
    }
    unknown[name] = count;
    if (count == 0) known.push_back(name);
  }
  while (!known.empty()) {
    const std::string name = std::move(known.back());
    known.pop_back();
    left.erase(name);
    for (const std::string& user : users[name])
      if (--unknown[user] == 0) known.push_back(user);
  }
  return left;
}

}  // namespace

bool has_records(const File& file) {
  return std::ranges::any_of(file.variables,
                             [](const Variable& it) { return it.operation != Operation::once; });
}

void check_file(const File& file, const Pairs& properties, const ReadOptions& options,
                const Description& description, Problems& problems) {
  FileCheck check(file, properties, options, problems);
  check.periods();
  check.alignment();
  check.time_units();
  check.name(description.case_name);
  check.contents();
}

void check_state_name(const Description& description, const ProblemReporter& report, const Node& node) {
  const auto tokens = state_name_tokens(description.state);
  if (!tokens) return report(node, tokens.error().code, tokens.error().message);
  const auto has = [&](std::string_view word) {
    return std::ranges::any_of(*tokens, [&](const NameToken& token) { return token.name == word; });
  };
  if (!has("date") && !has("step"))
    report(node, ErrorCode::conflict,
           fmt::format("all states would have the name \"{}\"; add {{date}} or {{step}}",
                       printable(description.state)));
  if (has("case") && description.case_name.empty())
    report(node, ErrorCode::invalid_argument, "{case} needs \"case:\" at the top of the description");
  const auto has_epochs = [](const File& file) { return file.active() && file.timing.epochs.has_value(); };
  if (std::ranges::none_of(description.files, has_epochs))
    report(node, ErrorCode::conflict,
           "states are saved at the epochs of files, and no file has epochs: give one of them a period, for "
           "example \"epochs: 1mo\"");
}

void check_file_names(const Description& description, Problems& problems) {
  std::map<std::string, const File*> taken;
  for (const File& file : description.files) {
    if (!file.active()) continue;
    const std::string period = file.timing.every && has_records(file) ? file.timing.every->text() : "fx";
    const FilePlace place = place_of(file);
    const std::string name = partial_name(place.name, {description.case_name, file.name, period, file.grid,
                                                       file.settings.store.value_or(default_format)});
    // "x", "./x" and "y/../x" are one file.
    std::string path = (std::filesystem::path(place.directory) / name).lexically_normal().string();
    const auto [earlier, fresh] = taken.emplace(std::move(path), &file);
    if (!fresh)
      problems.add(
          ErrorCode::conflict, file.at,
          fmt::format("the files \"{}\" (at {}) and \"{}\" would have the same name, \"{}\"; add {{file}} to "
                      "the key name, or another directory",
                      earlier->second->name, earlier->second->at.text(), file.name, printable(name)));
  }
}

void check_cycles(const Description& description, Problems& problems) {
  auto left = dependent_on_cycles(description);
  std::map<std::string, const Field*> fields;
  for (const Field& field : description.fields) fields.emplace(field.name, &field);
  constexpr int most_reported = 20;
  for (int reported = 0; reported < most_reported && !left.empty(); ++reported) {
    const std::vector<std::string> cycle = cycle_from(left.begin()->first, left);
    std::string text;
    for (const std::string& name : cycle) text += name + " needs ";
    problems.add(
        ErrorCode::conflict, fields.at(cycle.front())->expression_at,
        fmt::format("fields depend on themselves: {}{}; change one of the expressions", text, cycle.front()));
    // Fields that only depend on this cycle are not reported.
    Description rest;
    for (const Field& field : description.fields)
      if (left.contains(field.name) && std::ranges::find(cycle, field.name) == cycle.end())
        rest.fields.push_back(field);
    left = dependent_on_cycles(rest);
  }
}

}  // namespace afterbay::describe
