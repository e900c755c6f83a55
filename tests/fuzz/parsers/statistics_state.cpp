// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/crc64.hpp"
#include "mutator.hpp"
#include "parsers.hpp"
#include "statistics/bundle.hpp"

namespace afterbay::test {
namespace {

using namespace statistics;

constexpr std::size_t points = 3;
const Statistic all[] = {{StatisticKind::mean, Missing::ignore},
                         {StatisticKind::maximum},
                         {StatisticKind::standard_deviation, Missing::threshold, 0.5, true},
                         {StatisticKind::difference, Missing::poison}};

/// A bundle of the statistics above, and the memory of their states.
struct States {
  States() {
    for (const Statistic& statistic : all) {
      memory.emplace_back(state_bytes(statistic, Type::int16, points) / sizeof(double) + 1);
      bundle.add(statistic, std::as_writable_bytes(std::span(memory.back()))).value();
    }
  }
  Bundle bundle = Bundle::create({Type::int16, Values(std::int16_t{-1})}, points).value();
  std::vector<std::vector<double>> memory;
};

}  // namespace

/// With the checksum that fits: otherwise hardly any damaged state would be looked at.
void parse_statistics_state(Bytes bytes) {
  std::vector<std::byte> saved(bytes.begin(), bytes.end());
  States states;
  for (std::size_t i = 0; i < states.bundle.size(); ++i) static_cast<void>(states.bundle.restore(i, saved));
  if (saved.size() < sizeof(std::uint64_t)) return;
  const std::size_t end = saved.size() - sizeof(std::uint64_t);
  const std::uint64_t sum = crc64(std::span(saved).first(end));
  std::memcpy(saved.data() + end, &sum, sizeof sum);
  for (std::size_t i = 0; i < states.bundle.size(); ++i) {
    if (!states.bundle.restore(i, saved)) continue;
    const std::int16_t values[points]{1, -1, 3};
    static_cast<void>(states.bundle.step(reinterpret_cast<const std::byte*>(values), 1));
    std::byte results[points * sizeof(float)];
    static_cast<void>(states.bundle.result(i, {Type::float32, Values(-1.0F)}, results, 0, points));
  }
}

void write_states(const std::filesystem::path& directory) {
  States states;
  const std::int16_t values[points]{7, -1, 9};
  for (std::size_t i = 0; i < states.bundle.size(); ++i) {
    std::vector<std::byte> saved;
    states.bundle.save(i, saved);
    const auto write = [&](const char* what) {
      write_bytes(directory / (std::string(name_of(all[i].kind)) + what),
                  {reinterpret_cast<const char*>(saved.data()), saved.size()});
    };
    if (i == 0) write("-empty");
    static_cast<void>(states.bundle.step(reinterpret_cast<const std::byte*>(values), 2));
    states.bundle.begin_interval(3);
    saved.clear();
    states.bundle.save(i, saved);
    write("");
  }
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_statistics_state);
