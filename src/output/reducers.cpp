// SPDX-License-Identifier: Apache-2.0
#include "output/reducers.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/processors.hpp"
#include "model/converted_values.hpp"
#include "model/fill_value.hpp"
#include "output/agreement.hpp"
#include "output/refuse.hpp"
#include "output/result_type.hpp"
#include "output/sample_records.hpp"
#include "session/state.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

using describe::Reducer;

/// Whether ranks hand over samples without a network, and what they leave to servers.
struct Nearness {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::server_nearness);
  std::uint8_t shares_memory = 0;
  std::uint32_t processes = 0;  ///< see Processors
  std::uint32_t online = 0;
  std::uint8_t apart = 0;
  std::vector<std::uint64_t> allowed;
  template <class A>
  void fields(A& a) {
    a(shares_memory, processes, online, apart, allowed);
  }
  [[nodiscard]] Processors processors() const { return {processes, online, apart != 0, allowed}; }
};

struct Verdict {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::server_verdict);
  std::uint8_t servers = 0;
  template <class A>
  void fields(A& a) {
    a(servers);
  }
};

Nearness nearness_of(bool shares_memory, Processors processors) {
  return {static_cast<std::uint8_t>(shares_memory ? 1 : 0), processors.processes, processors.online,
          static_cast<std::uint8_t>(processors.apart ? 1 : 0), std::move(processors.allowed)};
}

/// Whether all ranks share memory with all servers, and so are on one node, which has a processor
/// for each rank and each server. Servers that have to share them with ranks delay these: computing
/// there takes as long as in the ranks, and handing over comes on top.
bool servers_are_near(Session& session) {
  const Session::State& of = session.state();
  // A server that a model rank hosts would take the time from the model; behind frontends there is
  // a network.
  if (of.config->servers.topology != config::Topology::dedicated) return false;
  AgreementSteps<Nearness, Verdict> steps;
  steps.join = [](Nearness& mine, const Nearness& theirs) {
    Processors all = mine.processors();
    all.join(theirs.processors());
    mine = nearness_of(mine.shares_memory != 0 && theirs.shares_memory != 0, std::move(all));
  };
  const auto servers = static_cast<std::uint32_t>(of.servers);
  steps.decide = [servers](const Nearness& all) {
    const bool near = all.shares_memory != 0 && all.processors().suffice_for(servers);
    return Verdict{static_cast<std::uint8_t>(near ? 1 : 0)};
  };
  return agree(session, "who computes expressions and statistics over time",
               nearness_of(of.model->puts().shares_memory(), own_processors()), steps)
             .servers != 0;
}

/// Expressions that servers compute for one variable, with those inside: results of all of them are
/// in the caches at once.
constexpr std::size_t most_steps_of_expressions = 100;

/// Whether the model puts the series, or one of which it is a subset.
bool is_given(const Series& series) {
  if (const auto* const subset = dynamic_cast<const Subset*>(&series)) return is_given(subset->of());
  return !series.is_computed() && !series.is_reduced();
}

/// Why servers cannot compute the expression for these variables; empty: they can.
std::string obstacle(const Computed& computed, const std::vector<Writer*>& writers) {
  const Type type = writers.front()->variable().type;
  if (type != Type::float32 && type != Type::float64) return "it is not of type float32 or float64";
  if (std::ranges::all_of(computed.leaves(), &Series::is_constant))
    return "it is computed from coordinates only";
  if (computed.steps().size() > most_steps_of_expressions)
    return fmt::format("it is computed through more than {} other expressions",
                       most_steps_of_expressions - 1);
  for (const Series* const operand : computed.leaves()) {
    if (operand->is_reduced()) return "it is computed from statistics over time";
    if (!is_given(*operand)) return "it is computed from a reduction over dimensions";
    if (operand->form().type != type)
      return fmt::format("'{}' has values of type {}, and the variable is of type {}", operand->name(),
                         name_of(operand->form().type), name_of(type));
  }
  for (const Writer* const writer : writers)
    if (writer->variable().type != type) return "it is written in several types";
  return "";
}

/// The number of the statistic that is written.
std::size_t number_of(const SeriesStatistics& statistics, const Writer& writer) {
  const auto& results = statistics.results();
  const auto result =
      std::ranges::find_if(results, [&](const auto& some) { return some.get() == &writer.of(); });
  return static_cast<std::size_t>(result - results.begin());
}

/// Why servers cannot compute it; empty: they can.
std::string obstacle(const SeriesStatistics& statistics, const Computed* computed,
                     const std::vector<Writer*>& writers) {
  if (computed == nullptr && (!is_given(statistics.of()) || statistics.of().is_constant()))
    return "it is a statistic of a coordinate, or of a reduction";
  if (statistics.schedule().cycle()) return "its periods are folded (cycle)";
  if (statistics.schedule().text() != writers.front()->files().schedule()->text())
    return "its samples are not those of the file";
  if (statistics.finer() != nullptr || statistics.is_finer())
    return "statistics over other periods are computed together with it";
  for (const Writer* const writer : writers) {
    if (&writer->files() != &writers.front()->files()) return "it goes into several files";
    const Type type = writer->variable().type;
    const bool keeps_type = computed != nullptr || type == statistics.taken().type ||
                            may_widen(statistics.taken().type, type,
                                      statistics.statistic(number_of(statistics, *writer)).operation);
    if (!writer->is_plain() || !keeps_type) return "its values are converted to another type or other units";
    if (size_of(type) != 4 && size_of(type) != 8) return "it has values of less than 4 bytes";
  }
  return computed == nullptr ? "" : obstacle(*computed, writers);
}

[[noreturn]] void refuse_servers(const describe::File& file, bool is_statistic, const std::string& what,
                                 const std::string& why) {
  // The key that asks for it. A statistic of an expression has both.
  const bool by_statistics = is_statistic && file.statistics == Reducer::servers;
  refuse_at(
      file.at, ErrorCode::conflict,
      "the file \"{0}\" has {1}: servers, but servers cannot compute {2}: {3}. Write {1}: auto or model",
      file.name, by_statistics ? "statistics" : "expressions", what, why);
}

/// The processes that are asked to compute a statistic of an expression.
Reducer wish_for_both(const describe::File& file, const std::string& what) {
  const bool asks = file.statistics == Reducer::servers || file.expressions == Reducer::servers;
  if (file.statistics == Reducer::model && asks)
    refuse_servers(file, true, what, "the statistic is left to the model (statistics: model)");
  if (file.expressions == Reducer::model && asks)
    refuse_servers(file, true, what, "the expression is left to the model (expressions: model)");
  if (asks) return Reducer::servers;
  const bool leaves = file.statistics == Reducer::model || file.expressions == Reducer::model;
  return leaves ? Reducer::model : Reducer::automatic;
}

}  // namespace

std::string Reducers::Candidate::name() const {
  return statistics == nullptr ? fmt::format("'{}'", computed->name())
                               : "the " + statistics->results().front()->name();
}

Reducers::Reducers(Plan& plan, Session* session) : plan_(plan) {
  std::map<FileSeries*, OfFile> near;  // with `auto`
  std::map<const FileSeries*, FileSeries*> files_of_plan;
  for (const auto& file : plan.files) files_of_plan.emplace(file.get(), file.get());
  for (const auto& it : plan.computed) computed_.emplace(it.get(), it.get());
  for (const auto& it : plan.writers) writers_[&it->of()].push_back(it.get());
  const auto series_of = [&](const Candidate& it) { return files_of_plan.at(&it.writers.front()->files()); };
  const auto consider = [&](Candidate candidate, Reducer wish, std::string why) {
    FileSeries* const files = series_of(candidate);
    if (wish == Reducer::model) return;
    candidate.is_demanded = wish == Reducer::servers;
    OfFile& of = candidate.is_demanded ? by_file_[files] : near[files];
    if (why.empty() && candidate.computed != nullptr && !add_sources(of, *candidate.computed))
      why = fmt::format("the expressions of the file compute with more than {} fields",
                        SampleRecords::most_sources);
    if (why.empty())
      of.candidates.push_back(std::move(candidate));
    else if (candidate.is_demanded)
      refuse_servers(files->file(), candidate.statistics != nullptr, candidate.name(), why);
  };
  for (const auto& some : plan.statistics) {
    Candidate candidate{some.get(), find_computed(some->of()), {}};
    bool all_written = !some->results().empty();
    for (const auto& result : some->results()) {
      const std::vector<Writer*> writers = writers_of(*result);
      all_written = all_written && writers.size() == result->uses().size() && !writers.empty();
      candidate.writers.insert(candidate.writers.end(), writers.begin(), writers.end());
    }
    if (candidate.writers.empty()) continue;
    const describe::File& file = candidate.writers.front()->files().file();
    const Reducer wish =
        candidate.computed == nullptr ? file.statistics : wish_for_both(file, candidate.name());
    const std::string why = all_written ? obstacle(*some, candidate.computed, candidate.writers)
                                        : "other fields are computed from it";
    consider(std::move(candidate), wish, why);
  }
  for (const auto& some : plan.computed)
    for (Writer* const writer : writers_of(*some)) {
      if (writer->variable().kind == TimeKind::once) continue;
      Candidate candidate{nullptr, some.get(), {writer}};
      std::string why = obstacle(*some, candidate.writers);
      // Servers would give zeros another sign than the model, which does not convert.
      if (why.empty() && writer->is_plain()) why = "its missing values are NaN";
      consider(std::move(candidate), writer->files().file().expressions, why);
    }
  drop_computed_here(near);
  std::erase_if(near, [](const auto& entry) { return entry.second.candidates.empty(); });
  std::erase_if(by_file_, [](const auto& entry) { return entry.second.candidates.empty(); });
  if (session == nullptr)
    for (const auto& file : plan.files)
      if (const auto found = near.find(file.get()); found != near.end())
        for (const Candidate& it : found->second.candidates)
          for (const Writer* const writer : it.writers)
            undecided_.push_back(fmt::format("{} in {}", writer->variable().name, file->file().name));
  if (near.empty() || session == nullptr || !servers_are_near(*session)) return;
  for (auto& [file, of] : near)
    for (Candidate& candidate : of.candidates) {
      OfFile& all = by_file_[file];
      if (candidate.computed == nullptr || add_sources(all, *candidate.computed))
        all.candidates.push_back(std::move(candidate));
    }
}

/// The model computes an expression once for all. What it computes in any case takes less to hand
/// over than its operands.
void Reducers::drop_computed_here(std::map<FileSeries*, OfFile>& near) const {
  const auto is_left = [&](const std::map<const Computed*, std::size_t>& left, const Computed* of) {
    return left.at(of) >= of->uses().size();
  };
  bool has_dropped = true;
  while (has_dropped) {
    has_dropped = false;
    std::map<const Computed*, std::size_t> left;  // uses of which servers take care
    const auto count = [&](const std::map<FileSeries*, OfFile>& files) {
      for (const auto& [file, of] : files)
        for (const Candidate& it : of.candidates)
          if (it.computed != nullptr) ++left[it.computed];
    };
    count(near);
    count(by_file_);
    // Expressions that compute with others come behind them.
    for (auto at = plan_.computed.rbegin(); at != plan_.computed.rend(); ++at) {
      const auto& some = *at;
      left.try_emplace(some.get(), 0);
      if (!is_left(left, some.get())) continue;
      for (const Series* const operand : some->operands())
        if (const Computed* const inner = find_computed(*operand)) ++left[inner];
    }
    for (auto& [file, of] : near)
      has_dropped |= std::erase_if(of.candidates, [&](const Candidate& it) {
                       return it.computed != nullptr &&
                              !std::ranges::all_of(it.computed->steps(), [&](const Computed::Step& step) {
                                return is_left(left, step.of);
                              });
                     }) > 0;
  }
}

bool Reducers::add_sources(OfFile& of, const Computed& computed) {
  std::vector<const Series*> all = of.sources;
  for (const Series* const operand : computed.leaves())
    if (std::ranges::find(all, operand) == all.end()) all.push_back(operand);
  if (all.size() > SampleRecords::most_sources) return false;
  of.sources = std::move(all);
  return true;
}

std::size_t Reducers::source_of(const OfFile& of, const Series& series) {
  return static_cast<std::size_t>(std::ranges::find(of.sources, &series) - of.sources.begin()) + 1;
}

/// Null: it is no expression.
Computed* Reducers::find_computed(const Series& series) const {
  const auto found = computed_.find(&series);
  return found == computed_.end() ? nullptr : found->second;
}

std::vector<Writer*> Reducers::writers_of(const Series& series) const {
  const auto found = writers_.find(&series);
  return found == writers_.end() ? std::vector<Writer*>() : found->second;
}

Reduction Reducers::reduction_of(const OfFile& of, const Candidate& candidate, const Writer& writer) {
  Reduction made;
  made.variable = writer.variable().name;
  made.is_demanded = candidate.is_demanded;
  if (candidate.statistics != nullptr) {
    const Form& form = candidate.statistics->taken();
    made.statistic = candidate.statistics->statistic(number_of(*candidate.statistics, writer));
    made.missing = form.missing.empty() ? model::default_fill(form.type) : form.missing;
    // Servers get samples in the type of the variable, which holds them exactly.
    if (candidate.computed == nullptr)
      made.missing = model::converted(made.missing, writer.variable().type).value();
  }
  if (candidate.computed == nullptr) return made;
  Reduction::Formula& formula = made.formula.emplace();
  for (Computed::Step& step : candidate.computed->steps())
    formula.steps.push_back({step.of->formula().text, std::move(step.operands)});
  if (candidate.statistics == nullptr) formula.units = writer.units();
  for (const Series* const operand : candidate.computed->leaves())
    formula.operands.push_back({source_of(of, *operand), operand->is_constant(), operand->form().missing});
  return made;
}

std::vector<Reduction> Reducers::of(const FileSeries& file) const {
  std::vector<Reduction> reductions;
  const auto found = std::ranges::find_if(by_file_, [&](const auto& entry) { return entry.first == &file; });
  if (found == by_file_.end()) return reductions;
  for (const Candidate& it : found->second.candidates)
    for (const Writer* const writer : it.writers)
      reductions.push_back(reduction_of(found->second, it, *writer));
  return reductions;
}

void Reducers::apply() const {
  for (const auto& [file, of] : by_file_)
    for (const Candidate& it : of.candidates)
      if (file->target().reduces(it.is_demanded))
        leave(*file, of, it);
      else if (it.is_demanded)
        refuse_servers(file->file(), it.statistics != nullptr, it.name(), file->target().why_not_reduced());
}

void Reducers::leave(FileSeries& file, const OfFile& of, const Candidate& candidate) {
  if (candidate.statistics != nullptr) {
    std::vector<SeriesStatistics::InFile> variables;
    for (const Writer* const writer : candidate.writers)
      variables.push_back(
          {writer->number(), number_of(*candidate.statistics, *writer), writer->variable().type});
    candidate.statistics->leave_to_servers(file.samples(), std::move(variables),
                                           candidate.computed != nullptr);
  }
  if (candidate.computed == nullptr) return;
  Computed::InFile in{&file.samples(), {}, candidate.statistics, {}};
  if (candidate.statistics == nullptr) {
    in.consumer = candidate.writers.front();
    candidate.writers.front()->leave_to_servers();
  }
  for (const Writer* const writer : candidate.writers) in.variables.push_back(writer->number());
  for (const Series* const operand : candidate.computed->leaves())
    in.sources.push_back(source_of(of, *operand));
  candidate.computed->leave_to_servers(std::move(in));
}

}  // namespace afterbay::output
