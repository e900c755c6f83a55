// SPDX-License-Identifier: Apache-2.0
// Triggers: commands and touch-files for completed files and epochs of a server. Each trigger has
// its own queue and thread, so that a slow one does not delay the others; none delays the server.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"

namespace afterbay::triggers {

/// One line per occasion, whose name is that of the setting `on`, of the journal and of the
/// environment of commands.
#define AFTERBAY_OCCASIONS(ROW) \
  ROW(published)                \
  ROW(epoch)

#define AFTERBAY_ROW(NAME) NAME,
enum class Occasion { AFTERBAY_OCCASIONS(AFTERBAY_ROW) };
#undef AFTERBAY_ROW

#define AFTERBAY_ROW(NAME) Occasion::NAME,
inline constexpr std::array all_occasions{AFTERBAY_OCCASIONS(AFTERBAY_ROW)};
#undef AFTERBAY_ROW

const char* name_of(Occasion occasion) noexcept;

/// An action and the events that cause it.
struct Trigger {
  std::string name;
  Occasion on = Occasion::published;
  /// Names or patterns; empty: all. Epochs belong to no collection.
  std::vector<std::string> collections;
  std::string command;  ///< for /bin/sh; empty: none
  std::string touch;    ///< path with {file} and the like; empty: none
  std::chrono::milliseconds timeout{300'000};
};

/// An event; members that do not apply stay empty.
struct Event {
  Occasion on = Occasion::published;
  std::string session;
  std::string run;
  std::int64_t server = 0;
  std::string collection;
  std::string file;  ///< absolute path
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  std::string checksum;  ///< "crc64-xz:..."
  std::string step;
  std::string member;
  std::string date;
  std::string epoch;
};

/// The result of a trigger for an event. Reported from any thread.
struct Outcome {
  std::string trigger;
  Event event;
  double seconds = 0;
  std::optional<Error> error;
};

/// `touch` with {file}, {name} (the file name without its directory), {collection}, {step},
/// {member}, {date}, {epoch}, {run} and {server} replaced by their values. The usual touch-file of
/// a file is "{file}.done".
std::string filled(const std::string& touch, const Event& event);
/// Fails with invalid_argument for an unknown placeholder.
Result<> check_touch(std::string_view touch);
/// "NAME=VALUE" for a command: the environment of the process without the variables of MPI
/// launchers (a command may itself run MPI programs), plus AFTERBAY_TRIGGER_FILE and so on.
std::vector<std::string> environment_for(const Trigger& trigger, const Event& event);

/// The events of one trigger that wait, and the thread that runs its command for them.
class TriggerQueue {
 public:
  using Tell = std::function<void(Outcome)>;
  TriggerQueue(Trigger trigger, Tell tell) : trigger_(std::move(trigger)), tell_(std::move(tell)) {}
  /// Kills the running command, and reports the remaining events.
  ~TriggerQueue();
  TriggerQueue(const TriggerQueue&) = delete;
  TriggerQueue& operator=(const TriggerQueue&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return trigger_.name; }
  [[nodiscard]] bool wants(const Event& event) const;
  /// Never waits. If too many events wait already, this one is reported as failed at once.
  void fire(Event event);
  /// Whether nothing waits or runs.
  [[nodiscard]] bool idle() const;
  /// Kills the running command; reports waiting events as failed without starting them.
  void give_up();

 private:
  void run(const std::stop_token& stop);
  Result<> act(const Event& event);
  void tell(const Event& event, double seconds, Result<> result) const;

  Trigger trigger_;
  Tell tell_;
  std::atomic<bool> given_up_{false};
  mutable Mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<Event> waiting_ AFTERBAY_GUARDED_BY(mutex_);
  bool running_ AFTERBAY_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  ///< last member; started with the first event
};

/// All triggers of a server. Used by one thread; `tell` is called from other threads.
class Triggers {
 public:
  Triggers(const std::vector<Trigger>& triggers, const TriggerQueue::Tell& tell);
  /// Names of the triggers that `event` starts. Any thread.
  [[nodiscard]] std::vector<std::string> due(const Event& event) const;
  void fire(const Event& event);
  [[nodiscard]] bool idle() const;
  void give_up();

 private:
  std::vector<std::unique_ptr<TriggerQueue>> queues_;
};

}  // namespace afterbay::triggers
