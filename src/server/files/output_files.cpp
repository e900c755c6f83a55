// SPDX-License-Identifier: Apache-2.0
#include "server/files/output_files.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace afterbay::server {

using State = OutputFile::State;
using Role = OutputFile::Role;

Result<> OutputFile::check_wanted() const {
  switch (ending) {
    case Ending::no_space: return fail(ErrorCode::no_space, "{} was given up because the disk is full", path);
    case Ending::abandoned:
      return fail(ErrorCode::bad_state, "{} was given up: the session has failed", path);
    case Ending::published:
    case Ending::incomplete: break;
  }
  return {};
}

// ---- calls of ranks

Result<> OutputFiles::open(std::size_t peer, const ServedCollection& collection, wire::OpenFile message,
                           std::uint64_t epochs) {
  auto [at, is_new] = files_.try_emplace(message.file);
  OutputFile& file = at->second;
  if (is_new) {
    file.id = message.file;
    file.collection = &collection;
    file.path = message.path;
    file.assigned = message.assigned != 0;
    file.holds_states = message.holds_states != 0;
    file.closes = CloseTickets(host_.ranks);
    file.variables_put.resize(collection.schema.variables.size(), false);
    file.opened_ns = now_ns();
    file.epochs = epochs;
    file.parts.leader = message.leader;
    if (collection.sharing != model::FileSharing::none)
      file.role = message.leader == host_.server ? Role::leader : Role::member;
    if (file.role == Role::leader) file.parts.missing = collection.servers.size() - 1;
    if (host_.is_given_up(collection)) {
      set(file, Ending::no_space);
      host_.not_published(file, "its collection was given up earlier because the disk is full");
    }
  } else if (file.path != message.path || file.collection != &collection) {
    return fail(
        make_error(
            ErrorCode::conflict,
            "model rank {} opens '{}' where another rank opens '{}': every rank must open the same files in "
            "the same order",
            peer, message.path, file.path)
            .in_file(message.path));
  }
  if (message.name) file.name = std::move(*message.name);
  if (message.changes) {
    file.changes = std::move(message.changes);
    begin(file);
  }
  return {};
}

Result<OutputFile*> OutputFiles::close(std::size_t peer, const wire::CloseFile& message) {
  if (failure_ && ignores(message.file)) return nullptr;
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, require(message.file));
  const bool is_first = file->closes.add(peer, message.ticket);
  return is_first && file->closed_by_all() ? file : nullptr;
}

void OutputFiles::all_closed(OutputFile& file) {
  if (file.ending == Ending::no_space)
    close_for_want_of_space(file);
  else
    publish_if_complete(file);
}

Result<> OutputFiles::ask_records(std::size_t peer, std::uint64_t id) {
  AFTERBAY_TRY_ASSIGN(OutputFile* const file, require(id));
  file->asked_records.push_back(peer);
  if (file->file || file->ending == Ending::no_space) send_records(*file);
  return {};
}

void OutputFiles::send_records(OutputFile& file) {
  if (file.asked_records.empty()) return;
  host_.send_records(file);
  file.asked_records.clear();
}

// ---- tasks

void OutputFiles::begin(OutputFile& file) {
  if (file.state != State::announced || !file.changes || !file.wanted()) return;
  if (file.role == Role::member) {
    if (!host_.leader_is_ready(file)) return;
  } else {
    for (const auto& [id, older] : files_) {
      if (id >= file.id) break;
      if (older.path == file.path) return;
    }
  }
  file.state = State::creating;
  host_.create(file, *std::exchange(file.changes, std::nullopt));
}

void OutputFiles::created(OutputFile& file, std::unique_ptr<storage::File> made) {
  if (!made) {
    file.state = State::ended;
    return;
  }
  file.file = std::move(made);
  file.state = State::open;
  send_records(file);
  host_.note_opened(file);
  submit_waiting(file);
}

void OutputFiles::submit(OutputFile& file, Task task) {
  ++file.pending;
  if (file.state == State::open || file.ending == Ending::no_space)
    host_.run(file, std::move(task));
  else
    file.waiting.push_back(std::move(task));
}

void OutputFiles::submit_waiting(OutputFile& file) {
  for (Task& task : std::exchange(file.waiting, {})) host_.run(file, std::move(task));
}

void OutputFiles::task_ended(OutputFile& file, std::optional<Error> error) {
  const std::uint64_t id = file.id;
  if (error) error->file = file.path;  // the final name, not the name of the part file
  const bool gives_up = error && can_do_without(file, *error);
  if (gives_up && file.ending != Ending::no_space) return host_.give_up(*file.collection, error->message);
  if (file.ending == Ending::no_space && !failure_) return close_for_want_of_space(file);
  if (error) {
    end(file, Ending::incomplete, error->message);
    host_.fail(std::move(*error));
  }
  end_hopeless();
  if (OutputFile* const still = find(id); still != nullptr && still->wanted()) publish_if_complete(*still);
}

/// Whether the error may end a file of an optional collection without ending the session.
bool OutputFiles::can_do_without(const OutputFile& file, const Error& error) const {
  return !failure_ && (file.ending == Ending::no_space ||
                       (error.code == ErrorCode::no_space && host_.is_optional(*file.collection)));
}

// ---- publication

void OutputFiles::publish_if_complete(OutputFile& file) {
  if (file.state != State::open || !file.closed_by_all() || file.pending > 0 || !file.wanted()) return;
  if (file.role == Role::leader && file.parts.missing > 0) return;
  file.state = State::publishing;
  if (file.role == Role::member)
    host_.hand_over(file);
  else
    host_.publish(file);
}

void OutputFiles::not_published(OutputFile& file, Error error) {
  error.file = file.path;
  if (!can_do_without(file, error)) {
    end(file, Ending::incomplete, error.message);
    return host_.fail(std::move(error));
  }
  file.state = State::ended;
  if (file.ending == Ending::no_space)
    end(file, Ending::no_space, error.message);
  else
    host_.give_up(*file.collection, error.message);
}

bool OutputFiles::part_complete(OutputFile& file) {
  const bool given_up = file.ending == Ending::no_space && !failure_;
  file.state = given_up ? State::ended : State::handed_over;
  if (given_up) close_for_want_of_space(file);
  return !given_up;
}

void OutputFiles::take_part(OutputFile& file, storage::MemberEpoch part) {
  model::merge(file.errors, part.errors);
  file.parts.handed.push_back(std::move(part));
  --file.parts.missing;
  publish_if_complete(file);
}

// ---- ends

void OutputFiles::set(OutputFile& file, Ending ending) { file.ending = std::max(file.ending.load(), ending); }

void OutputFiles::end(OutputFile& file, Ending ending, const std::string& why) {
  set(file, ending);
  switch (ending) {
    case Ending::published:
      host_.published(file);
      answer_tickets(file);
      return remove(file.id, true);
    case Ending::incomplete:
      if (file.state != State::publishing) return;
      host_.not_published(file, why);
      return remove(file.id, false);
    case Ending::abandoned: return abandon(file, why);
    case Ending::no_space: return end_for_want_of_space(file, why);
  }
}

void OutputFiles::answer_tickets(const OutputFile& file) {
  file.closes.for_each([this](std::size_t peer, std::uint64_t ticket)
                           AFTERBAY_REQUIRES(ingest_thread) { host_.answer(peer, ticket); });
}

void OutputFiles::end_for_want_of_space(OutputFile& file, const std::string& why) {
  host_.stop_space_waits(file);
  if (file.state == State::publishing) return;
  host_.given_up(file, why);
  // The space is freed at once, although a worker may still have the file open.
  if (file.file && file.role != Role::member) file.file->give_back_space();
  submit_waiting(file);
  send_records(file);
  close_for_want_of_space(file);
}

void OutputFiles::close_for_want_of_space(OutputFile& file) {
  if (file.in_use()) return;
  file.state = State::ended;
  if (file.file) {
    if (file.role != Role::member) file.file->give_back_space();
    // A worker closes it, because the format library may be busy for a long time.
    host_.run(file, [it = std::shared_ptr<storage::File>(std::move(file.file))] { it->abandon(); });
  }
  if (!file.closed_by_all()) return;
  answer_tickets(file);
  remove(file.id, true);
}

void OutputFiles::abandon(OutputFile& file, const std::string& why) {
  file.pending -= file.waiting.size();
  file.waiting.clear();
  if (file.in_use()) return;
  if (file.file && file.state != State::handed_over) file.file->abandon();
  if (file.ending != Ending::no_space) host_.not_published(file, why);
  remove(file.id, false);
}

void OutputFiles::end_unclosed() {
  for (auto& [id, file] : files_)
    if (!file.closed_by_all()) end(file, Ending::incomplete);
}

void OutputFiles::session_failed(std::string why) {
  failure_ = std::move(why);
  end_hopeless();
}

void OutputFiles::end_hopeless() {
  if (!failure_) return;
  std::vector<std::uint64_t> hopeless_files;
  for (const auto& [id, file] : files_)
    if (hopeless(file)) hopeless_files.push_back(id);
  for (const std::uint64_t id : hopeless_files)
    if (OutputFile* const file = find(id)) end(*file, Ending::abandoned, *failure_);
}

/// Files that several servers write depend on the other servers: a part that is handed over is
/// published by the leader, and missing parts may never arrive.
bool OutputFiles::hopeless(const OutputFile& file) const {
  if (!file.wanted() || file.role == Role::member) return true;
  if (file.role == Role::leader && file.parts.missing > 0) return true;
  return !file.closed_by_all() && host_.ranks_ended();
}

/// Removes the file, then begins the next file of the same name. If that one may not begin, it ends
/// as incomplete, because it builds on a file that was not published.
void OutputFiles::remove(std::uint64_t id, bool next_may_begin) {
  const auto removed = files_.extract(id);
  host_.removed(removed.mapped());
  for (auto next = files_.upper_bound(id); next != files_.end(); ++next) {
    if (next->second.path != removed.mapped().path) continue;
    if (next_may_begin) return begin(next->second);
    set(next->second, Ending::incomplete);
  }
}

// ---- queries

OutputFile* OutputFiles::find(std::uint64_t id) {
  const auto at = files_.find(id);
  return at == files_.end() ? nullptr : &at->second;
}

Result<OutputFile*> OutputFiles::require(std::uint64_t id) {
  if (OutputFile* const file = find(id)) return file;
  return fail(ErrorCode::internal, "file number {} is not open on I/O server {}", id, host_.server);
}

bool OutputFiles::ignores(std::uint64_t id) const {
  const auto at = files_.find(id);
  if (at == files_.end()) return failure_.has_value();
  return at->second.ending == Ending::no_space || (failure_ && !at->second.wanted());
}

std::vector<std::uint64_t> OutputFiles::of(const ServedCollection& collection) const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, file] : files_)
    if (file.collection == &collection) ids.push_back(id);
  return ids;
}

bool OutputFiles::being_written() const {
  return std::ranges::any_of(files_, [](const auto& entry) AFTERBAY_REQUIRES(ingest_thread) {
    return entry.second.being_written();
  });
}

bool OutputFiles::has_ticket(std::size_t peer, std::uint64_t ticket) const {
  return std::ranges::any_of(files_, [&](const auto& entry) AFTERBAY_REQUIRES(ingest_thread) {
    return entry.second.closes.has(peer, ticket);
  });
}

}  // namespace afterbay::server
