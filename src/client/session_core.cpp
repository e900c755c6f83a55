// SPDX-License-Identifier: Apache-2.0
#include "client/session_core.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/rank_names.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {
namespace {

constexpr std::uint64_t farewell_to_silent_ns = 300'000'000;  ///< to all of them together
constexpr transport::Millis with_endpoints{2};  ///< longest sleep while endpoints may leave something to do

}  // namespace

SessionCore::SessionCore(RankIdentity identity, const config::Config& config, Links links, Host host)
    : links_(std::move(links)),
      identity_(std::move(identity)),
      config_(config),
      host_(std::move(host)),
      servers_(links_.size()) {}

std::set<std::size_t> SessionCore::all_servers() const {
  std::set<std::size_t> all;
  for (std::size_t s = 0; s < links_.size(); ++s) all.insert(s);
  return all;
}

void SessionCore::add_idle(std::function<bool()> idle) {
  if (idle_)
    idle = [before = idle_, then = std::move(idle)] {
      const bool worked = before();
      return then() || worked;
    };
  idle_ = idle;
  for (auto& link : links_) link->set_idle(idle);
}

// ---- sending

Result<> SessionCore::send_encoded(std::size_t server, std::span<const std::byte> message,
                                   transport::Wake wake) {
  if (auto sent = links_[server]->send(message, wake); !sent)
    return fail(explain(server, std::move(sent).error()));
  return {};
}

Result<> SessionCore::flush(std::size_t server) {
  if (auto sent = links_[server]->flush(); !sent) return fail(explain(server, std::move(sent).error()));
  return {};
}

// ---- receiving and waiting

Result<> SessionCore::poll() {
  AFTERBAY_TRY(check_usable());
  for (std::size_t s = 0; s < links_.size(); ++s) {
    for (;;) {
      auto message = links_[s]->receive();
      if (!message) return fail(explain(s, std::move(message).error()));
      if (!*message) break;
      AFTERBAY_TRY(host_.handle(s, **message));
    }
  }
  return {};
}

std::set<std::size_t> SessionCore::awaited_servers() const {
  if (wait_ != nullptr && wait_->servers)
    if (auto some = wait_->servers(); !some.empty()) return some;
  return all_servers();
}

/// Counts only the awaited servers: progress of others does not show that these are alive.
std::uint64_t SessionCore::progress() const {
  std::uint64_t sum = 0;
  if (wait_ != nullptr && wait_->servers)
    if (const auto some = wait_->servers(); !some.empty()) {
      for (const std::size_t server : some) sum += links_[server]->progress();
      return sum;
    }
  for (const auto& link : links_) sum += link->progress();
  return sum;
}

Result<> SessionCore::wait_until(const std::function<bool()>& reached, const Wait& wait) {
  const Wait* const outer = std::exchange(wait_, &wait);
  auto result = wait_with_deadline(reached, wait);
  wait_ = outer;
  return result;
}

Result<> SessionCore::wait_with_deadline(const std::function<bool()>& reached, const Wait& wait) {
  StallClock clock(config_.patience(), progress());
  for (std::size_t turn = 0;; ++turn) {
    AFTERBAY_TRY(poll());
    if (reached()) return {};
    transport::Millis slice = wait.slice;
    if (host_.tend) {
      AFTERBAY_TRY_ASSIGN(const bool others, host_.tend());
      if (others) slice = std::min(slice, with_endpoints);
    }
    for (std::size_t s = 0; s < links_.size(); ++s)
      if (auto alive = links_[s]->check_alive(); !alive && !servers_[s].ended) {
        AFTERBAY_TRY(poll());  // the server may have said goodbye, or sent the reason for its end
        if (reached()) return {};
        if (!servers_[s].ended)
          return fail(
              explain(s, std::move(alive).error().add(fmt::format("while waiting for {}", wait.what))));
      }
    if (clock.expired(progress())) return fail(deadline_error(wait.what, clock.limit_ns()));
    if (idle_ && idle_()) continue;
    const auto turns = static_cast<transport::Millis::rep>(links_.size() > 1 ? 5 : 1);
    links_[turn % links_.size()]->wait(std::max(slice / turns, transport::Millis(1)));
  }
}

Result<> SessionCore::wait_for_all(const std::string& what) {
  if (!arrive_) return {};
  AFTERBAY_TRY_ASSIGN(const auto all_here, arrive_());
  Result<> tested;
  const auto reached = [&] {
    const Result<bool> here = all_here();
    if (!here) tested = fail(here.error());
    return !here || *here;
  };
  AFTERBAY_TRY(wait_until(reached, {.what = what, .file = {}, .servers = {}, .slice = transport::Millis(1)}));
  return tested;
}

/// Keeps only the servers from which nothing was ever received, if there are any. Returns notes for
/// an error.
std::string SessionCore::only_never_heard(std::set<std::size_t>& servers) {
  constexpr std::size_t most_notes = 2;
  std::set<std::size_t> found;
  std::set<std::string> named;
  std::vector<int> others;
  std::string notes;
  for (const std::size_t server : servers) {
    const std::string who = links_[server]->never_heard();
    if (who.empty()) continue;
    found.insert(server);
    servers_[server].never_answered = true;
    if (named.contains(who)) continue;
    if (named.size() == most_notes) {
      others.push_back(static_cast<int>(server));
      continue;
    }
    named.insert(who);
    notes += ";" + transport::note_of_silence(who);
  }
  if (!found.empty()) servers = std::move(found);
  if (!others.empty())
    notes += fmt::format("; and {} other{}: I/O server{} {}", others.size(), others.size() == 1 ? "" : "s",
                         others.size() == 1 ? "" : "s", name_numbers(others));
  return notes;
}

Error SessionCore::deadline_error(const std::string& what, std::uint64_t limit_ns) {
  std::set<std::size_t> silent = awaited_servers();
  std::string notes;
  const auto relayed =
      std::ranges::find_if(silent, [this](std::size_t server) { return links_[server]->name() == "relay"; });
  if (relayed != silent.end())  // one is enough: each query takes a second
    notes = transport::note_of_stuck(links_[*relayed]->stuck_between());
  if (notes.empty())
    notes = only_never_heard(silent);
  else
    notes.insert(0, ";");
  for (const std::size_t server : silent) {
    servers_[server].silent = true;
    // The others must learn that this rank gives up.
    servers_[server].lost = silent.size() < links_.size();
  }
  return record_failure(with_work(
      make_error(ErrorCode::timed_out,
                 "waited {} s for {}, and I/O server{} {} made no progress (deadline {} s){}",
                 limit_ns / 1'000'000'000, what, silent.size() == 1 ? "" : "s",
                 name_numbers({silent.begin(), silent.end()}), config_.deadline.count() / 1000, notes)
          .at_rank(identity_.session_rank)));
}

// ---- failure and end

Result<> SessionCore::check_usable() const {
  if (failure_) return fail(*failure_);
  if (finalized_) return fail(ErrorCode::bad_state, "the session has been finalized");
  return {};
}

Error SessionCore::record_failure(Error error) {
  if (!failure_) failure_ = std::move(error);
  return *failure_;
}

Error SessionCore::explain(std::size_t server, Error error) {
  if (failure_) return *failure_;
  if (error.code == ErrorCode::would_block) return error;
  // bad_state: the server still answers.
  servers_[server].lost = error.code != ErrorCode::bad_state;
  const std::uint64_t until = now_ns() + 1'000'000'000;
  do {  // a failed server sends the reason shortly after
    for (;;) {
      auto message = links_[server]->receive();
      if (!message || !*message) break;
      if (!host_.handle(server, **message) && failure_) return *failure_;
    }
    if (error.code != ErrorCode::bad_state) break;
    links_[server]->wait(transport::Millis(50));
  } while (now_ns() < until);
  return record_failure(with_work(std::move(error.at_rank(identity_.session_rank))));
}

tl::unexpected<Error> SessionCore::report_to_caller(Error error) {
  last_error_ = error;
  return fail(std::move(error));
}

Error SessionCore::with_work(Error error) const {
  if (wait_ != nullptr && !wait_->file.empty()) error.in_file(wait_->file);
  host_.add_work(error);
  return error;
}

Result<> SessionCore::server_failed(wire::SessionFailed message) {
  failure_came_from_server_ = true;
  if (!failure_) reported_ = message.reported;
  // A server that lost a rank may have no file of this session open: then this rank names the file
  // that it was working on.
  const ErrorCode code = message.error.code;
  if ((code == ErrorCode::timed_out || code == ErrorCode::conflict) &&
      message.error.rank == identity_.session_rank && host_.add_callers)
    host_.add_callers(message.error);
  const bool names_no_file = message.error.code == ErrorCode::peer_lost && message.error.file.empty();
  return fail(record_failure(names_no_file ? with_work(std::move(message.error)) : std::move(message.error)));
}

bool SessionCore::all_servers_ended() const {
  return std::ranges::all_of(servers_, [](const Server& server) { return server.ended; });
}

void SessionCore::abandon(const std::string& reason, const Error* cause, bool reports,
                          bool for_all) noexcept {
  if (finalized_) return;
  finalized_ = true;
  if (cause != nullptr && !failure_) (for_all ? failure_ : last_error_) = *cause;
  const std::uint64_t end_ns = now_ns() + farewell_to_silent_ns;
  std::vector<std::uint32_t> lost;
  for (std::size_t s = 0; s < links_.size(); ++s) {
    if (servers_[s].lost || servers_[s].never_answered) lost.push_back(static_cast<std::uint32_t>(s));
    if (servers_[s].silent) links_[s]->hurry(end_ns);
  }
  for (std::size_t s = 0; s < links_.size(); ++s) {
    const bool never_answered = servers_[s].never_answered;
    if (servers_[s].lost && !never_answered) continue;  // waiting for it again is pointless
    // If a server answers after all, the others have reported the failure by then.
    const bool known = reported_ || (never_answered && (reports || lost.size() < links_.size()));
    try {
      const auto bytes = wire::encode(
          wire::Abandon{reason, failure_ ? failure_ : last_error_, failure_.has_value(), known, lost});
      if (links_[s]->send(bytes, transport::Wake::now)) (void)links_[s]->flush();
    } catch (...) {  // the process is about to end, which the server also notices
    }
  }
  if (!failure_) failure_ = Error(ErrorCode::bad_state, "the session is over: " + reason);
}

bool SessionCore::await_failure(transport::Millis limit) noexcept {
  const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(limit.count()) * 1'000'000;
  for (Server& server : servers_) server.lost = server.lost || server.never_answered;
  const auto any_left = [this] { return !std::ranges::all_of(servers_, &Server::lost); };
  while (!failure_came_from_server_ && now_ns() < until && any_left()) {
    for (std::size_t s = 0; s < links_.size() && !failure_came_from_server_; ++s) {
      if (servers_[s].lost) continue;
      // Checked first: the server's last message may already have arrived.
      const bool alive = links_[s]->check_alive().has_value();
      const auto message = links_[s]->receive();
      if (!message)
        servers_[s].lost = true;
      else if (*message)
        failure_came_from_server_ = wire::kind_of(**message) == wire::SessionFailed::kind;
      else if (!alive)
        servers_[s].lost = true;
      else if (!(idle_ && idle_()))
        links_[s]->wait(transport::Millis(5));
    }
  }
  return failure_came_from_server_;
}

void SessionCore::release_links() noexcept {
  finalized_ = true;
  links_.clear();
}

}  // namespace afterbay::client
