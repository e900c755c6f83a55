// SPDX-License-Identifier: Apache-2.0
#include "server/epochs/epoch_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/records.hpp"

namespace afterbay::server {

Result<> EpochKeeper::reach(const wire::EndEpoch& message, OpenTicket before) {
  reached_.resize(host_.ranks);
  if (before.peer < reached_.size()) reached_[before.peer] = message.number;
  if (stopped_) return {};
  auto [at, is_new] = open_.try_emplace(message.number);
  Open& it = at->second;
  if (is_new) {
    it.epoch.number = message.number;
    it.epoch.name = message.name;
    it.epoch.at = journal::utc_now();
  } else if (it.epoch.name != message.name) {
    return fail(ErrorCode::conflict,
                "model rank {} calls epoch number {} '{}' where another rank calls it '{}': every rank must "
                "call the same epochs in the same order",
                before.peer, message.number, message.name, it.epoch.name);
  }
  // A rank without points of a file may have put into fewer records than others.
  for (const auto& file : message.files) {
    OpenFile& known = it.files[file.file];
    known.records = std::max(known.records, file.records);
  }
  it.before.add(std::move(before));
  return {};
}

/// Only the first incomplete epoch can advance: later ones wait for it.
void EpochKeeper::advance() {
  while (!open_.empty() && !stopped_) {
    Open& it = open_.begin()->second;
    if (it.stage == Stage::noting) return;
    if (it.stage == Stage::gathering) {
      if (it.before.size() < host_.ranks || !it.before.all_of(host_.is_written)) return;
      it.stage = Stage::marking;
    }
    for (auto& [id, file] : it.files) {
      if (file.state == OpenFile::State::waiting) mark(it, id, file);
      if (stopped_) return;  // a message could not be sent: all epochs were removed
    }
    if (!std::ranges::all_of(it.files,
                             [](const auto& entry) { return entry.second.state == OpenFile::State::done; }))
      return;
    note(it);
  }
}

/// A file that is being published delays the epoch.
void EpochKeeper::mark(Open& it, std::uint64_t id, OpenFile& entry) {
  const Key key(it.epoch.number, id);
  OutputFile* const file = host_.file(id);
  if (file == nullptr || !file->wanted()) {
    entry.state = OpenFile::State::done;
    return;
  }
  if (file->state == OutputFile::State::publishing) return;
  const bool member = file->role == OutputFile::Role::member;
  if (member && file->state == OutputFile::State::handed_over) {
    entry.state = OpenFile::State::done;
    host_.send_part(*file, {file->id, it.epoch.number, std::nullopt});
    return;
  }
  if (!member) {
    if (file->role == OutputFile::Role::leader && arrived_[key] + 1 < file->collection->servers.size())
      return;
    // A crash between the two would leave a path that is not in the journal.
    if (host_.awaits_journal(*file)) return;
  }
  entry.state = OpenFile::State::submitted;
  storage::Epoch of_file = it.epoch;
  of_file.records = entry.records;
  host_.mark(*file, std::move(of_file), member ? Parts() : take_parts(key, *file));
}

/// The members' parts of the file at the epoch. If a member has handed over its complete part, that
/// one is used, together with the member's log of the epoch if there is one.
EpochKeeper::Parts EpochKeeper::take_parts(const Key& key, const OutputFile& file) {
  Parts parts = std::move(parts_[key]);
  parts_.erase(key);
  arrived_.erase(key);
  for (const storage::MemberEpoch& whole : file.parts.handed) {
    const auto part = std::ranges::find(parts, whole.server, &storage::MemberEpoch::server);
    if (part == parts.end())
      parts.push_back(whole);
    else
      part->account = whole.account;  // its errors are in those of the file
  }
  return parts;
}

void EpochKeeper::marked(const OutputFile& file, std::uint64_t number,
                         std::optional<storage::MemberEpoch> part) {
  if (stopped_) return;
  if (part)
    host_.send_part(file, {file.id, number,
                           wire::MemberAccount{part->server, part->logged, std::move(part->account),
                                               std::move(part->errors)}});
  const auto at = open_.find(number);
  if (at == open_.end()) return;
  const auto entry = at->second.files.find(file.id);
  if (entry != at->second.files.end()) entry->second.state = OpenFile::State::done;
}

void EpochKeeper::take_part(wire::EpochPart message) {
  if (stopped_ || message.epoch <= completed_) return;  // the file was published earlier
  const Key key(message.epoch, message.file);
  ++arrived_[key];
  if (message.part)
    parts_[key].push_back({message.part->server, message.part->logged, std::move(message.part->account),
                           std::move(message.part->errors)});
}

/// Everything is durable on this server: records the epoch in the journal.
void EpochKeeper::note(Open& it) {
  it.stage = Stage::noting;
  journal::EpochCompleted line{it.epoch.number, it.epoch.name, {}};
  for (const auto& entry : it.files) {
    const OutputFile* const file = host_.file(entry.first);
    if (file == nullptr || file->role == OutputFile::Role::member) continue;
    if (file->ending == Ending::no_space)
      lost_.insert(file->path);
    else
      line.unpublished.push_back(file->path);
  }
  line.lost.assign(lost_.begin(), lost_.end());
  host_.note(it.epoch.number, std::move(line));
}

void EpochKeeper::noted(std::uint64_t number) {
  const auto at = open_.find(number);
  if (at == open_.end()) return;  // the session has failed meanwhile
  const Open it = std::move(at->second);
  open_.erase(at);
  completed_ = number;
  const auto of_it = [number](const auto& entry) { return entry.first.first == number; };
  std::erase_if(parts_, of_it);
  std::erase_if(arrived_, of_it);
  for (const TicketId& id : it.before.all()) host_.answer(id.peer, id.number);
  host_.complete(number, it.epoch.name);
  submit_held();
  advance();
}

std::vector<std::string> EpochKeeper::forget_unreachable() {
  std::vector<std::string> warnings;
  std::erase_if(open_, [&](const auto& entry) AFTERBAY_REQUIRES(ingest_thread) {
    const Open& it = entry.second;
    if (it.before.size() == host_.ranks) return false;
    warnings.push_back(missing_at(it) + ", and has ended: the epoch never completes");
    unreachable_ = true;
    return true;
  });
  submit_held();
  return warnings;
}

std::uint64_t EpochKeeper::reached(std::size_t peer) const {
  return peer < reached_.size() ? reached_[peer] : 0;
}

void EpochKeeper::stop() {
  stopped_ = true;
  open_.clear();
  parts_.clear();
  arrived_.clear();
  submit_held();
}

void EpochKeeper::submit_after(std::uint64_t number, OutputFile& file, WorkerTask task) {
  if (!awaits(number)) return host_.submit(file, std::move(task));
  ++file.pending;
  held_.push_back({number, file.id, std::move(task)});
}

void EpochKeeper::submit_held() {
  for (Held& it : std::exchange(held_, {})) {
    if (awaits(it.after)) {
      held_.push_back(std::move(it));
      continue;
    }
    OutputFile* const file = host_.file(it.file);
    if (file == nullptr) continue;
    --file->pending;
    host_.submit(*file, std::move(it.task));
  }
}

bool EpochKeeper::noting() const { return !open_.empty() && open_.begin()->second.stage == Stage::noting; }

bool EpochKeeper::has_ticket(std::size_t peer, std::uint64_t ticket) const {
  return std::ranges::any_of(open_,
                             [&](const auto& entry) { return entry.second.before.has({peer, ticket}); });
}

std::string EpochKeeper::missing() const {
  for (const auto& [number, it] : open_)
    if (it.before.size() < host_.ranks) return missing_at(it) + ", while other ranks wait for it";
  return "";
}

std::string EpochKeeper::missing_at(const Open& it) const {
  std::vector<bool> present(host_.ranks, false);
  for (const TicketId& id : it.before.all())
    if (id.peer < present.size()) present[id.peer] = true;
  std::vector<int> absent;
  for (std::size_t p = 0; p < host_.ranks; ++p)
    if (!present[p]) absent.push_back(static_cast<int>(p));
  return fmt::format("{} did not reach epoch {} ('{}')", text_of_ranks(absent), it.epoch.number,
                     it.epoch.name);
}

}  // namespace afterbay::server
