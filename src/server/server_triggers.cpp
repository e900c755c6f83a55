// SPDX-License-Identifier: Apache-2.0
// What a server has done when it completes something; see triggers/triggers.hpp.
#include <algorithm>
#include <filesystem>

#include "journal/line.hpp"
#include "server/server.hpp"

namespace afterbay::server {
namespace {

std::string text_of_number(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

}  // namespace

std::unique_ptr<triggers::Triggers> Server::make_triggers() {
  if (config_.triggers.empty()) return nullptr;
  return std::make_unique<triggers::Triggers>(config_.triggers,
                                              [this](triggers::Outcome outcome) { trigger_ran(outcome); });
}

/// From a trigger's thread. The output is complete whatever became of it.
void Server::trigger_ran(const triggers::Outcome& outcome) {
  const triggers::Event& of = outcome.event;
  journal::TriggerRan ran;
  ran.trigger = outcome.trigger;
  ran.on = triggers::name_of(of.on);
  if (!of.file.empty()) ran.path = of.file;
  if (!of.epoch.empty()) ran.epoch = of.epoch;
  ran.ok = !outcome.error;
  ran.seconds = outcome.seconds;
  if (outcome.error) ran.text = outcome.error->text();
  if (journal_) journal_->triggered(std::move(ran));
  if (outcome.error) {
    const bool first = [&] {
      const MutexLock lock(failed_triggers_mutex_);
      return failed_triggers_.insert(outcome.trigger).second;
    }();
    logger_.write(
        first ? LogLevel::warning : LogLevel::debug,
        fmt::format("trigger \"{}\" for {} failed, the output is complete all the same: {}{}",
                    outcome.trigger, of.file.empty() ? "epoch " + of.epoch : of.file, outcome.error->text(),
                    first ? "\nlater failures of it are only in the journal" : ""));
  }
  Event seen;
  seen.then = [] {};
  event(std::move(seen));  // the end of the run may wait for it
}

void Server::fire_published(const OutputFile& file) {
  if (!triggers_ || file.collection->format == Format::memory) return;
  triggers::Event it;
  it.session = place_.session;
  it.run = place_.run;
  it.server = place_.number;
  it.collection = file.collection->name;
  std::error_code gone;
  it.file = std::filesystem::absolute(file.path, gone).lexically_normal().string();
  it.bytes = file.published_bytes;
  it.records = file.records_taken;
  if (file.published_checksum) it.checksum = journal::print_checksum(*file.published_checksum);
  it.step = text_of_number(file.name.step);
  it.member = text_of_number(file.name.member);
  it.date = file.name.date.value_or("");
  triggers_->fire(it);
}

/// An epoch is complete when it is on all servers; the first of them does what is to be done then.
void Server::epoch_complete_here(std::uint64_t number, const std::string& name) {
  if (!config_.waits_for_epochs()) return;
  if (place_.number == 0) {
    epochs_.complete_here[number] = name;
    fire_complete_epochs();
  } else if (auto sent = fellows_.send(0, wire::EpochComplete{number}); !sent) {
    fail(std::move(sent).error().add(fmt::format("while it said that epoch '{}' is complete", name)));
  }
}

void Server::epoch_complete_elsewhere(std::uint64_t number) {
  ++epochs_.complete_elsewhere[number];
  fire_complete_epochs();
}

void Server::fire_complete_epochs() {
  std::erase_if(epochs_.complete_here, [this](const auto& entry) {
    if (epochs_.complete_elsewhere[entry.first] + 1 < static_cast<std::size_t>(place_.servers)) return false;
    triggers::Event it;
    it.on = triggers::Occasion::epoch;
    it.session = place_.session;
    it.run = place_.run;
    it.server = place_.number;
    it.epoch = entry.second;
    triggers_->fire(it);
    epochs_.complete_elsewhere.erase(entry.first);
    return true;
  });
}

/// At the end of the run. Others may take longer, but not for ever.
bool Server::epochs_fired() {
  if (epochs_.complete_here.empty()) return true;
  const std::uint64_t now = now_ns();
  if (epochs_until_ns_ == 0) epochs_until_ns_ = now + stall_.limit_ns();
  port_->mark_progress();
  return now > epochs_until_ns_;
}

/// At the end of the run: whether it need not wait for triggers any more. Those that take too long are
/// killed.
bool Server::triggers_done() {
  if (!triggers_ || triggers_->idle()) return true;
  const std::uint64_t now = now_ns();
  if (triggers_until_ns_ == 0) {
    // The other processes of the session wait for this one, and no longer than the deadline.
    const auto most = std::min(config_.triggers_at_end, config_.deadline / 2);
    triggers_until_ns_ = now + static_cast<std::uint64_t>(most.count()) * 1'000'000;
  }
  port_->mark_progress();
  if (now > triggers_until_ns_) triggers_->give_up();
  return false;
}

}  // namespace afterbay::server
