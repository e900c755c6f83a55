// SPDX-License-Identifier: Apache-2.0
#include "scale/emulation.hpp"

#include <malloc.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

namespace bench {

std::unique_ptr<afterbay::config::Config> config_with(const std::vector<std::string>& settings) {
  afterbay::config::Sources sources;
  sources.environment.emplace();
  sources.settings = {{"statistics.directory", "off"}, {"journal.directory", "off"}, {"report.table", "off"}};
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    sources.settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return std::make_unique<afterbay::config::Config>(must(afterbay::config::load(sources)));
}

Memory memory_now() {
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  const auto heap = ::mallinfo2();
  return {resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), heap.uordblks + heap.hblkhd};
}

std::uint64_t grown(std::uint64_t before, std::uint64_t after) { return after > before ? after - before : 0; }

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace bench
