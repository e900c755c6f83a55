// SPDX-License-Identifier: Apache-2.0
// One statistic of values from standard input, as float64 to standard output:
//
//   statistics_of TYPE POINTS STEPS OPERATION MISSING THRESHOLD WEIGHTED SAMPLE
//
// (numbers of the enumerations). Input: the missing value, then for each step its duration
// (float64) and its values. Missing results are -1e300.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "statistics/bundle.hpp"

namespace {

using namespace afterbay;
using namespace afterbay::statistics;

std::vector<std::byte> read_bytes(std::size_t bytes) {
  std::vector<std::byte> found(bytes);
  if (std::fread(found.data(), 1, bytes, stdin) != bytes) {
    std::fputs("statistics_of: the input is too short\n", stderr);
    std::exit(1);
  }
  return found;
}

template <class T>
T needed(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "statistics_of: %s\n", result.error().text().c_str());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) return 2;
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const auto type = static_cast<Type>(number(1));
  const std::size_t points = number(2);
  const Statistic statistic{static_cast<StatisticKind>(number(4)), static_cast<Missing>(number(5)),
                            std::strtod(argv[6], nullptr), number(7) != 0, number(8) != 0};
  const auto missing = read_bytes(size_of(type));
  Bundle bundle = needed(Bundle::create({type, Values::raw(type, missing.data(), 1)}, points));
  std::vector<double> memory(state_bytes(statistic, type, points) / sizeof(double) + 1);
  needed(bundle.add(statistic, std::as_writable_bytes(std::span(memory))));
  for (std::size_t step = 0; step < number(3); ++step) {
    double duration = 0;
    std::memcpy(&duration, read_bytes(sizeof duration).data(), sizeof duration);
    if (const auto done = bundle.step(read_bytes(points * size_of(type)).data(), duration); !done) return 1;
  }
  std::vector<double> results(points);
  needed(bundle.result(0, {Type::float64, Values(-1e300)}, reinterpret_cast<std::byte*>(results.data()), 0,
                       points));
  return std::fwrite(results.data(), sizeof(double), points, stdout) == points ? 0 : 1;
}
