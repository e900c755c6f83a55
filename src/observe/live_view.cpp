// SPDX-License-Identifier: Apache-2.0
#include "observe/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "base/printable.hpp"
#include "observe/progress.hpp"
#include "observe/text_table.hpp"

namespace afterbay::observe {
namespace {

constexpr double believed_s =
    10;  ///< a page from another host that is not older than this counts as that of a live server
constexpr double noticed_share = 0.01;  ///< share of the model's time

ServerLife life_of(const FoundPage& page, const LiveAsker& asker) {
  if (page.state.phase == "ended") return ServerLife::ended;
  if (page.held) return page.state.phase == "failed" ? ServerLife::failed : ServerLife::running;
  if (page.state.phase == "failed") return ServerLife::failed;
  if (page.state.identity.host != asker.host)
    return asker.now_s - page.updated_at_s < believed_s ? ServerLife::running : ServerLife::unclear;
  if (page.locked) return ServerLife::dead;
  return asker.is_alive(page.state.identity.pid) ? ServerLife::running : ServerLife::dead;
}

/// Sums over all servers of a session.
struct Sums {
  double elapsed_s = 0, in_per_s = 0, out_per_s = 0, room_s = 0, files_s = 0;
  double waits_in_s = -1;  ///< the earliest; -1: none
  std::uint64_t steps = 0, in = 0, out = 0;
  std::uint64_t model_ranks = 0;
  std::uint64_t waiting_now = 0;  ///< number of them that wait for room
};

Sums sums_of(const LiveSession& session) {
  Sums sums;
  for (const LiveServer& one : session.servers) {
    const ServerState& it = one.page.state;
    sums.elapsed_s = std::max(sums.elapsed_s, it.elapsed_s);
    sums.in_per_s += it.rates.in_bytes_per_s;
    sums.out_per_s += it.rates.out_bytes_per_s;
    sums.room_s += it.ranks.waited_for_room_s;  // room is counted per server; waits for files belong to
                                                // the session
    sums.files_s = std::max(sums.files_s, it.ranks.waited_for_files_s);
    sums.steps = std::max(sums.steps, it.steps);
    sums.in += it.traffic.in_bytes;
    sums.out += it.traffic.out_bytes;
    sums.model_ranks = std::max(sums.model_ranks, static_cast<std::uint64_t>(it.identity.model_ranks));
    sums.waiting_now = std::max(sums.waiting_now, it.ranks.waiting_for_room);
    if (it.model_waits_in_s >= 0)
      sums.waits_in_s =
          sums.waits_in_s < 0 ? it.model_waits_in_s : std::min(sums.waits_in_s, it.model_waits_in_s);
  }
  return sums;
}

std::string bytes_of(std::uint64_t bytes) { return text_of_bytes(static_cast<double>(bytes)); }

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bar_of(const ServerState& it) {
  constexpr std::size_t cells = 12;
  const double share = it.backlog.limit_bytes == 0 ? 0
                                                   : static_cast<double>(it.backlog.bytes) /
                                                         static_cast<double>(it.backlog.limit_bytes);
  const auto full =
      std::min(cells, static_cast<std::size_t>(share * cells + (it.backlog.bytes > 0 ? 0.999 : 0)));
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(cells - full, '.'));
}

std::string waiting_text(const ServerState& it) {
  std::string text;
  if (it.ranks.waiting_for_room > 0) text = fmt::format("{} for room", it.ranks.waiting_for_room);
  if (it.ranks.waiting_for_files > 0)
    text += fmt::format("{}{} for files", text.empty() ? "" : ", ", it.ranks.waiting_for_files);
  return text.empty() ? "-" : text;
}

std::string life_text(const LiveServer& one) {
  if (one.life == ServerLife::running && one.page.state.silent_s > 5)
    return fmt::format("silent for {:.0f} s", one.page.state.silent_s);
  return name_of(one.life);
}

std::string servers_table(const LiveSession& session, std::size_t columns_shown) {
  std::vector<TextColumn> columns{{"server", 0},
                                  {"state", 2, true},
                                  {"host", 8, true},
                                  {"", 7, true},
                                  {"backlog", 0},
                                  {"of", 3},
                                  {"in", 1},
                                  {"out", 1},
                                  {"to files", 6},
                                  {"queue", 9},
                                  {"open", 10},
                                  {"files", 5},
                                  {"ranks that wait", 4, true},
                                  {"waited", 6}};
  for (const LiveServer& one : session.servers) {
    const ServerState& it = one.page.state;
    const bool runs = one.life == ServerLife::running;
    const auto per_s = [&](double rate) { return runs ? text_of_bytes(rate) + "/s" : std::string("-"); };
    const std::string cells[] = {
        std::to_string(it.identity.server),
        life_text(one),
        printable(it.identity.host),
        bar_of(it),
        bytes_of(it.backlog.bytes),
        bytes_of(it.backlog.limit_bytes),
        per_s(it.rates.in_bytes_per_s),
        per_s(it.rates.out_bytes_per_s),
        per_s(it.rates.written_bytes_per_s),
        std::to_string(it.tasks_queued),
        std::to_string(it.files.open),
        std::to_string(it.files.published),
        runs ? waiting_text(it) : "-",
        it.ranks.waited_for_room_s < 0.005 ? "-" : text_of_seconds(it.ranks.waited_for_room_s)};
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  return text_table(std::move(columns), columns_shown);
}

std::string frontends_table(const LiveSession& session, std::size_t columns_shown, std::size_t rows_shown) {
  if (session.frontends.empty()) return {};
  std::vector<TextColumn> columns{{"frontend", 0}, {"state", 2, true}, {"host", 4, true}, {"", 7, true},
                                  {"holds", 0},    {"of", 3},          {"in", 1},         {"passed on", 1},
                                  {"ranks", 5},    {"full", 2}};
  const std::size_t rows = std::min(rows_shown, session.frontends.size());
  for (const LiveServer& one : std::span(session.frontends).first(rows)) {
    const ServerState& it = one.page.state;
    const bool runs = one.life == ServerLife::running;
    const auto per_s = [&](double rate) { return runs ? text_of_bytes(rate) + "/s" : std::string("-"); };
    const std::string cells[] = {std::to_string(it.identity.server),
                                 life_text(one),
                                 printable(it.identity.host),
                                 bar_of(it),
                                 bytes_of(it.backlog.bytes),
                                 bytes_of(it.backlog.limit_bytes),
                                 per_s(it.rates.in_bytes_per_s),
                                 per_s(it.rates.out_bytes_per_s),
                                 std::to_string(it.identity.model_ranks),
                                 std::to_string(it.ranks.waiting_for_room)};
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  std::string text = "\n" + text_table(std::move(columns), columns_shown);
  if (session.frontends.size() > rows)
    text += fmt::format("and {} more frontends\n", session.frontends.size() - rows);
  return text;
}

/// The data of several servers about a collection: they share its files, or have their own.
std::map<std::string, CollectionState> joined_collections(const LiveSession& session) {
  std::map<std::string, CollectionState> all;
  for (const LiveServer& one : session.servers)
    for (const CollectionState& it : one.page.state.collections) {
      const auto [at, is_new] = all.try_emplace(it.name, it);
      if (is_new) continue;
      CollectionState& sum = at->second;
      sum.lag_s = std::max(sum.lag_s, it.lag_s);
      sum.bytes_in += it.bytes_in;
      sum.bytes_published += it.bytes_published;
      sum.files_published += it.files_published;
      sum.records_published += it.records_published;
      if (it.shared) {  // the slowest one delays the others
        sum.records_taken = std::max(sum.records_taken, it.records_taken);
        sum.records_written = std::min(sum.records_written, it.records_written);
        sum.files_open = std::max(sum.files_open, it.files_open);
      } else {
        sum.records_taken += it.records_taken;
        sum.records_written += it.records_written;
        sum.files_open += it.files_open;
      }
    }
  return all;
}

std::string collections_table(const LiveSession& session, std::size_t columns_shown, std::size_t rows_shown) {
  std::vector<TextColumn> columns{{"collection", 0, true},
                                  {"records taken", 1},
                                  {"written", 1},
                                  {"published", 3},
                                  {"lag", 0},
                                  {"files", 2},
                                  {"open", 5},
                                  {"bytes in", 4},
                                  {"published", 6}};
  const auto all = joined_collections(session);
  if (all.empty()) return {};
  for (const auto& [name, it] : all) {
    if (columns.front().cells.size() >= rows_shown) break;
    const std::string cells[] = {printable(name),
                                 std::to_string(it.records_taken),
                                 std::to_string(it.records_written),
                                 std::to_string(it.records_published),
                                 it.lag_s > 0 ? text_of_seconds(it.lag_s) : "-",
                                 std::to_string(it.files_published),
                                 std::to_string(it.files_open),
                                 bytes_of(it.bytes_in),
                                 bytes_of(it.bytes_published)};
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  std::string text = "\n" + text_table(std::move(columns), columns_shown);
  if (all.size() > rows_shown) text += fmt::format("and {} more collections\n", all.size() - rows_shown);
  return text;
}

/// As many words of `text` as fit, at least one character.
std::string first_line(const std::string& text, std::size_t columns_shown) {
  if (text.size() <= columns_shown) return text;
  const auto space = text.rfind(' ', columns_shown);
  return text.substr(
      0, space == std::string::npos || space == 0 ? std::max<std::size_t>(columns_shown, 1) : space);
}

const char* colour_of(Pace pace) {
  switch (pace) {
    case Pace::keeps_up: return "\x1b[32m";
    case Pace::falls_behind: return "\x1b[33m";
    case Pace::holds_up_model: return "\x1b[31m";
    case Pace::over: return "\x1b[2m";
  }
  return "";
}

bool all_are(const LiveSession& session, ServerLife life) {
  return std::ranges::all_of(session.servers, [&](const LiveServer& it) { return it.life == life; });
}

/// A server, or else a frontend.
const LiveServer* first_that_is(const LiveSession& session, ServerLife life) {
  for (const auto* const all : {&session.servers, &session.frontends}) {
    const auto at = std::ranges::find(*all, life, &LiveServer::life);
    if (at != all->end()) return &*at;
  }
  return nullptr;
}

std::string label_of(const LiveServer& it) {
  return fmt::format("{} {}", it.page.state.is_frontend() ? "frontend" : "I/O server",
                     it.page.state.identity.server);
}

}  // namespace

const char* name_of(ServerLife life) noexcept {
  switch (life) {
    case ServerLife::running: return "running";
    case ServerLife::ended: return "ended";
    case ServerLife::failed: return "failed";
    case ServerLife::dead: return "dead";
    case ServerLife::unclear: return "unclear";
  }
  return "unclear";
}

std::vector<LiveSession> live_sessions(std::vector<FoundPage> pages, const LiveAsker& asker) {
  std::map<std::string, std::pair<double, std::string>> newest;  // by session: the start of its
                                                                 // latest run, and the run
  for (const FoundPage& page : pages) {
    auto& [begun, run] = newest[page.state.identity.session];
    if (run.empty() || page.state.identity.started_at_s > begun)
      std::tie(begun, run) = std::tie(page.state.identity.started_at_s, page.state.identity.run);
  }
  std::map<std::string, LiveSession> sessions;
  for (FoundPage& page : pages) {
    if (page.state.identity.run != newest[page.state.identity.session].second) continue;
    LiveSession& session = sessions[page.state.identity.session];
    session.name = page.state.identity.session;
    session.run = page.state.identity.run;
    const ServerLife life = life_of(page, asker);
    auto& its_like = page.state.is_frontend() ? session.frontends : session.servers;
    its_like.push_back({std::move(page), life});
  }
  std::vector<LiveSession> list;
  for (auto& [name, session] : sessions) {
    for (auto* const all : {&session.servers, &session.frontends})
      std::ranges::sort(*all, {}, [](const LiveServer& it) { return it.page.state.identity.server; });
    if (session.servers.empty()) continue;  // frontends have pages slightly earlier
    list.push_back(std::move(session));
  }
  return list;
}

LiveVerdict verdict_on(const LiveSession& session) {
  const Sums sums = sums_of(session);
  const double model_s = sums.elapsed_s * static_cast<double>(std::max<std::uint64_t>(sums.model_ranks, 1));
  const double share = model_s > 0 ? sums.room_s / model_s : 0;
  const std::string waited = fmt::format("the model has waited {:.1f} % of its time for room", 100 * share);
  if (const LiveServer* dead = first_that_is(session, ServerLife::dead))
    return {Pace::over, fmt::format("dead: {} did not end, and its process {} on {} is gone; `afterbay "
                                    "status` says what is complete",
                                    label_of(*dead), dead->page.state.identity.pid,
                                    printable(dead->page.state.identity.host))};
  if (first_that_is(session, ServerLife::failed) != nullptr)
    return {Pace::over, "failed: `afterbay status` says why, and what is complete"};
  if (all_are(session, ServerLife::ended))
    return {Pace::over, fmt::format("ended after {}: {}", duration_text(sums.elapsed_s), waited)};
  if (const LiveServer* lost = first_that_is(session, ServerLife::unclear))
    return {Pace::over, fmt::format("unclear: {} on {} has not updated its page for a while", label_of(*lost),
                                    printable(lost->page.state.identity.host))};
  if (sums.waits_in_s == 0)
    return {Pace::holds_up_model, "too slow: the model waits for the I/O servers now; " + waited + " so far"};
  if (sums.waits_in_s > 0)
    return {Pace::falls_behind,
            fmt::format("falls behind: the backlog grows, the model will wait in about {}",
                        text_of_seconds(sums.waits_in_s))};
  if (sums.waiting_now > 0)
    return {Pace::falls_behind,
            fmt::format("full: {} model rank{} wait{} for room now; {} so far", sums.waiting_now,
                        sums.waiting_now == 1 ? "" : "s", sums.waiting_now == 1 ? "s" : "", waited)};
  if (share > noticed_share) return {Pace::falls_behind, "keeps up now: " + waited + " so far"};
  return {Pace::keeps_up, "keeps up: " + waited};
}

std::string screen_of(const LiveSession& session, ScreenSize size, bool colour) {
  const Sums sums = sums_of(session);
  const LiveVerdict verdict = verdict_on(session);
  const ServerState& any = session.servers.front().page.state;
  const bool runs =
      std::ranges::find(session.servers, ServerLife::running, &LiveServer::life) != session.servers.end();
  const std::string title = fmt::format(
      "{}  {}, step {}  {} model rank{}, {} I/O server{} ({})  in {}{}  out {}{}", printable(session.name),
      duration_text(sums.elapsed_s), sums.steps, sums.model_ranks, sums.model_ranks == 1 ? "" : "s",
      any.identity.servers, any.identity.servers == 1 ? "" : "s", printable(any.identity.topology),
      runs ? text_of_bytes(sums.in_per_s) : bytes_of(sums.in), runs ? "/s" : "",
      runs ? text_of_bytes(sums.out_per_s) : bytes_of(sums.out), runs ? "/s" : "");
  const auto in_style = [&](const char* style, const std::string& text) {
    return colour ? style + text + "\x1b[0m\n" : text + "\n";
  };
  std::string text = in_style("\x1b[1m", cut_to(title, size.width));
  for (std::string rest = verdict.text; !rest.empty();) {
    const std::string line = first_line(rest, size.width);
    text += in_style(colour_of(verdict.pace), line);
    rest.erase(0, line.size());
    if (rest.starts_with(' ')) rest.erase(0, 1);
  }
  LiveSession shown = session;
  const std::size_t most = std::max<std::size_t>(size.height > 12 ? size.height - 12 : 1, 4);
  if (shown.servers.size() > most) shown.servers.resize(most);
  text += "\n" + servers_table(shown, size.width);
  if (session.servers.size() > most)
    text += fmt::format("and {} more servers\n", session.servers.size() - most);
  const std::size_t frontends_shown = std::max<std::size_t>(most - std::min(most, shown.servers.size()), 3);
  text += frontends_table(session, size.width, frontends_shown);
  const std::size_t used =
      shown.servers.size() + 7 +
      (session.frontends.empty() ? 0 : std::min(session.frontends.size(), frontends_shown) + 3);
  return text + collections_table(session, size.width,
                                  std::max<std::size_t>(size.height - std::min(size.height, used), 3));
}

std::string live_json(const std::vector<LiveSession>& sessions) {
  using Tree = nlohmann::ordered_json;
  Tree json{{"afterbay_top", 1}, {"sessions", Tree::array()}};
  for (const LiveSession& session : sessions) {
    const LiveVerdict verdict = verdict_on(session);
    constexpr const char* paces[] = {"keeps_up", "falls_behind", "holds_up_model", "over"};
    Tree one{{"session", session.name},
             {"run", session.run},
             {"pace", paces[static_cast<int>(verdict.pace)]},
             {"verdict", verdict.text},
             {"servers", Tree::array()},
             {"frontends", Tree::array()}};
    for (const auto* const all : {&session.servers, &session.frontends})
      for (const LiveServer& it : *all) {
        Tree page = Tree::parse(page_json(it.page));
        page["state"] = name_of(it.life);
        one[all == &session.servers ? "servers" : "frontends"].push_back(std::move(page));
      }
    json["sessions"].push_back(std::move(one));
  }
  return json.dump(2, ' ', false, Tree::error_handler_t::replace) + "\n";
}

}  // namespace afterbay::observe
