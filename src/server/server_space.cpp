// SPDX-License-Identifier: Apache-2.0
// Full disks: waiting for space, and doing without what the run can do without.
#include <unistd.h>

#include <cerrno>

#include "server/server.hpp"
#include "storage/epoch/epoch_log.hpp"

namespace afterbay::server {
namespace {

double seconds_since(std::uint64_t since_ns) { return static_cast<double>(now_ns() - since_ns) * 1e-9; }

}  // namespace

const Server::Policy& Server::policy_of(const ServedCollection& collection) {
  const auto [at, is_new] = policies_.try_emplace(collection.id);
  if (is_new) {
    const config::CollectionSettings settings = config_.settings_for(collection.name);
    at->second = {.optional = settings.optional.value_or(false),
                  .droppable = settings.droppable.value_or(false),
                  .readable = settings.readable.value_or(false),
                  .priority = settings.priority.value_or(0)};
    if (at->second.optional) space_.offer(true);
  }
  return at->second;
}

/// What holds for a task that a worker begins. Any thread.
Result<> Server::check_wanted(const OutputFile& file) const {
  if (file.dropped)
    return afterbay::fail(ErrorCode::no_space, "{} was given up for want of space", file.path);
  if (file.unwanted)
    return afterbay::fail(ErrorCode::bad_state, "{} was given up: the session has failed", file.path);
  if (out_of_time_)
    return afterbay::fail(ErrorCode::stopped, "{} could not be written in the time that was left", file.path);
  return {};
}

void Server::space_notice(const SpaceNotice& notice) {
  using What = SpaceNotice::What;
  const std::string& path = notice.call.path;
  const char* const missing = notice.call.number == EDQUOT ? "the quota is used up" : "no space is left";
  if (notice.what == What::short_of_space) {
    const std::string text = fmt::format(
        "{} for {}: I/O server {} keeps the data and tries again for {} s (the setting 'space.retry'); model "
        "ranks wait "
        "when its memory is full; free space for the run to go on",
        missing, path, identity_.number, static_cast<double>(config_.space_retry.count()) / 1000);
    warn(text);
    fellows_.broadcast(wire::SpaceShort{true});
  } else if (notice.what == What::sacrifice) {
    drop_optional(fmt::format("{} for {}, for {:.0f} s", missing, path, seconds_since(notice.call.since_ns)));
  } else {
    fellows_.broadcast(wire::SpaceShort{false});
    if (notice.what == What::over) {
      const std::string text = fmt::format("there is space again for {}, after {:.1f} s: output goes on",
                                           path, seconds_since(notice.call.since_ns));
      warn(text);
    }
    for (const auto& [server, question] : std::exchange(put_off_, {})) answer_places(server, question);
  }
}

void Server::drop_optional(const std::string& why) {
  if (failure_) return;
  for (const auto& [id, policy] : policies_)
    if (policy.optional && !dropped_.contains(id)) {
      fellows_.broadcast(wire::CollectionDropped{id, why});
      drop_collection(id, why);
    }
}

/// Nothing more of it is written, neither of files that are open nor of those to come. Their ranks need not
/// know.
void Server::drop_collection(std::uint32_t id, const std::string& why) {
  if (!dropped_.insert(id).second) return;
  const ServedCollection* const collection = catalog_.find(id);
  if (collection == nullptr) return;
  std::vector<std::uint64_t> open;
  for (const auto& [number, file] : files_)
    if (file.collection->id == id) open.push_back(number);
  const std::string text = fmt::format(
      "collection \"{}\" is optional and is given up from here on, with {} files that are not "
      "published: {}",
      collection->name, open.size(), why);
  warn(text);
  for (const std::uint64_t number : open) drop(files_.at(number), why);
}

/// What is being published meanwhile may become complete after all.
void Server::drop(OutputFile& file, const std::string& why) {
  file.dropped = true;
  space_.give_up(storage::part_path(file.path));
  if (file.state != OutputFile::State::publishing) discard(file, why);
}

void Server::discard(OutputFile& file, const std::string& why) {
  observe::add(profile_.counter(fmt::format("{}: files given up, no space", file.collection->name)), 1);
  note_given_up(file, why);
  remove_part(file);
  submit_waiting(file);
  if (!file.asked_records.empty()) tell_records(file);
  finish_dropped(file);
}

/// An error that a file of an optional collection may end with, and the run need not.
bool Server::can_do_without(const OutputFile& file, const Error& error) {
  return file.dropped || (error.code == ErrorCode::no_space && policy_of(*file.collection).optional);
}

/// A file of an optional collection could not be written, or not published.
void Server::lose(OutputFile& file, const std::string& why) {
  const bool publishing = file.state == OutputFile::State::publishing;
  if (publishing) file.state = OutputFile::State::announced;
  if (!file.dropped) {
    const std::uint32_t id = file.collection->id;
    fellows_.broadcast(wire::CollectionDropped{id, why});
    drop_collection(id, why);
  } else if (publishing) {
    discard(file, why);
  } else {
    finish_dropped(file);
  }
}

/// Tasks that wait for the file to be made.
void Server::submit_waiting(OutputFile& file) {
  for (auto& task : file.waiting) workers_.submit(std::move(task), policy_of(*file.collection).priority);
  file.waiting.clear();
}

/// The space comes back at once: what still holds the file open has nothing but its name.
void Server::remove_part(const OutputFile& file) const {
  if (!file.file || (is_shared(file) && !leads(file)) || !traits_of(file.collection->format).publishes)
    return;
  file.file->give_back_space();
}

/// Once no task uses it, and no rank.
void Server::finish_dropped(OutputFile& file) {
  if (file.pending > 0 || file.state == OutputFile::State::creating ||
      file.state == OutputFile::State::publishing)
    return;
  remove_part(file);
  if (file.file) {  // a worker closes it: the format library may be in use for long
    workers_.submit([it = std::shared_ptr<storage::File>(std::move(file.file))] { it->abandon(); });
    file.state = OutputFile::State::announced;
  }
  if (!file.closed_by_all()) return;
  for (const auto& [peer, ticket] : file.tickets) tickets_.answer(peer, ticket);
  forget_file(file.id, true);
}

/// Frames of a record that nobody wants: the memory is free for others.
void Server::forget_record(const ServedCollection& collection, std::uint64_t seq) {
  Record& record = *records_.find(collection.id, seq);
  for (std::uint32_t f = 0; f < record.scheduled.size(); ++f) {
    if (record.scheduled[f]) continue;
    if (const auto view = port_->frames().find(collection.first_frame + f, seq))
      port_->frames().release(*view);
  }
  if (record.writes == 0) erase_record(collection, seq);
}

}  // namespace afterbay::server
