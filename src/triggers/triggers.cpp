// SPDX-License-Identifier: Apache-2.0
#include "triggers/triggers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"
#include "base/glob.hpp"
#include "base/new_file.hpp"
#include "base/run_command.hpp"
#include "base/suggest.hpp"

namespace afterbay::triggers {
namespace {

constexpr std::size_t most_waiting = 10'000;  ///< per trigger; takes several megabytes
constexpr std::chrono::milliseconds grace{2000};

/// Prefixes of variables that are not passed to commands: a command that runs an MPI program must
/// not be taken for a rank of this job, and a command that belongs to a run started by a trigger
/// must not inherit that trigger's variables.
constexpr std::array<std::string_view, 9> not_handed_on{
    "OMPI_", "PMIX_", "PMI_", "PRTE_", "PRRTE_", "MPI_LOCAL", "HYDRA_", "HYDI_", "AFTERBAY_TRIGGER_"};

std::string file_name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// The values of placeholders, by name.
std::vector<std::pair<const char*, std::string>> values_of(const Event& event) {
  return {{"file", event.file},   {"name", file_name_of(event.file)},
          {"step", event.step},   {"member", event.member},
          {"date", event.date},   {"collection", event.collection},
          {"epoch", event.epoch}, {"server", std::to_string(event.server)},
          {"run", event.run}};
}

/// Calls text(part) for text outside braces, and name(name) for the names inside.
template <class Text, class Name>
void each_part(std::string_view touch, const Text& text, const Name& name) {
  while (!touch.empty()) {
    const auto open = touch.find('{');
    const auto close = open == std::string_view::npos ? open : touch.find('}', open);
    if (close == std::string_view::npos) return text(touch);
    text(touch.substr(0, open));
    name(touch.substr(open + 1, close - open - 1));
    touch.remove_prefix(close + 1);
  }
}

Error touch_error(const std::string& path, const char* doing, int number) {
  return make_error(ErrorCode::io, "cannot {} the touch-file {}: {}", doing, path, std::strerror(number))
      .with_native(number)
      .in_file(path);
}

/// The beginning of the result of `line_of`.
constexpr std::string_view touch_begin = "{\"on\":";

std::string line_of(const Event& event) {
  nlohmann::ordered_json line{{"on", name_of(event.on)}, {"session", event.session}, {"run", event.run}};
  switch (event.on) {
    case Occasion::published:
      line["path"] = event.file;
      line["collection"] = event.collection;
      line["bytes"] = event.bytes;
      line["records"] = event.records;
      if (!event.checksum.empty()) line["checksum"] = event.checksum;
      break;
    case Occasion::epoch: line["epoch"] = event.epoch; break;
  }
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Whether the name is free, or belongs to an older touch-file, which may be replaced.
bool may_touch(const std::string& path) {
  std::error_code wrong;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, wrong))) return true;
  if (!std::filesystem::is_regular_file(path, wrong)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(touch_begin.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file.gcount() == 0 || begin == touch_begin;
}

/// The file appears under its name only with its complete contents, and is durable then: the
/// journal says so.
Result<> touch_file(const std::string& path, const Event& event) {
  std::error_code wrong;
  if (!may_touch(path))
    return fail(make_error(ErrorCode::exists,
                           "the touch-file {} would replace something that is not a touch-file: give `touch` "
                           "another name, for example {{file}}.done",
                           path)
                    .in_file(path));
  if (const auto directory = std::filesystem::path(path).parent_path(); !directory.empty())
    std::filesystem::create_directories(directory, wrong);
  const std::string beside = name_beside(path);
  if (const int number = write_new_file(beside, line_of(event)))
    return fail(touch_error(beside, "write", number));
  const int number = rename_durably(beside, path);
  if (number == 0) return {};
  (void)std::remove(beside.c_str());
  return fail(touch_error(path, "make", number));
}

}  // namespace

const char* name_of(Occasion occasion) noexcept {
  switch (occasion) {
#define AFTERBAY_ROW(NAME) \
  case Occasion::NAME: return #NAME;
    AFTERBAY_OCCASIONS(AFTERBAY_ROW)
#undef AFTERBAY_ROW
  }
  return "unknown";
}

std::string filled(const std::string& touch, const Event& event) {
  const auto values = values_of(event);
  std::string path;
  each_part(
      touch, [&](std::string_view text) { path += text; },
      [&](std::string_view name) {
        for (const auto& [known, value] : values)
          if (name == known) path += value;
      });
  return path;
}

Result<> check_touch(std::string_view touch) {
  Result<> checked;
  std::vector<std::string> names;
  for (const auto& [name, value] : values_of({})) names.emplace_back(name);
  each_part(
      touch, [](std::string_view) {},
      [&](std::string_view name) {
        if (std::ranges::find(names, name) == names.end())
          checked = fail(ErrorCode::invalid_argument, "there is no {{{}}}{}; there are {}", name,
                         did_you_mean(name, names), one_of(names));
      });
  return checked;
}

std::vector<std::string> environment_for(const Trigger& trigger, const Event& event) {
  std::vector<std::string> list;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (std::ranges::none_of(not_handed_on, [&](std::string_view start) { return text.starts_with(start); }))
      list.emplace_back(text);
  }
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) list.push_back(fmt::format("AFTERBAY_TRIGGER_{}={}", name, value));
  };
  add("NAME", trigger.name);
  add("ON", name_of(event.on));
  add("SESSION", event.session);
  add("RUN", event.run);
  add("SERVER", std::to_string(event.server));
  switch (event.on) {
    case Occasion::published:
      add("FILE", event.file);
      add("SIZE", std::to_string(event.bytes));
      add("RECORDS", std::to_string(event.records));
      add("CHECKSUM", event.checksum);
      add("COLLECTION", event.collection);
      add("STEP", event.step);
      add("MEMBER", event.member);
      add("DATE", event.date);
      break;
    case Occasion::epoch: add("EPOCH", event.epoch); break;
  }
  return list;
}

Lane::~Lane() {
  give_up();
  thread_.request_stop();
  ready_.notify_all();
}

bool Lane::wants(const Event& event) const {
  if (event.on != trigger_.on) return false;
  switch (event.on) {
    case Occasion::epoch: return true;
    case Occasion::published: break;
  }
  return trigger_.collections.empty() ||
         std::ranges::any_of(trigger_.collections, [&](const std::string& pattern) {
           return glob_match(pattern, event.collection);
         });
}

void Lane::fire(Event event) {
  bool full = false;
  {
    const MutexLock lock(mutex_);
    full = waiting_.size() >= most_waiting;
    if (!full) waiting_.push_back(event);
  }
  if (full)
    return tell(event, 0,
                fail(ErrorCode::resources,
                     "{} events wait for it already: it is slower than the output of files", most_waiting));
  if (!thread_.joinable())
    thread_ = std::jthread(in_terms_of_caller([this](const std::stop_token& stop) { run(stop); }));
  ready_.notify_one();
}

bool Lane::idle() const {
  const MutexLock lock(mutex_);
  return waiting_.empty() && !running_;
}

void Lane::give_up() { given_up_ = true; }

void Lane::run(const std::stop_token& stop) {
  for (;;) {
    Event event;
    {
      MutexLock lock(mutex_);
      ready_.wait(lock, stop, [this] {
        assert_held(mutex_);
        return !waiting_.empty();
      });
      if (waiting_.empty()) return;
      event = std::move(waiting_.front());
      waiting_.pop_front();
      running_ = true;
    }
    const std::uint64_t begin = now_ns();
    Result<> result =
        given_up_ ? fail(ErrorCode::timed_out, "it was not started because the run ends") : act(event);
    tell(event, static_cast<double>(now_ns() - begin) * 1e-9, std::move(result));
    const MutexLock lock(mutex_);
    running_ = false;
  }
}

/// The command runs first: the touch-file shows that everything is done.
Result<> Lane::act(const Event& event) {
  if (!trigger_.command.empty())
    AFTERBAY_TRY(run_command(
        {{"/bin/sh", "-c", trigger_.command}, environment_for(trigger_, event), true, grace, &given_up_},
        trigger_.timeout));
  if (trigger_.touch.empty()) return {};
  return touch_file(filled(trigger_.touch, event), event);
}

void Lane::tell(const Event& event, double seconds, Result<> result) const {
  tell_({trigger_.name, event, seconds, result ? std::optional<Error>() : std::move(result).error()});
}

Triggers::Triggers(const std::vector<Trigger>& triggers, const Lane::Tell& tell) {
  for (const Trigger& one : triggers) lanes_.push_back(std::make_unique<Lane>(one, tell));
}

std::vector<std::string> Triggers::due(const Event& event) const {
  std::vector<std::string> names;
  for (const auto& lane : lanes_)
    if (lane->wants(event)) names.push_back(lane->name());
  return names;
}

void Triggers::fire(const Event& event) {
  for (const auto& lane : lanes_)
    if (lane->wants(event)) lane->fire(event);
}

bool Triggers::idle() const {
  return std::ranges::all_of(lanes_, [](const auto& lane) { return lane->idle(); });
}

void Triggers::give_up() {
  for (const auto& lane : lanes_) lane->give_up();
}

}  // namespace afterbay::triggers
