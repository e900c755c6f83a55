// SPDX-License-Identifier: Apache-2.0
#include "server/triggers/trigger_runner.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace afterbay::server {
namespace {

std::string text_of_number(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

}  // namespace

TriggerRunner::TriggerRunner(const config::Config& config, const Identity& identity, Logger logger, Host host)
    : config_(config), identity_(identity), logger_(std::move(logger)), host_(std::move(host)) {
  if (!config.triggers.all.empty())
    triggers_ = std::make_unique<triggers::Triggers>(
        config.triggers.all, [this](const triggers::Outcome& outcome) { ran(outcome); });
}

triggers::Event TriggerRunner::event_of(triggers::Occasion occasion) const {
  triggers::Event event;
  event.on = occasion;
  event.session = identity_.session;
  event.run = identity_.run;
  event.server = identity_.number;
  return event;
}

std::vector<std::string> TriggerRunner::due_for_file(const std::string& collection) const {
  if (!triggers_) return {};
  triggers::Event event;
  event.collection = collection;
  return triggers_->due(event);
}

std::vector<std::string> TriggerRunner::due_for_epoch() const {
  if (!triggers_ || identity_.number != 0) return {};
  triggers::Event event;
  event.on = triggers::Occasion::epoch;
  return triggers_->due(event);
}

/// Called by a trigger's thread. A failed trigger does not make the output incomplete.
void TriggerRunner::ran(const triggers::Outcome& outcome) {
  const triggers::Event& of = outcome.event;
  journal::TriggerRan line;
  line.trigger = outcome.trigger;
  line.on = triggers::name_of(of.on);
  if (!of.file.empty()) line.path = of.file;
  if (!of.epoch.empty()) line.epoch = of.epoch;
  line.ok = !outcome.error;
  line.seconds = outcome.seconds;
  if (outcome.error) line.text = outcome.error->text();
  host_.record(std::move(line));
  if (outcome.error) {
    const bool first = [&] {
      const MutexLock lock(failed_mutex_);
      return failed_.insert(outcome.trigger).second;
    }();
    logger_.write(
        first ? LogLevel::warning : LogLevel::debug,
        fmt::format("trigger \"{}\" for {} failed; the output is complete nevertheless: {}{}",
                    outcome.trigger, of.file.empty() ? "epoch " + of.epoch : of.file, outcome.error->text(),
                    first ? "\nits later failures are recorded in the journal only" : ""));
  }
  host_.wake();
}

void TriggerRunner::file_published(const File& file) {
  if (!triggers_) return;
  triggers::Event event = event_of(triggers::Occasion::published);
  event.collection = file.collection;
  std::error_code ignored;
  event.file = std::filesystem::absolute(file.path, ignored).lexically_normal().string();
  event.bytes = file.bytes;
  event.records = file.records;
  if (file.checksum) event.checksum = journal::print_checksum(*file.checksum);
  event.step = text_of_number(file.step);
  event.member = text_of_number(file.member);
  event.date = file.date;
  triggers_->fire(event);
}

void TriggerRunner::epoch_complete_here(std::uint64_t number, const std::string& name) {
  if (!config_.waits_for_epochs()) return;
  if (identity_.number != 0) return host_.report_epoch(number, name);
  complete_here_[number] = name;
  fire_complete_epochs();
}

void TriggerRunner::epoch_complete_elsewhere(std::uint64_t number) {
  ++complete_elsewhere_[number];
  fire_complete_epochs();
}

void TriggerRunner::forget_epochs() {
  complete_here_.clear();
  complete_elsewhere_.clear();
}

void TriggerRunner::fire_complete_epochs() {
  std::erase_if(complete_here_, [this](const auto& entry) AFTERBAY_REQUIRES(ingest_thread) {
    const auto& [number, name] = entry;
    if (complete_elsewhere_[number] + 1 < static_cast<std::size_t>(identity_.servers)) return false;
    triggers::Event event = event_of(triggers::Occasion::epoch);
    event.epoch = name;
    triggers_->fire(event);
    complete_elsewhere_.erase(number);
    return true;
  });
}

bool TriggerRunner::ended(std::uint64_t now_ns, std::uint64_t deadline_ns) {
  if (!complete_here_.empty()) {
    if (epochs_until_ns_ == 0) epochs_until_ns_ = now_ns + deadline_ns;
    if (now_ns <= epochs_until_ns_) return false;
  }
  if (!triggers_ || triggers_->idle()) return true;
  if (triggers_until_ns_ == 0) {
    // The other processes of the session wait for this one, at most until the deadline.
    const auto most = std::min(config_.triggers.at_end, config_.deadline / 2);
    triggers_until_ns_ = now_ns + static_cast<std::uint64_t>(most.count()) * 1'000'000;
  }
  if (now_ns > triggers_until_ns_) triggers_->give_up();
  return false;
}

}  // namespace afterbay::server
