// SPDX-License-Identifier: Apache-2.0
#include "session/codec_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/new_file.hpp"
#include "base/printable.hpp"
#include "observe/progress.hpp"

namespace afterbay::session {
namespace {

/// What all servers measured for one collection.
struct Joined {
  std::string collection;
  std::set<std::int32_t> servers;
  double writers = 0;        ///< writers of the servers that measured
  bool has_threads = false;  ///< any of the servers
  std::uint64_t records = 0;
  double first_s = 0, last_s = 0;
  double bytes = 0;  ///< size of a record
  double measured_bytes = 0;
  std::uint32_t chains = 0;
  std::vector<codec::Trial> trials;

  [[nodiscard]] double every_s() const {
    return records < 2 ? 0 : (last_s - first_s) / static_cast<double>(records - 1);
  }
  [[nodiscard]] double bytes_per_s() const { return every_s() > 0 ? bytes / every_s() : 0; }
};

codec::FilterLevels levels_of(const observe::ChainRecord& chain) {
  codec::FilterLevels levels;
  for (const observe::FilterRecord& it : chain.filters) levels.emplace_back(it.codec, it.level);
  return levels;
}

/// Chains that all servers have tried. `scale`: of each server's figures.
void join_trials(Joined& all, const observe::CodecTrialRecord& more, double scale, bool is_first) {
  std::vector<codec::Trial> both;
  for (const observe::ChainRecord& chain : more.trials) {
    codec::Trial trial{levels_of(chain), chain.seconds * scale, chain.bytes * scale};
    if (!is_first) {
      const auto known = std::ranges::find(all.trials, trial.filters, &codec::Trial::filters);
      if (known == all.trials.end()) continue;
      trial.seconds += known->seconds;
      trial.bytes += known->bytes;
    }
    both.push_back(std::move(trial));
  }
  all.trials = std::move(both);
}

Joined join(const std::string& collection, std::span<const observe::ServerHistory> servers) {
  Joined all;
  all.collection = collection;
  std::vector<const observe::CodecTrialRecord*> records;
  for (const observe::ServerHistory& server : servers)
    for (const observe::CodecTrialRecord& it : server.codecs)
      if (it.collection == collection && it.records > 0) {
        records.push_back(&it);
        all.servers.insert(server.server);
      }
  std::size_t measured = 0;
  for (const observe::CodecTrialRecord* const it : records) {
    all.first_s = all.first_s == 0 ? it->first_s : std::min(all.first_s, it->first_s);
    all.last_s = std::max(all.last_s, it->last_s);
    all.records = it->shared != 0 ? std::max(all.records, it->records) : all.records + it->records;
    all.chains = std::max(all.chains, it->chains);
    all.has_threads = all.has_threads || it->writers > 0;
    if (it->measured_bytes == 0) continue;
    all.writers += it->writers;
    all.measured_bytes += it->measured_bytes;
    ++measured;
  }
  bool is_first = true;
  for (const observe::CodecTrialRecord* const it : records) {
    if (it->measured_bytes == 0) continue;
    // Servers that write whole records measure the same thing: the mean of what they found counts.
    const double scale = it->shared != 0 ? 1 : 1 / static_cast<double>(measured);
    all.bytes += it->bytes * scale;
    join_trials(all, *it, scale, is_first);
    is_first = false;
  }
  return all;
}

bool share_servers(const Joined& a, const Joined& b) {
  return std::ranges::any_of(a.servers, [&](std::int32_t it) { return b.servers.contains(it); });
}

/// Collections of the same servers share their writers' time by their bytes.
double share_of(const Joined& it, const std::vector<Joined>& all) {
  double together = 0;
  for (const Joined& other : all)
    if (share_servers(it, other)) together += other.bytes_per_s();
  return together > 0 ? codec::usual_share * it.bytes_per_s() / together : 0;
}

std::string count_text(double count, const char* noun) {
  return fmt::format("{:g} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string no_choice(const Joined& it) {
  if (it.every_s() <= 0)
    return fmt::format("nothing was chosen: {}, and the time between records is needed",
                       it.records == 0   ? "no record came"
                       : it.records == 1 ? "one record came"
                                         : "all records came at once");
  if (!it.has_threads)
    return "nothing was chosen: the servers have no threads that could measure (inline.mode: synchronous)";
  if (it.measured_bytes == 0)
    return "nothing was chosen: nothing was measured, because no variable with records is compressed, or "
           "other collections took the memory for copies";
  return "nothing was chosen: the session ended before a chain of filters was tried on all that was to be "
         "measured";
}

CodecChoice choose(const Joined& it, const std::vector<Joined>& all) {
  CodecChoice choice;
  choice.collection = it.collection;
  choice.trials = it.trials;
  const auto is_plain = [](const codec::Trial& trial) { return trial.filters.empty(); };
  const bool tried =
      std::ranges::any_of(it.trials, std::not_fn(is_plain)) && std::ranges::any_of(it.trials, is_plain);
  const double budget_s = it.every_s() * it.writers * share_of(it, all);
  if (!tried || budget_s <= 0) {
    choice.why = no_choice(it);
    return choice;
  }
  choice.filters = it.trials[codec::choose(it.trials, budget_s)].filters;
  choice.table = codec::table_of(it.trials, *choice.filters, budget_s, it.bytes);
  choice.why = fmt::format(
      "a record has {} and comes every {:.3g} s, in which {} {} {:.3g} s to encode it; {} of {} chains of "
      "filters were tried on {}{}",
      observe::text_of_bytes(it.bytes), it.every_s(), count_text(it.writers, "writer"),
      it.writers == 1 ? "has" : "have", budget_s, it.trials.size(), it.chains,
      observe::text_of_bytes(it.measured_bytes),
      it.trials.size() < it.chains ? ", before the session ended" : "");
  return choice;
}

}  // namespace

std::vector<CodecChoice> choose_codecs(std::span<const observe::ServerHistory> servers) {
  std::vector<Joined> all;
  for (const observe::ServerHistory& server : servers)
    for (const observe::CodecTrialRecord& it : server.codecs)
      if (std::ranges::find(all, it.collection, &Joined::collection) == all.end())
        all.push_back(join(it.collection, servers));
  std::vector<CodecChoice> choices;
  for (const Joined& it : all) choices.push_back(choose(it, all));
  return choices;
}

std::string yaml_of(const CodecChoice& choice) {
  return fmt::format(
      "# Chosen by Afterbay (compress) from what the I/O servers measured of the first records, with the\n"
      "# processor time of one core: {}.\n#\n{}#\n"
      "# The smallest files among those in time. No filter changes values. Sessions with compress use this\n"
      "# file as it is; remove it to measure again.\n{}",
      choice.why, choice.table, codec::settings_of(choice.collection, *choice.filters));
}

std::vector<std::string> keep_choices(std::vector<observe::CollectionRecord>& collections,
                                      std::span<const observe::ServerHistory> servers,
                                      std::vector<std::string>& warnings) {
  std::vector<std::string> lines;
  const std::vector<CodecChoice> choices = choose_codecs(servers);
  for (observe::CollectionRecord& collection : collections) {
    observe::CompressRecord& record = collection.compress;
    if (record.path.empty()) continue;
    if (record.measured == 0) {
      record.why = fmt::format("as an earlier session chose: {}", printable(record.path));
      continue;
    }
    const auto choice = std::ranges::find(choices, collection.name, &CodecChoice::collection);
    if (choice == choices.end()) {
      record.why = "nothing was chosen: no record came";
      continue;
    }
    record.why = choice->why;
    record.table = choice->table;
    for (const codec::Trial& it : choice->trials) {
      observe::ChainRecord& chain = record.trials.emplace_back();
      for (const auto& [name, level] : it.filters) chain.filters.push_back({name, level});
      chain.seconds = it.seconds;
      chain.bytes = it.bytes;
    }
    if (!choice->filters) continue;
    record.chosen = codec::text_of(*choice->filters);
    if (const int code = replace_file(record.path, yaml_of(*choice)); code != 0)
      warnings.push_back(fmt::format(
          "the filters that were chosen for the collection '{}' ({}) could not be written to {}, and later "
          "sessions will measure again: {}",
          collection.name, record.chosen, printable(record.path), std::strerror(code)));
    else
      lines.push_back(fmt::format("{}: later sessions write with {}, see {}", printable(collection.name),
                                  record.chosen, printable(record.path)));
  }
  return lines;
}

}  // namespace afterbay::session
