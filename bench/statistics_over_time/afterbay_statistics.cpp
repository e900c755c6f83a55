// SPDX-License-Identifier: Apache-2.0
// Steps of statistics over time, each beside a plain loop `sum[i] += value[i]` over as many values
// in the same run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/plain_sum.hpp"
#include "common/timing.hpp"
#include "statistics/bundle.hpp"

namespace bench {
namespace {

using namespace afterbay;
using namespace afterbay::statistics;

struct Options {
  std::string type = "float32";
  std::string operations = "mean";  ///< separated by +
  std::string missing = "none";
  bool weighted = false;
  std::size_t points = std::size_t{1} << 24;
  int steps = 5;
};

Options parse(int argc, char** argv) {
  Options options;
  std::string directory;
  CLI::App app("statistics over time");
  app.add_option("--type", options.type)->check(CLI::IsMember({"float32", "float64", "int16", "int64"}));
  app.add_option("--operations", options.operations);
  app.add_option("--missing", options.missing)
      ->check(CLI::IsMember({"none", "ignore", "poison", "threshold"}));
  app.add_flag("--weighted", options.weighted);
  app.add_option("--points", options.points)->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps)->check(CLI::PositiveNumber);
  app.add_option("--dir", directory, "directory for files: there are none");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

StatisticKind operation_of(const std::string& name) {
  for (int i = 1; i <= 10; ++i)
    if (name_of(static_cast<StatisticKind>(i)) == name) return static_cast<StatisticKind>(i);
  std::fprintf(stderr, "no operation %s\n", name.c_str());
  std::exit(2);
}

std::vector<Statistic> statistics_of(const Options& options) {
  const std::map<std::string, Missing> policies{{"none", Missing::none},
                                                {"ignore", Missing::ignore},
                                                {"poison", Missing::poison},
                                                {"threshold", Missing::threshold}};
  std::vector<Statistic> all;
  std::istringstream names(options.operations);
  for (std::string name; std::getline(names, name, '+');) {
    const Missing policy = policies.at(options.missing);
    all.push_back({operation_of(name), policy, policy == Missing::threshold ? 0.5 : 0, options.weighted});
  }
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class T>
void run(const Options& options) {
  const std::size_t points = options.points;
  std::vector<T> values(points);
  for (std::size_t i = 0; i < points; ++i) values[i] = static_cast<T>(i % 97 + (i % 11 == 0 ? 1 : 0));
  std::vector<double> sums(points);
  Bundle bundle = Bundle::create({type_of<T>, Values(T{96})}, points).value();
  std::vector<std::vector<double>> states;
  std::size_t bytes = 0;
  for (const Statistic& statistic : statistics_of(options)) {
    states.emplace_back(state_bytes(statistic, type_of<T>, points) / sizeof(double) + 1);
    bytes += states.back().size() * sizeof(double);
    if (const auto added = bundle.add(statistic, std::as_writable_bytes(std::span(states.back()))); !added) {
      std::fprintf(stderr, "%s\n", added.error().text().c_str());
      std::exit(1);
    }
  }
  const auto* const data = reinterpret_cast<const std::byte*>(values.data());
  static_cast<void>(bundle.step(data, 60));  // the first step initialises the state
  plain_sum(sums.data(), values.data(), points);
  std::vector<double> plain, ours, ratios;
  for (int i = 0; i < options.steps; ++i) {
    const double begin = now_s();
    plain_sum(sums.data(), values.data(), points);
    const double middle = now_s();
    static_cast<void>(bundle.step(data, 60));
    ours.push_back(now_s() - middle);
    plain.push_back(middle - begin);
    ratios.push_back(plain.back() / ours.back());
  }
  const nlohmann::json line{
      {"program", "afterbay_statistics"}, {"end_s", median(ours)}, {"plain_s", median(plain)},
      {"ratio", median(ratios)},          {"points", points},      {"state_bytes", bytes},
      {"bytes", points * sizeof(T)}};
  std::printf("BENCH %s\n", line.dump().c_str());
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  if (options.type == "float32") bench::run<float>(options);
  if (options.type == "float64") bench::run<double>(options);
  if (options.type == "int16") bench::run<std::int16_t>(options);
  if (options.type == "int64") bench::run<std::int64_t>(options);
}
