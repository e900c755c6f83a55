// SPDX-License-Identifier: Apache-2.0
#include "journal/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/host.hpp"

namespace afterbay::journal {
namespace {

std::string working_directory() {
  std::error_code gone;
  return std::filesystem::current_path(gone).string();
}

/// Relative to the server's own working directory: files stay where they were opened.
std::string absolute(const std::string& path) {
  std::error_code gone;
  const std::filesystem::path made = std::filesystem::absolute(path, gone);
  return gone ? path : made.lexically_normal().string();
}

}  // namespace

std::string new_run_id() {
  std::string at = utc_now();
  std::erase_if(at, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("{}-{}-{}", at, host_name(), ::getpid());
}

Recorder::Recorder(Where where, RunIdentity identity, Logger logger, const OwnerPatience& patience)
    : where_(std::move(where)),
      identity_(std::move(identity)),
      logger_(std::move(logger)),
      patience_(patience),
      started_at_(utc_now()) {
  if (!keeps()) return;
  where_.directory = absolute(where_.directory);
  identity_.started.version = AFTERBAY_VERSION;
  identity_.started.host = host_name();
  identity_.started.pid = ::getpid();
  identity_.started.directory = working_directory();
}

std::string Recorder::line(std::string at, Event event, std::uint64_t sequence) const {
  return text_of({std::move(at), identity_.run, identity_.server, sequence, std::move(event)});
}

/// The open file, after all lines that waited for it.
Result<JournalFile*> Recorder::file() {
  const MutexLock lock(mutex_);
  AFTERBAY_TRY(write_waiting());
  return file_.get();
}

/// Opens the file and writes which run this is and which runs did not end.
Result<JournalFile*> Recorder::file_at_hand(const OwnerPatience& patience) {
  if (file_) return file_.get();
  AFTERBAY_TRY_ASSIGN(auto opened,
                      JournalFile::open(where_.directory, identity_.server, identity_.run, patience));
  AFTERBAY_TRY(opened->append_durably(
      text_of({started_at_, identity_.run, identity_.server, opened->sequence(), identity_.started})));
  for (const std::string& killed : opened->runs_without_end())
    if (killed != identity_.run)
      AFTERBAY_TRY(opened->append(line(utc_now(), RunAbandoned{killed}, opened->sequence())));
  file_ = std::move(opened);
  is_open_ = true;
  return file_.get();
}

Result<> Recorder::write_waiting() {
  AFTERBAY_TRY_ASSIGN(JournalFile* const to, file_at_hand());
  std::vector<Waiting> waiting;
  {
    const MutexLock lock(waiting_mutex_);
    waiting.swap(waiting_);
  }
  for (Waiting& it : waiting)
    AFTERBAY_TRY(to->append(line(std::move(it.at), std::move(it.event), to->sequence())));
  return {};
}

Result<> Recorder::write(std::vector<Event> events, bool durable) {
  AFTERBAY_TRY_ASSIGN(JournalFile* const to, file());
  std::vector<std::string> lines;
  for (Event& event : events) {
    // Everything that begins from now on is later than this run's end.
    const bool last = std::holds_alternative<RunEnded>(event);
    lines.push_back(line(utc_now(), std::move(event), last ? to->next_sequence() : to->sequence()));
  }
  if (durable) return to->append_durably(lines);
  for (const std::string& text : lines) AFTERBAY_TRY(to->append(text));
  return {};
}

void Recorder::expect_output() { output_expected_ = true; }

Result<> Recorder::begin() {
  if (!keeps()) return {};
  Result<> begun;
  {
    const MutexLock lock(mutex_);
    if (over_) return {};
    begun = write_waiting();
  }
  return fail_if_required(std::move(begun));
}

Result<> Recorder::note(Event event, bool durable) {
  if (!keeps()) return {};
  std::vector<Event> alone;
  alone.push_back(std::move(event));
  return fail_if_required(write(std::move(alone), durable));
}

Result<> Recorder::settle() {
  if (!keeps()) return {};
  auto to = file();
  return fail_if_required(to ? (*to)->settle() : fail(std::move(to).error()));
}

void Recorder::note_soon(Event event) {
  if (!keeps()) return;
  {
    const MutexLock lock(waiting_mutex_);
    waiting_.push_back({utc_now(), std::move(event)});
  }
  Result<> written;
  if (is_open_) {
    const MutexLock lock(mutex_);
    written = write_waiting();
  } else if (mutex_.try_lock()) {
    written = write_waiting();
    mutex_.unlock();
  }
  (void)fail_if_required(std::move(written));
}

Result<> Recorder::note_durably(std::vector<Event> events) {
  return keeps() && !events.empty() ? fail_if_required(write(std::move(events), true)) : Result<>();
}

/// Handles a journal that cannot be written: an error if the journal is required, else one warning.
Result<> Recorder::fail_if_required(Result<> written) {
  if (written) return {};
  if (where_.required)
    return fail(std::move(written).error().add("the run fails because the setting 'journal.required' is on"));
  if (!warned_of_failure_.exchange(true))
    logger_.warning("{}\noutput continues without it, and `afterbay status` will be incomplete",
                    written.error().text());
  return {};
}

Result<> Recorder::opened(FileFacts file, std::uint64_t inode, std::uint64_t born_ns) {
  file.path = absolute(file.path);
  return note(FileOpened{std::move(file), inode, born_ns}, false);
}

Result<> Recorder::ready(std::vector<FileReady> files) {
  std::vector<Event> events;
  for (FileReady& it : files) {
    it.file.file.path = absolute(it.file.file.path);
    events.emplace_back(std::move(it));
  }
  return note_durably(std::move(events));
}

Result<> Recorder::published(std::vector<FilePublished> files) {
  std::vector<Event> events;
  for (FilePublished& it : files) {
    it.file.path = absolute(it.file.path);
    events.emplace_back(std::move(it));
  }
  AFTERBAY_TRY(note_durably(std::move(events)));
  const MutexLock lock(mutex_);
  files_ += files.size();
  return {};
}

void Recorder::given_up(FileFacts file, std::string why) {
  file.path = absolute(file.path);
  note_soon(FileGivenUp{std::move(file), std::move(why)});
}

Result<> Recorder::epoch_completed(EpochCompleted epoch) {
  for (auto* paths : {&epoch.unpublished, &epoch.lost})
    for (std::string& path : *paths) path = absolute(path);
  return note(std::move(epoch), true);
}

void Recorder::warned(std::string text) { note_soon(Warned{std::move(text)}); }

void Recorder::triggered(TriggerRan ran) { note_soon(std::move(ran)); }

void Recorder::failed(const Error& error) {
  Failed failed{name_of(error.code), error.text(), std::nullopt, std::nullopt};
  if (!error.file.empty()) failed.file = absolute(error.file);
  if (!error.variable.empty()) failed.variable = error.variable;
  note_soon(std::move(failed));
}

/// A run without output and without errors leaves no file.
Result<> Recorder::ended(bool ok) {
  if (!keeps()) return {};
  RunEnded end{ok, 0};
  {
    const MutexLock lock(mutex_);
    over_ = true;
    // A server without a line could have been killed before its first line. If the line cannot be
    // written, no file is lost, and servers that have files report the journal's error. This is the
    // server's own thread: it never waits for signs of life.
    if (!file_ && (!output_expected_ || !file_at_hand(OwnerFile::no_patience))) return {};
    end.files = files_;
  }
  return note(end, true);
}

}  // namespace afterbay::journal
