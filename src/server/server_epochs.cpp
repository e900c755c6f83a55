// SPDX-License-Identifier: Apache-2.0
// Epochs: when everything that all ranks put before one is durable here, and can stay so.
#include <algorithm>

#include "server/server.hpp"

namespace afterbay::server {

/// A rank has come to an epoch.
Result<> Server::reach_epoch(std::size_t peer, wire::Epoch message) {
  if (failure_) return {};  // under way when it failed: nothing completes any more
  auto [at, is_new] = epochs_.open.try_emplace(message.number);
  ServedEpoch& it = at->second;
  if (is_new) {
    it.epoch.number = message.number;
    it.epoch.name = message.name;
    it.epoch.at = journal::utc_now();
    for (const auto& file : message.files) it.files.push_back({file.file, file.records});
  } else if (it.epoch.name != message.name) {
    return afterbay::fail(
        make_error(
            ErrorCode::conflict,
            "model rank {} calls epoch number {} '{}' where another rank calls it '{}': every rank must "
            "come to the same epochs in the same order",
            peer, message.number, message.name, it.epoch.name)
            .at_rank(catalog_.session_rank(peer)));
  }
  Ticket before{peer, message.ticket, records_.bounds(peer), {}, message.strings};
  for (const auto& [id, file] : files_)
    if (file.closed[peer]) before.files.push_back(id);
  it.before.push_back(std::move(before));
  return {};
}

/// The first that is not complete goes as far as it can; later ones wait for it.
void Server::advance_epochs() {
  while (!epochs_.open.empty() && !failure_) {
    ServedEpoch& it = epochs_.open.begin()->second;
    if (it.stage == ServedEpoch::Stage::noting) return;
    if (it.stage == ServedEpoch::Stage::gathering) {
      const bool written =
          std::ranges::all_of(it.before, [this](const Ticket& before) { return is_written(before); });
      if (it.before.size() < peers_.size() || !written) return;
      it.stage = ServedEpoch::Stage::marking;
    }
    for (auto& file : it.files)
      if (file.state == ServedEpoch::OpenFile::State::waiting) mark_file(it, file);
    if (!std::ranges::all_of(
            it.files, [](const auto& file) { return file.state == ServedEpoch::OpenFile::State::done; }))
      return;
    note_epoch(it);
  }
}

/// Makes a file that is still open able to come back. One that is being published is waited for.
void Server::mark_file(ServedEpoch& epoch, ServedEpoch::OpenFile& entry) {
  const std::pair key(epoch.epoch.number, entry.id);
  const auto found = files_.find(entry.id);
  if (found == files_.end() || found->second.failed || found->second.dropped) {
    entry.state = ServedEpoch::OpenFile::State::done;
    return;
  }
  OutputFile& file = found->second;
  if (file.state == OutputFile::State::publishing) return;
  if (is_shared(file) && !leads(file)) {
    if (file.state != OutputFile::State::handed_over) return submit_mark(epoch, entry, file, {});
    send_epoch_part(file, epoch.epoch.number, std::nullopt);
    entry.state = ServedEpoch::OpenFile::State::done;
    return;
  }
  if (is_shared(file) && epochs_.arrived[key] + 1 < file.collection->servers.size()) return;
  if (notes_opening(file) && !file.noted)
    return;  // a crash between the two would leave a path that nobody knows
  submit_mark(epoch, entry, file, parts_of(epoch.epoch.number, file));
}

/// Leader: what members have of the file at an epoch. Who has handed over all of it since has that, and the
/// log of the epoch as well if it keeps one.
std::vector<storage::MemberEpoch> Server::parts_of(std::uint64_t number, const OutputFile& file) {
  const std::pair key(number, file.id);
  std::vector<storage::MemberEpoch> parts = std::move(epochs_.parts[key]);
  epochs_.parts.erase(key);
  epochs_.arrived.erase(key);
  for (const storage::MemberEpoch& whole : file.handed) {
    const auto part = std::ranges::find(parts, whole.server, &storage::MemberEpoch::server);
    if (part == parts.end())
      parts.push_back(whole);
    else
      part->account = whole.account;
  }
  return parts;
}

void Server::submit_mark(ServedEpoch& epoch, ServedEpoch::OpenFile& entry, OutputFile& file,
                         std::vector<storage::MemberEpoch> parts) {
  entry.state = ServedEpoch::OpenFile::State::submitted;
  storage::Epoch of_file = epoch.epoch;
  of_file.records = entry.records;
  const bool member = is_shared(file) && !leads(file);
  const CollectionTimers timers = timers_of(*file.collection);
  submit(file,
         [this, &file, member, timers, of_file = std::move(of_file), parts = std::move(parts)]() mutable {
           observe::Timed timed(timers_.epoch);
           Event result;
           result.file = file.id;
           result.epoch = of_file.number;
           auto marked = [&]() -> Result<> {
             AFTERBAY_TRY(check_wanted(file));
             if (member) {
               AFTERBAY_TRY_ASSIGN(result.epoch_part, file.file->mark_member_epoch(of_file));
               return {};
             }
             of_file.records = std::max(of_file.records, file.file->records());
             AFTERBAY_TRY_ASSIGN(const auto cost, file.file->mark_epoch(of_file, parts));
             account(cost, timers);
             return {};
           }();
           if (!marked) result.error = std::move(marked).error();
           timed.stop();
           event(std::move(result));
         });
}

void Server::epoch_marked(const OutputFile& file, std::uint64_t number,
                          std::optional<storage::MemberEpoch> part) {
  if (part) send_epoch_part(file, number, std::move(part));
  const auto at = epochs_.open.find(number);
  if (at == epochs_.open.end()) return;
  for (auto& entry : at->second.files)
    if (entry.id == file.id) entry.state = ServedEpoch::OpenFile::State::done;
}

/// Without a part when all that this server writes of the file was handed over before.
void Server::send_epoch_part(const OutputFile& file, std::uint64_t number,
                             std::optional<storage::MemberEpoch> part) {
  wire::EpochPart message{file.id, number, std::nullopt};
  if (part) message.part = wire::MemberAccount{part->server, part->logged, std::move(part->account)};
  if (auto sent = fellows_.send(file.leader, message); !sent)
    fail(fellow_error(std::move(sent).error(), file.leader));
}

void Server::take_epoch_part(wire::EpochPart message) {
  if (message.epoch <= epochs_.completed) return;  // the file was published before
  const std::pair key(message.epoch, message.file);
  ++epochs_.arrived[key];
  if (message.part)
    epochs_.parts[key].push_back(
        {message.part->server, message.part->logged, std::move(message.part->account)});
}

/// All is durable here: the journal says so, then the ranks are told.
void Server::note_epoch(ServedEpoch& epoch) {
  epoch.stage = ServedEpoch::Stage::noting;
  journal::EpochCompleted completed{epoch.epoch.number, epoch.epoch.name, {}};
  for (const auto& entry : epoch.files)
    if (const auto file = files_.find(entry.id);
        file != files_.end() && (!is_shared(file->second) || leads(file->second)))
      (file->second.dropped ? completed.lost : completed.unpublished).push_back(file->second.path);
  if (triggers_ && place_.number == 0) {
    triggers::Event event;
    event.on = triggers::Occasion::epoch;
    completed.triggers = triggers_->due(event);
  }
  workers_.submit([this, number = epoch.epoch.number, completed = std::move(completed)]() mutable {
    auto noted = journal_ ? journal_->epoch_completed(std::move(completed)) : Result<>();
    Event result;
    result.then = [this, number, noted = std::move(noted)]() mutable {
      if (!noted) return fail(std::move(noted).error());
      epoch_completed(number);
    };
    event(std::move(result));
  });
}

void Server::epoch_completed(std::uint64_t number) {
  const auto at = epochs_.open.find(number);
  if (at == epochs_.open.end()) return;  // the session failed meanwhile
  logger_.info("epoch {} ('{}') is complete here", number, at->second.epoch.name);
  for (const Ticket& ticket : at->second.before) done(ticket.peer, ticket.number);
  const std::string name = at->second.epoch.name;
  epochs_.open.erase(at);
  epochs_.completed = number;
  const auto of_it = [number](const auto& entry) { return entry.first.first == number; };
  std::erase_if(epochs_.parts, of_it);
  std::erase_if(epochs_.arrived, of_it);
  epoch_complete_here(number, name);
  advance_epochs();
}

/// Ranks that have ended will not come to it any more.
void Server::forget_epochs_of_ended_ranks() {
  std::erase_if(epochs_.open, [this](const auto& entry) {
    const ServedEpoch& it = entry.second;
    if (it.before.size() == peers_.size() || peers_ended_ < peers_.size()) return false;
    std::string text = fmt::format("{}, and has ended: the epoch never completes", missing_at(it));
    logger_.warning("{}", text);
    note_warning(std::move(text));
    return true;
  });
}

/// Ranks that other ranks wait for at an epoch.
std::string Server::missing_at_epoch() const {
  for (const auto& [number, it] : epochs_.open)
    if (it.before.size() < peers_.size()) return missing_at(it) + ", while other ranks wait for it";
  return "";
}

std::string Server::missing_at(const ServedEpoch& it) const {
  std::vector<int> absent;
  for (std::size_t p = 0; p < peers_.size(); ++p)
    if (std::ranges::find(it.before, p, &Ticket::peer) == it.before.end())
      absent.push_back(static_cast<int>(p));
  return fmt::format("{} did not come to epoch {} ('{}')", text_of_ranks(absent), it.epoch.number,
                     it.epoch.name);
}

}  // namespace afterbay::server
