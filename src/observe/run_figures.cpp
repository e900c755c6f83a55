// SPDX-License-Identifier: Apache-2.0
#include "observe/run_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "observe/progress.hpp"

namespace afterbay::observe {
namespace {

// Shares of the run above which waits are more than noise, and too much for a model.
constexpr double noticed = 0.01;
constexpr double serious = 0.05;
/// Share of a server's memory: if the peak was lower, memory was not short.
constexpr double little_used_share = 0.5;
constexpr double most_times = 8;  ///< above this, an estimate of the number of servers is
                                  ///< meaningless

std::string seconds(double s) { return s < 0.1 ? fmt::format("{:.2f} s", s) : fmt::format("{:.1f} s", s); }
std::string percent(double share) { return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0); }
std::string amount_text(double bytes) { return text_of_bytes(bytes); }

void add_model(RunFigures& to, const RunPage& page) {
  for (const TimelineRecord& it : page.timelines) {
    if (it.role != "model") continue;
    ++to.model_ranks;
    to.put_s += it.total_s(Lane::put);
    to.room_s += it.total_s(Lane::room);
    to.files_s += it.total_s(Lane::files);
    to.end_s += it.total_s(Lane::end);
    to.read_s += it.total_s(Lane::read);
    to.define_s += it.total_s(Lane::define);
    to.open_s += it.total_s(Lane::open);
  }
  const double ranks = static_cast<double>(std::max<std::size_t>(to.model_ranks, 1));
  for (double* part : {&to.put_s, &to.room_s, &to.files_s, &to.end_s, &to.read_s, &to.define_s, &to.open_s})
    *part /= ranks;
}

void add_servers(RunFigures& to, const RunPage& page) {
  for (const ServerHistory& it : page.servers) {
    to.files += it.files.size() + it.older_files;
    to.records_refused += it.records_refused;
    if (!it.points.empty()) {
      to.bytes_in += it.points.back().bytes_in;
      to.bytes_written += it.points.back().bytes_written;
    }
    for (const SeriesPoint& point : it.points) {
      const double share = it.backlog_limit_bytes == 0 ? 0
                                                       : static_cast<double>(point.backlog_bytes) /
                                                             static_cast<double>(it.backlog_limit_bytes);
      if (share <= to.peak_share) continue;
      to.peak_share = share;
      to.peak_bytes = point.backlog_bytes;
      to.limit_bytes = it.backlog_limit_bytes;
      to.peak_server = it.server;
      to.peak_at_s = point.at_s;
    }
  }
}

/// How busy the servers' workers were, and what they did.
void add_work(RunFigures& to, const RunPage& page) {
  double busy_s = 0, elapsed_s = 0;
  for (const TimelineRecord& it : page.timelines) {
    if (it.role != "server") continue;
    busy_s += it.total_s(Lane::write) + it.total_s(Lane::publish) + it.total_s(Lane::create);
    elapsed_s += it.elapsed_s;
  }
  if (elapsed_s > 0) to.busy_share = std::min(1.0, busy_s / elapsed_s / std::max(1U, page.writers));
  double write_s = 0, disk_s = 0, pack_s = 0;
  for (const RoleReport& role : page.report.roles) {
    if (role.role != "server") continue;
    bool writing = false;
    for (const Row& row : role.rows) {
      if (row.depth == 1) writing = row.name == "write" || row.name == "publish";
      if (writing && row.depth == 1) write_s += row.inclusive;
      if (writing && row.depth == 3 && row.name == "disk") disk_s += row.inclusive;
      if (writing && row.depth == 3 && row.name == "encode") pack_s += row.inclusive;
    }
  }
  if (write_s > 0) to.disk_share = disk_s / write_s, to.pack_share = pack_s / write_s;
}

std::string headline_of(const RunFigures& it, RunGrade grade, double held_up_s) {
  const char* how = grade == RunGrade::kept_up  ? "The I/O servers kept up"
                    : grade == RunGrade::nearly ? "The I/O servers nearly kept up"
                                                : "The I/O servers could not keep up";
  return fmt::format("{}: the model waited {} of {} for them ({}).", how, seconds(held_up_s),
                     seconds(it.elapsed_s), percent(it.share(held_up_s)));
}

/// Why it waited, and what would help.
std::string advice(const RunFigures& it) {
  if (it.peak_share < little_used_share && it.records_refused > 0)
    return fmt::format(
        "There was room in the servers' memory: no more than {} of it was in use. But too many records of a "
        "variable were waiting to be written: more servers or more writers help.",
        percent(it.peak_share));
  if (it.peak_share < little_used_share)
    return fmt::format(
        "There was room in the servers' memory: no more than {} of it was in use. The buffers between model "
        "and "
        "servers were full: raise memory.link (of each rank, over the network) or memory.frontend.",
        percent(it.peak_share));
  if (it.busy_share < 0.6)
    return fmt::format(
        "The servers' workers were busy for {} of the time: their memory is too small for the "
        "model's bursts. Raise memory.server.",
        percent(it.busy_share));
  std::string limit;
  if (it.disk_share > 0.5)
    limit = fmt::format(
        "{} of it writing to the disk, which is the limit. More servers help if the file system can "
        "write more in parallel; otherwise write less, or compress",
        percent(it.disk_share));
  else if (it.pack_share > 0.5)
    limit =
        fmt::format("{} of it compressing: more servers, more writers or a lower level of compression help",
                    percent(it.pack_share));
  else
    limit = "with the disk, packing and bookkeeping: more servers or more writers help";
  return fmt::format("The servers' workers were busy for {} of the time, {}.", percent(it.busy_share), limit);
}

/// How many servers of this speed would have been enough.
std::string estimate(const RunFigures& it) {
  const double free_s = it.elapsed_s - it.room_s - it.files_s - it.end_s;
  const double one_rate = static_cast<double>(it.bytes_in) / it.elapsed_s / static_cast<double>(it.servers) /
                          std::max(it.busy_share, 0.05);
  if (free_s <= 0 || one_rate <= 0) return {};
  const double wanted = static_cast<double>(it.bytes_in) / free_s;
  const double times = wanted / one_rate / static_cast<double>(it.servers);
  if (times <= 1) return {};
  const std::string rates =
      fmt::format("Without waits the model would produce {}/s, and a busy server wrote {}/s",
                  amount_text(wanted), amount_text(one_rate));
  if (times > most_times) return fmt::format("{}: this takes {:.0f} times as many servers.", rates, times);
  return fmt::format("{}: about {:.0f} servers of this kind would keep up; the run had {}.", rates,
                     std::ceil(times * static_cast<double>(it.servers)), it.servers);
}

}  // namespace

RunFigures figures_of(const RunPage& page) {
  RunFigures figures;
  figures.servers = page.servers.size();
  bool first = true;
  for (const TimelineRecord& it : page.timelines) {
    if (first || it.started_at_s < figures.started_at_s) figures.started_at_s = it.started_at_s;
    first = false;
  }
  for (const TimelineRecord& it : page.timelines)
    figures.elapsed_s = std::max(figures.elapsed_s, it.started_at_s - figures.started_at_s + it.elapsed_s);
  add_model(figures, page);
  add_servers(figures, page);
  add_work(figures, page);
  return figures;
}

RunVerdict verdict_of(const RunFigures& it) {
  const double held_up_s = it.room_s + it.files_s;
  const double at_end = it.share(it.end_s);
  RunVerdict verdict;
  if (it.share(held_up_s) >= serious)
    verdict.grade = RunGrade::too_slow;
  else if (it.share(held_up_s) >= noticed || (at_end >= 2 * serious && it.end_s > 1))
    verdict.grade = RunGrade::nearly;
  verdict.headline = headline_of(it, verdict.grade, held_up_s);
  if (verdict.grade != RunGrade::kept_up && it.room_s >= it.files_s) {
    verdict.details.push_back(advice(it));
    if (const std::string more = estimate(it); !more.empty() && it.busy_share >= 0.6)
      verdict.details.push_back(more);
  } else if (verdict.grade != RunGrade::kept_up && it.files_s > 0) {
    verdict.details.push_back(fmt::format(
        "It waited in its own calls: {} in wait, flush or end_step until its data were written. With "
        "the inline topology in synchronous mode this happens in every step; otherwise wait "
        "later, or not at all.",
        seconds(it.files_s)));
  }
  if (it.limit_bytes > 0)
    verdict.details.push_back(fmt::format(
        "At most {} of {} ({}) of a server's memory held data that were not yet written (I/O server {}, "
        "after {}).",
        amount_text(static_cast<double>(it.peak_bytes)), amount_text(static_cast<double>(it.limit_bytes)),
        percent(it.peak_share), it.peak_server, seconds(it.peak_at_s)));
  verdict.details.push_back(fmt::format(
      "Putting {} took {} of each model rank ({}){}.", amount_text(static_cast<double>(it.bytes_in)),
      seconds(it.put_s), percent(it.share(it.put_s)),
      it.end_s >= 0.05
          ? fmt::format("; at the end it waited {} for the files to be complete", seconds(it.end_s))
          : ""));
  return verdict;
}

}  // namespace afterbay::observe
