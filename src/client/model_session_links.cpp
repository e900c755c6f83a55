// SPDX-License-Identifier: Apache-2.0
// What goes over the links, what comes back, and waits.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"
#include "client/model_session.hpp"

namespace afterbay::client {
namespace {

constexpr transport::Millis farewell_to_silent{300};

}  // namespace

Result<> ModelSession::check_usable() const {
  if (failure_) return fail(*failure_);
  if (finalized_) return fail(ErrorCode::bad_state, "the session has been finalized");
  return {};
}

/// For output. Finalize closes files: of a session that is over, that is what is said.
Result<> ModelSession::check_open(const File& file) const {
  AFTERBAY_TRY(check_usable());
  if (file.closed)
    return fail(ErrorCode::bad_state, "the file is closed on this rank: open it again before putting");
  return {};
}

Result<> ModelSession::send_encoded(std::size_t server, transport::Wake wake) {
  if (auto sent = links_[server]->send(encoded_, wake); !sent)
    return fail(explain(server, std::move(sent).error()));
  return {};
}

Result<> ModelSession::poll() {
  AFTERBAY_TRY(check_usable());
  for (std::size_t s = 0; s < links_.size(); ++s) {
    for (;;) {
      auto message = links_[s]->receive();
      if (!message) return fail(explain(s, std::move(message).error()));
      if (!*message) break;
      AFTERBAY_TRY(handle(s, **message));
    }
  }
  return {};
}

Error ModelSession::remember(Error error) {
  if (!failure_) failure_ = std::move(error);
  return *failure_;
}

tl::unexpected<Error> ModelSession::told(Error error) {
  last_error_ = error;
  return fail(std::move(error));
}

Error ModelSession::explain(std::size_t server, Error error) {
  if (failure_) return *failure_;
  if (error.code == ErrorCode::would_block) return error;
  lost_[server] = error.code != ErrorCode::bad_state;  // that is a server which still speaks
  const std::uint64_t until = now_ns() + 1'000'000'000;
  do {  // a server that failed says why right after
    for (;;) {
      auto message = links_[server]->receive();
      if (!message || !*message) break;
      if (!handle(server, **message) && failure_) return *failure_;
    }
    if (error.code != ErrorCode::bad_state) break;
    links_[server]->wait(transport::Millis(50));
  } while (now_ns() < until);
  return remember(with_work(std::move(error.at_rank(place_.session_rank))));
}

std::string ModelSession::Pending::text() const {
  if (file.empty()) return "";
  return more == 0 ? fmt::format(" ({})", file) : fmt::format(" ({} and {} more)", file, more);
}

Error ModelSession::with_work(Error error) const {
  if (!awaited_.empty()) error.in_file(awaited_);
  if (last_put_.collection != nullptr) {
    const std::string& name = last_put_.collection->schema().variables[last_put_.variable].name;
    error.in_file(last_put_.path);
    if (error.file == last_put_.path) error.in_variable(name);
    error.add(fmt::format("the last that this rank put was record {} of variable '{}' in {}",
                          said_index(last_put_.record), name, last_put_.path));
  }
  if (!open_files_.empty()) {
    error.in_file(open_files_.front()->path);
    error.add(
        fmt::format("not complete: {}{}", open_files_.front()->path,
                    open_files_.size() > 1 ? fmt::format(" and {} more files", open_files_.size() - 1) : ""));
  }
  return error;
}

std::set<std::size_t> ModelSession::awaited_servers() const {
  if (const auto owing = owe_.find(awaited_ticket_); owing != owe_.end()) return owing->second;
  std::set<std::size_t> all;
  for (std::size_t s = 0; s < links_.size(); ++s) all.insert(s);
  return all;
}

/// Of the servers that are waited for: what others do is no sign of life of theirs.
std::uint64_t ModelSession::progress() const {
  std::uint64_t sum = 0;
  for (const std::size_t server : awaited_servers()) sum += links_[server]->progress();
  return sum;
}

/// Leaves only those in `servers` of which nothing was ever heard, if there are any; what to say of them.
std::string ModelSession::only_never_heard(std::set<std::size_t>& servers) {
  std::set<std::size_t> found;
  std::string notes;
  for (const std::size_t server : servers) {
    const std::string who = links_[server]->never_heard();
    if (who.empty()) continue;
    found.insert(server);
    never_answered_[server] = true;
    if (notes.find(who) == std::string::npos) notes += ";" + transport::note_of_silence(who);
  }
  if (!found.empty()) servers = std::move(found);
  return notes;
}

Error ModelSession::stalled(const std::string& what, std::uint64_t limit_ns) {
  std::set<std::size_t> silent = awaited_servers();
  std::string notes;
  const auto relayed =
      std::ranges::find_if(silent, [this](std::size_t server) { return links_[server]->name() == "relay"; });
  if (relayed != silent.end())  // one is enough: each question takes a second
    notes = transport::note_of_stuck(links_[*relayed]->stuck_between());
  if (notes.empty())
    notes = only_never_heard(silent);
  else
    notes.insert(0, ";");
  for (const std::size_t server : silent) {
    links_[server]->hurry(farewell_to_silent);
    lost_[server] = silent.size() < links_.size();  // that this rank gives up is for the others
  }
  return remember(
      with_work(make_error(ErrorCode::timed_out,
                           "waited {} s for {}, and I/O server{} {} made no progress (deadline {} s){}",
                           limit_ns / 1'000'000'000, what, silent.size() == 1 ? "" : "s",
                           fmt::join(silent, ", "), config_.deadline.count() / 1000, notes)
                    .at_rank(place_.session_rank)));
}

/// Synchronous: serves until all ranks have what they waited for.
Result<> ModelSession::wait_for_all(const std::string& what) {
  if (!arrive_) return {};
  AFTERBAY_TRY_ASSIGN(const auto all_here, arrive_());
  Result<> tested;
  AFTERBAY_TRY(wait_until(
      [&] {
        const Result<bool> here = all_here();
        if (!here) tested = fail(here.error());
        return !here || *here;
      },
      what, transport::Millis(1)));
  return tested;
}

Result<> ModelSession::wait_until(const std::function<bool()>& reached, const std::string& what,
                                  transport::Millis slice) {
  StallClock clock(config_.patience(), progress());
  for (std::size_t turn = 0;; ++turn) {
    AFTERBAY_TRY(poll());
    if (reached()) return {};
    for (std::size_t s = 0; s < links_.size(); ++s)
      if (auto alive = links_[s]->check_alive(); !alive && !bye_[s]) {
        AFTERBAY_TRY(poll());  // it may have said goodbye, or why it went
        if (reached()) return {};
        if (!bye_[s])
          return fail(explain(s, std::move(alive).error().add(fmt::format("while waiting for {}", what))));
      }
    if (clock.expired(progress())) return fail(stalled(what, clock.limit_ns()));
    if (idle_ && idle_()) continue;
    const auto turns = static_cast<transport::Millis::rep>(links_.size() > 1 ? 5 : 1);
    links_[turn % links_.size()]->wait(std::max(slice / turns, transport::Millis(1)));
  }
}

}  // namespace afterbay::client
