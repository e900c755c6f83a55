// SPDX-License-Identifier: Apache-2.0
#include "base/signal_catcher.hpp"

#include <signal.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

namespace afterbay {
namespace {

constexpr int most_signals = 65;

// A signal handler can only access global variables. These are the only ones.
std::array<std::atomic<std::uint32_t>, most_signals> counts;
std::array<struct sigaction, most_signals> older;
std::array<int, most_signals> catchers;
std::mutex installing;

void count_signal(int number, siginfo_t* info, void* context) {
  counts[static_cast<std::size_t>(number)].fetch_add(1);
  const struct sigaction& before = older[static_cast<std::size_t>(number)];
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
}

}  // namespace

SignalCatcher::SignalCatcher(std::vector<int> signals) : signals_(std::move(signals)) {
  const std::lock_guard lock(installing);
  for (const int number : signals_) {
    const auto at = static_cast<std::size_t>(number);
    before_.push_back(counts[at].load());
    if (catchers[at]++ > 0) continue;
    ::sigaction(number, nullptr, &older[at]);
    struct sigaction action {};
    action.sa_sigaction = count_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
}

SignalCatcher::~SignalCatcher() {
  const std::lock_guard lock(installing);
  for (const int number : signals_) {
    const auto at = static_cast<std::size_t>(number);
    if (--catchers[at] == 0) ::sigaction(number, &older[at], nullptr);
  }
}

int SignalCatcher::caught() const noexcept {
  for (std::size_t i = 0; i < signals_.size(); ++i)
    if (counts[static_cast<std::size_t>(signals_[i])].load() != before_[i]) return signals_[i];
  return 0;
}

const char* name_of_signal(int number) noexcept {
  switch (number) {
    case SIGTERM: return "SIGTERM";
    case SIGUSR1: return "SIGUSR1";
    case SIGINT: return "SIGINT";
    default: return ::strsignal(number);  // NOLINT(concurrency-mt-unsafe): for tests only
  }
}

}  // namespace afterbay
