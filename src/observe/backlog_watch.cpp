// SPDX-License-Identifier: Apache-2.0
#include "observe/backlog_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "observe/progress.hpp"

namespace afterbay::observe {
namespace {

constexpr double shortest_window_s = 1;
constexpr double longest_window_s = 30;    ///< for models that never call end_step
constexpr std::size_t windows_judged = 3;  ///< consecutive windows in which the lowest backlog
                                           ///< must have risen
constexpr double least_share = 0.1;        ///< share of the limit: smaller backlogs are ignored
constexpr double empty_share = 0.05;  ///< share of the limit: below it, the server has nothing left to do
constexpr double room_share = 0.5;    ///< share of the limit: below it, the server has room
/// Share of a window spent idle: above it, memory is too small, not speed.
constexpr double idle_share = 0.25;
constexpr double most_wait_share = 0.05;     ///< share of a window in which ranks may wait for room
constexpr double longest_prospect_s = 3600;  ///< predictions further ahead are unreliable

std::string bytes_text(std::uint64_t bytes) { return text_of_bytes(static_cast<double>(bytes)); }

/// "40 s", "12 min".
std::string about(double seconds) {
  return seconds < 120 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

double rate(std::uint64_t from, std::uint64_t to, double seconds) {
  return seconds > 0 && to > from ? static_cast<double>(to - from) / seconds : 0;
}

}  // namespace

bool BacklogWatch::ends_window(const BacklogSample& sample) const {
  const double passed = sample.at_s - open_->first.at_s;
  return (sample.steps != open_->first.steps && passed >= shortest_window_s) || passed >= longest_window_s;
}

std::optional<std::string> BacklogWatch::look(const BacklogSample& sample) {
  if (!open_) {
    open_ = Window{sample, sample, sample.backlog_bytes, sample.backlog_bytes, 0};
    return std::nullopt;
  }
  const double little = empty_share * static_cast<double>(sample.limit_bytes);
  if (static_cast<double>(std::max(sample.backlog_bytes, open_->last.backlog_bytes)) < little)
    open_->idle_s += sample.at_s - open_->last.at_s;
  open_->last = sample;
  open_->least_bytes = std::min(open_->least_bytes, sample.backlog_bytes);
  open_->most_bytes = std::max(open_->most_bytes, sample.backlog_bytes);
  if (!ends_window(sample)) return std::nullopt;
  windows_.push_back(*open_);
  if (windows_.size() > windows_judged) windows_.erase(windows_.begin());
  open_ = Window{sample, sample, sample.backlog_bytes, sample.backlog_bytes, 0};
  return judge();
}

bool BacklogWatch::grows() const {
  if (windows_.size() < windows_judged) return false;
  for (std::size_t w = 1; w < windows_.size(); ++w)
    if (windows_[w].least_bytes <= windows_[w - 1].least_bytes) return false;
  const Window& last = windows_.back();
  return static_cast<double>(last.least_bytes) > least_share * static_cast<double>(last.last.limit_bytes);
}

bool BacklogWatch::model_waits() const {
  const Window& it = windows_.back();
  const double passed = it.last.at_s - it.first.at_s;
  return it.last.waited_s - it.first.waited_s >
         most_wait_share * passed * static_cast<double>(std::max<std::uint64_t>(it.last.ranks, 1));
}

std::optional<std::string> BacklogWatch::begin(std::string text) {
  const BacklogSample& now = windows_.back().last;
  if (said_ || now.at_s < silent_until_s_) return std::nullopt;
  said_ = true;
  said_at_s_ = now.at_s;
  said_least_bytes_ = windows_.back().least_bytes;
  silent_until_s_ = now.at_s + next_silence_s_;
  next_silence_s_ *= 2;
  return text;
}

std::optional<std::string> BacklogWatch::maybe_over() {
  const Window& it = windows_.back();
  const auto least = static_cast<double>(it.least_bytes);
  const bool small = least < 0.5 * least_share * static_cast<double>(it.last.limit_bytes) ||
                     least < 0.5 * static_cast<double>(said_least_bytes_);
  if (!said_ || !small) return std::nullopt;
  said_ = false;
  return fmt::format("the backlog is worked off: {} of {} wait to be written, {} after the warning",
                     bytes_text(it.least_bytes), bytes_text(it.last.limit_bytes),
                     about(it.last.at_s - said_at_s_));
}

std::optional<std::string> BacklogWatch::judge() {
  const Window& last = windows_.back();
  const BacklogSample& from = windows_.front().first;
  const BacklogSample& now = last.last;
  const double passed = now.at_s - from.at_s;
  const double in = rate(from.bytes_in, now.bytes_in, passed);
  const double out = rate(from.bytes_out, now.bytes_out, passed);
  const std::string rates = fmt::format("{}/s come in and {}/s go out (over the last {})", text_of_bytes(in),
                                        text_of_bytes(out), about(passed));
  model_waits_in_s_.reset();
  if (model_waits()) {
    model_waits_in_s_ = 0;
    const bool room =
        static_cast<double>(last.most_bytes) < room_share * static_cast<double>(now.limit_bytes);
    if (room && last.last.records_refused > last.first.records_refused)
      return begin(
          fmt::format("the model waits for records to be written: {} of a variable are in the I/O server's "
                      "memory, and its "
                      "table, a small part of memory.server for all variables, has no more places, though no "
                      "more than {} of "
                      "{} are in use, {}. More servers, more writers or a larger memory.server would help",
                      now.most_records, bytes_text(last.most_bytes), bytes_text(now.limit_bytes), rates));
    if (room)
      return begin(fmt::format(
          "the model waits for room, though no more than {} of the I/O server's {} are in use: what "
          "stands between them is full (memory.link of each rank over the network, memory.frontend). "
          "Raise it. {}",
          bytes_text(last.most_bytes), bytes_text(now.limit_bytes), rates));
    if (last.idle_s > idle_share * (last.last.at_s - last.first.at_s))
      return begin(
          fmt::format("the model waits for room in every step, though what it puts is written before the "
                      "next: {} are not "
                      "enough for one step. Raise memory.server. {}",
                      bytes_text(now.limit_bytes), rates));
    return begin(
        fmt::format("the model waits for the I/O servers: their memory ({}) is full, {}. More "
                    "servers, more writers or less output would help",
                    bytes_text(now.limit_bytes), rates));
  }
  if (!grows() || in <= out) return maybe_over();
  const double left = static_cast<double>(now.limit_bytes - std::min(now.limit_bytes, last.most_bytes));
  const double wait_in = left / (in - out);
  if (wait_in > longest_prospect_s) return std::nullopt;
  model_waits_in_s_ = wait_in;
  return begin(
      fmt::format("the backlog grows: {} of {} wait to be written, {}: the model will wait in about "
                  "{}. More servers, more writers or less output would help",
                  bytes_text(last.least_bytes), bytes_text(now.limit_bytes), rates, about(wait_in)));
}

}  // namespace afterbay::observe
