// SPDX-License-Identifier: Apache-2.0
#include "output/reducers.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/processors.hpp"
#include "model/fill_value.hpp"
#include "output/agreement.hpp"
#include "output/refuse.hpp"
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
  if (of.config->topology != config::Topology::dedicated) return false;
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
  return agree(session, "who computes statistics over time",
               nearness_of(of.model->puts().shares_memory(), own_processors()), steps)
             .servers != 0;
}

/// Why servers cannot compute it; empty: they can.
std::string obstacle(const Statistics& statistics, const std::vector<const Writer*>& writers) {
  if (statistics.of().is_reduced() || (dynamic_cast<const Source*>(&statistics.of()) == nullptr &&
                                       dynamic_cast<const Subset*>(&statistics.of()) == nullptr))
    return "it is a statistic of an expression";
  if (statistics.schedule().cycle()) return "its periods are folded (cycle)";
  if (statistics.finer() != nullptr || statistics.is_finer())
    return "statistics over other periods are computed together with it";
  const std::size_t element = size_of(statistics.taken().type);
  if (element != 4 && element != 8) return "its field has values of less than 4 bytes";
  for (const Writer* const writer : writers) {
    if (&writer->files() != &writers.front()->files()) return "it goes into several files";
    if (!writer->keeps_values()) return "its values are converted to another type or other units";
  }
  return "";
}

/// Of the statistic that is written.
std::size_t number_of(const Statistics& statistics, const Writer& writer) {
  const auto& results = statistics.results();
  const auto result =
      std::ranges::find_if(results, [&](const auto& some) { return some.get() == &writer.of(); });
  return static_cast<std::size_t>(result - results.begin());
}

[[noreturn]] void refuse_servers(const describe::File& file, const std::string& what,
                                 const std::string& why) {
  refuse_at(
      file.at, ErrorCode::conflict,
      "the file \"{}\" has statistics: servers, but servers cannot compute the {}: {}. Write statistics: "
      "auto or model",
      file.name, what, why);
}

}  // namespace

Reducers::Reducers(Plan& plan, Session* session) {
  std::map<FileSeries*, std::vector<Candidate>> near;  // with `auto`
  for (const auto& some : plan.statistics) {
    Candidate candidate{some.get(), {}};
    bool all_written = !some->results().empty();
    for (const auto& result : some->results()) {
      const std::vector<const Writer*> writers = writers_of(plan, *result);
      all_written = all_written && writers.size() == result->uses().size() && !writers.empty();
      candidate.writers.insert(candidate.writers.end(), writers.begin(), writers.end());
    }
    if (candidate.writers.empty()) continue;
    const describe::File& file = candidate.writers.front()->files().file();
    const auto series = std::ranges::find_if(
        plan.files, [&](const auto& it) { return it.get() == &candidate.writers.front()->files(); });
    const std::string why =
        all_written ? obstacle(*some, candidate.writers) : "other fields are computed from it";
    if (!why.empty() && file.statistics == Reducer::servers)
      refuse_servers(file, some->results().front()->name(), why);
    if (!why.empty() || file.statistics == Reducer::model) continue;
    (file.statistics == Reducer::servers ? by_file_ : near)[series->get()].push_back(std::move(candidate));
  }
  if (session == nullptr)
    for (const auto& file : plan.files)
      if (near.contains(file.get())) undecided_.push_back(file->file().name);
  if (!near.empty() && session != nullptr && servers_are_near(*session)) by_file_.merge(near);
}

std::vector<const Writer*> Reducers::writers_of(const Plan& plan, const Reduced& result) {
  std::vector<const Writer*> writers;
  for (const auto& writer : plan.writers)
    if (&writer->of() == &result) writers.push_back(writer.get());
  return writers;
}

std::vector<Reduction> Reducers::of(const FileSeries& file) const {
  std::vector<Reduction> reductions;
  const auto found = std::ranges::find_if(by_file_, [&](const auto& entry) { return entry.first == &file; });
  if (found == by_file_.end()) return reductions;
  for (const Candidate& it : found->second)
    for (const Writer* const writer : it.writers) {
      const Form& form = it.statistics->taken();
      reductions.push_back({file.variables()[writer->number()].name,
                            it.statistics->statistic(number_of(*it.statistics, *writer)),
                            form.missing.empty() ? model::default_fill(form.type) : form.missing});
    }
  return reductions;
}

void Reducers::apply() const {
  for (const auto& [file, candidates] : by_file_) {
    if (!file->target().reduces()) {
      if (file->file().statistics == Reducer::servers)
        refuse_servers(file->file(), candidates.front().statistics->results().front()->name(),
                       file->target().why_not_reduced());
      continue;
    }
    for (const Candidate& it : candidates) {
      std::vector<Statistics::InFile> variables;
      for (const Writer* const writer : it.writers)
        variables.push_back({writer->number(), number_of(*it.statistics, *writer)});
      it.statistics->leave_to_servers(*file, std::move(variables));
    }
  }
}

}  // namespace afterbay::output
