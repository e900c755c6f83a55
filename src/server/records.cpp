// SPDX-License-Identifier: Apache-2.0
#include "server/records.hpp"

#include <algorithm>

#include "base/caller_terms.hpp"
#include "base/rank_names.hpp"

namespace afterbay::server {

std::string text_of_ranks(const std::vector<int>& ranks) { return "model " + name_ranks(ranks); }

std::string RecordPart::record_text() const {
  return fixed ? "" : fmt::format(" of record {}", said_index(record));
}

namespace {

std::string text_of(const RecordHead& it, const std::function<std::string(std::uint64_t file)>& path_of) {
  if (it.is_sample()) return fmt::format("samples number {}", it.record);
  const std::string file = path_of ? path_of(it.file) : fmt::format("file number {}", it.file);
  if (it.fixed) return fmt::format("the variables without records of {}", file);
  return fmt::format("record {} of {}", said_index(it.record), file);
}

/// Why ranks whose flush or epoch is in the middle of a step may hand over different records.
std::string cut_advice(const std::string& who) {
  return fmt::format(
      "{} called flush or epoch in the middle of a step, which ended the records that it had begun. A rank "
      "that has opened endpoints ends them only with the step. Call flush and epoch on all ranks between "
      "two steps, right after end_step",
      who);
}

/// " (variable 'ps')", if a rank has put one already.
std::string text_of_put(const Record& it, const ServedCollection& collection) {
  for (std::size_t v = 0; v < it.put.size(); ++v)
    if (!it.put[v].empty()) return fmt::format(" (variable '{}')", collection.schema.variables[v].name);
  return "";
}

}  // namespace

Result<> Records::begin(std::size_t peer, const wire::BeginRecord& message, std::uint64_t epochs,
                        const std::function<std::string(std::uint64_t file)>& path_of) {
  const ServedCollection* collection = catalog_.find(message.collection);
  if (collection == nullptr)
    return fail(ErrorCode::internal,
                "model rank {} began a record of collection {}, which is not defined here", peer,
                message.collection);
  auto [at, is_new] = records_[message.collection].try_emplace(message.seq);
  Record& it = at->second;
  if (is_new) {
    it.file = message.file;
    it.record = message.record;
    it.fixed = message.meaning == wire::RecordKind::fixed;
    it.meaning = message.meaning;
    it.source = message.source;
    it.more_of_step = message.more_of_step;
    it.duration = message.duration;
    it.progress = message.progress;
    it.epochs = epochs;
    it.begun_by = peer;
    it.scheduled.resize(collection->frames());
    it.put.resize(collection->schema.variables.size());
    return {};
  }
  if (it.file == message.file && it.record == message.record && it.meaning == message.meaning &&
      it.source == message.source && it.more_of_step == message.more_of_step &&
      it.duration == message.duration && it.progress == message.progress)
    return {};
  RecordHead theirs;
  theirs.file = message.file;
  theirs.record = message.record;
  theirs.fixed = message.meaning == wire::RecordKind::fixed;
  const bool differ = theirs.file != it.file || theirs.record != it.record || theirs.fixed != it.fixed;
  if (!differ)
    return fail(
        make_error(ErrorCode::conflict,
                   "model rank {} states another duration, meaning or progress than other ranks for {} "
                   "of collection '{}'",
                   peer, text_of(it, path_of), collection->name)
            .at_rank(catalog_.session_rank(peer)));
  const bool cut = cut_before(peer, message.collection, message.seq);
  const bool others_cut = cut_before(it.begun_by, message.collection, message.seq);
  const std::string why =
      cut == others_cut
          ? "every rank must begin the same records in the same order. A record begins with its first put, "
            "whichever thread makes it. The order also differs if a rank leaves out a record"
          : cut_advice(text_of_ranks({static_cast<int>(cut ? peer : it.begun_by)}));
  return fail(make_error(ErrorCode::conflict,
                         "model rank {} hands over {} where other ranks (first model rank {}) hand over "
                         "{}{}, of collection '{}': {}",
                         peer, text_of(theirs, path_of), it.begun_by, text_of(it, path_of),
                         text_of_put(it, *collection), collection->name, why)
                  .in_file(path_of && !theirs.is_sample() ? path_of(theirs.file) : "")
                  .at_rank(catalog_.session_rank(peer)));
}

Result<> Records::put(std::size_t peer, const wire::Put& message) {
  Record* it = find(message.collection, message.seq);
  const ServedCollection* collection = catalog_.find(message.collection);
  if (it == nullptr || collection == nullptr || message.variable >= it->put.size())
    return fail(ErrorCode::internal, "model rank {} handed over a variable of a record that is not open here",
                peer);
  std::vector<bool>& ranks = it->put[message.variable];
  if (ranks.empty()) ranks.resize(catalog_.ranks());
  if (ranks[peer])
    return fail(
        Error(ErrorCode::conflict,
              fmt::format("model rank {} handed over variable '{}' twice for record {} (one step)", peer,
                          collection->schema.variables[message.variable].name, said_index(it->record)))
            .in_variable(collection->schema.variables[message.variable].name)
            .at_rank(catalog_.session_rank(peer)));
  if (catalog_.contributes(*collection, message.variable, peer)) ranks[peer] = true;
  last_.resize(catalog_.ranks());
  last_[peer] = {collection, message.variable, it->file, it->record, it->fixed};
  return {};
}

void Records::put_strings(std::size_t peer, const ServedCollection& collection,
                          const wire::PutStrings& message) {
  last_.resize(catalog_.ranks());
  const bool fixed = !collection.layout->variables[message.variable].record;
  last_[peer] = {&collection, message.variable, message.file, message.record, fixed};
}

std::vector<std::uint64_t> Records::end(std::size_t peer, std::uint32_t collection, std::uint64_t next_seq,
                                        bool within_step) {
  std::vector<std::uint64_t>& bounds = bounds_[collection];
  if (bounds.empty()) bounds.resize(catalog_.ranks(), 0);
  std::vector<std::uint64_t> complete;
  auto& records = records_[collection];
  for (auto it = records.lower_bound(bounds[peer]); it != records.end() && it->first < next_seq; ++it) {
    if (within_step) {
      it->second.cut_by.resize(catalog_.ranks());
      it->second.cut_by[peer] = true;
    }
    if (++it->second.ended_by == catalog_.ranks()) complete.push_back(it->first);
  }
  bounds[peer] = std::max(bounds[peer], next_seq);
  if (within_step) {
    std::vector<std::uint64_t>& cuts = cuts_[collection];
    cuts.resize(catalog_.ranks());
    cuts[peer] = bounds[peer] + 1;
  }
  return complete;
}

bool Records::cut_before(std::size_t peer, std::uint32_t collection, std::uint64_t seq) const {
  const auto at = cuts_.find(collection);
  return at != cuts_.end() && at->second[peer] == seq + 1;
}

Result<> Records::check_epoch(std::size_t peer, std::uint64_t number, const std::string& name) const {
  for (const auto& [id, records] : records_)
    for (const auto& [seq, record] : records)
      if (record.epochs >= number && !record.cut_by.empty() && record.cut_by[peer])
        return fail(make_error(ErrorCode::conflict,
                               "model rank {} has put {} of collection '{}' before epoch '{}', model rank {} "
                               "after it{}",
                               peer,
                               record.fixed ? "the variables without records"
                                            : fmt::format("record {}", said_index(record.record)),
                               catalog_.find(id)->name, name, record.begun_by,
                               cut_text(record, {static_cast<int>(peer)}))
                        .at_rank(catalog_.session_rank(peer)));
  return {};
}

std::string Records::cut_text(const Record& record, const std::vector<int>& peers) const {
  std::vector<int> cut;
  for (std::size_t r = 0; r < record.cut_by.size(); ++r)
    if (const int rank = static_cast<int>(r);
        record.cut_by[r] && (peers.empty() || std::ranges::find(peers, rank) != peers.end()))
      cut.push_back(rank);
  return cut.empty() ? "" : ". " + cut_advice(text_of_ranks(cut));
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> Records::bounds(std::size_t peer) const {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> list;
  for (const auto& [collection, bounds] : bounds_) list.emplace_back(collection, bounds[peer]);
  return list;
}

std::vector<int> Records::not_ended(std::uint32_t collection, std::uint64_t seq) const {
  std::vector<int> ranks;
  const auto at = bounds_.find(collection);
  for (std::size_t r = 0; r < catalog_.ranks(); ++r)
    if (at == bounds_.end() || at->second[r] <= seq) ranks.push_back(static_cast<int>(r));
  return ranks;
}

std::optional<RecordPart> Records::awaited_from(std::size_t peer) const {
  for (const auto& [id, records] : records_) {
    const ServedCollection& collection = *catalog_.find(id);
    for (const auto& [seq, record] : records)
      for (std::uint32_t v = 0; v < record.put.size(); ++v)
        if (!record.put[v].empty() && !record.put[v][peer] && catalog_.contributes(collection, v, peer))
          return RecordPart{record.file, collection.schema.variables[v].name, record.record, record.fixed};
  }
  return std::nullopt;
}

std::optional<RecordPart> Records::last_put(std::size_t peer) const {
  if (peer >= last_.size() || last_[peer].collection == nullptr) return std::nullopt;
  const LastPut& it = last_[peer];
  return RecordPart{it.file, it.collection->schema.variables[it.variable].name, it.record, it.fixed};
}

Record* Records::find(std::uint32_t collection, std::uint64_t seq) {
  auto& records = records_[collection];
  const auto at = records.find(seq);
  return at == records.end() ? nullptr : &at->second;
}

void Records::erase(std::uint32_t collection, std::uint64_t seq) { records_[collection].erase(seq); }

int Records::incomplete_variable(const ServedCollection& collection, const Record& record) const {
  for (std::size_t v = 0; v < record.put.size(); ++v) {
    if (record.put[v].empty()) continue;
    const auto have = static_cast<std::uint32_t>(std::ranges::count(record.put[v], true));
    if (have != catalog_.contributors(collection, static_cast<std::uint32_t>(v))) return static_cast<int>(v);
  }
  return -1;
}

std::string Records::missing_variable(const ServedCollection& collection, const Record& record) const {
  const int v = incomplete_variable(collection, record);
  return v < 0 ? "" : collection.schema.variables[static_cast<std::size_t>(v)].name;
}

std::vector<int> Records::absent(const ServedCollection& collection, const Record& record) const {
  std::vector<int> ranks;
  const int v = incomplete_variable(collection, record);
  for (std::size_t r = 0; v >= 0 && r < catalog_.ranks(); ++r)
    if (!record.put[static_cast<std::size_t>(v)][r] &&
        catalog_.contributes(collection, static_cast<std::uint32_t>(v), r))
      ranks.push_back(static_cast<int>(r));
  return ranks;
}

std::string Records::missing(const ServedCollection& collection, const Record& record) const {
  const int v = incomplete_variable(collection, record);
  if (v < 0) return "";
  return fmt::format("{} did not put variable '{}'{}, while other ranks did",
                     text_of_ranks(absent(collection, record)),
                     collection.schema.variables[static_cast<std::size_t>(v)].name,
                     record.fixed ? "" : fmt::format(" of record {}", said_index(record.record)));
}

}  // namespace afterbay::server
