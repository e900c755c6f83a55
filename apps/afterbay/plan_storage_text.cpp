// SPDX-License-Identifier: Apache-2.0
#include "plan_storage_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/units.hpp"

namespace afterbay::app {

namespace {

using storage::StripePolicy;
using storage::TrialResult;
using storage::TrialSetup;

std::string count_text(int count) { return count == StripePolicy::all ? "all" : fmt::to_string(count); }

std::string stripes_text(const storage::Stripes& stripes) {
  return fmt::format("{} x {}", count_text(stripes.count), print_bytes(stripes.size_bytes));
}

/// The requested stripes and those that the file system applied.
std::string found_stripes(const PlanContext& context) {
  if (context.targets.empty()) return {};
  std::string text = "#\n# Requested stripes, and the stripes of the files:\n";
  for (const auto& [asked, found] : context.stripes)
    text += fmt::format("# {:<10}  {}, {}\n", stripes_text(asked), found, context.targets);
  return text;
}

std::string mib(double bytes) { return fmt::format("{:.0f}", bytes / (1 << 20)); }

std::string settings(const storage::StorageAdvice& advice) {
  const TrialSetup& setup = advice.setup;
  std::string text = "afterbay:\n";
  text += fmt::format("  direct_io: {}\n", setup.direct ? "auto" : "off");
  text += fmt::format("  memory: {{block: {}}}  # `chunk`, if not set, is 4MiB or this, whichever is less\n",
                      print_bytes(setup.block_bytes));
  text += fmt::format("  writers: {}  # of each server\n", setup.writers);
  if (setup.stripes)
    text += fmt::format("  stripe: {{count: {}, size: {}}}\n", count_text(setup.stripes->count),
                        print_bytes(setup.stripes->size_bytes));
  if (advice.separate)
    text +=
        "  placement: file  # with two servers or more: separate files were clearly faster than one for "
        "all\n";
  return text;
}

constexpr std::size_t enough_runs = 3;

/// For a setup that was tried at least once.
std::size_t fewest_runs(const storage::Sweep& sweep) {
  std::size_t fewest = enough_runs;
  for (const storage::SweepPart& part : sweep.parts())
    for (const TrialResult& result : part.results)
      if (!result.rates.empty()) fewest = std::min(fewest, result.rates.size());
  return fewest;
}

std::string line(const TrialResult& result) {
  const TrialSetup& setup = result.setup;
  std::string text =
      fmt::format("# {:>7}  {:<8}  {:>7}  {:<8}  {:<10}  ", setup.writers,
                  setup.separate ? "separate" : "one", print_bytes(setup.block_bytes),
                  setup.direct ? "direct" : "buffered", setup.stripes ? stripes_text(*setup.stripes) : "-");
  if (result.rates.empty())
    return text + (result.refused.empty() ? "not measured, the time was up" : result.refused) + "\n";
  const auto [least, most] = std::minmax_element(result.rates.begin(), result.rates.end());
  return text + fmt::format("{:>7}  {:>7}  {:>7}  {:>4}\n", mib(result.median()), mib(*least), mib(*most),
                            result.rates.size());
}

}  // namespace

std::string plan_text(const PlanContext& context, const storage::Sweep& sweep,
                      const storage::StorageAdvice& advice) {
  std::string text = fmt::format("# {} on {}: {}, {}; measured for {:.0f} s by `afterbay plan storage`\n",
                                 printable(context.directory), printable(context.host),
                                 context.file_system.name, context.date, context.seconds);
  text += settings(advice);
  if (fewest_runs(sweep) < enough_runs)
    text += fmt::format(
        "# The time was short: some of the variants below were tried less than {} times, and another run "
        "may\n# find another one to be the fastest. Increase --time.\n",
        enough_runs);
  text +=
      "\n# The evidence: MiB/s with fsync, all variants measured in turn. In each part, the least demanding "
      "variant\n# within 5 % of the fastest is used for the next part, and recommended at the end.\n";
  for (const storage::SweepPart& part : sweep.parts()) {
    text += fmt::format("#\n# {}; trials of {}:\n", part.what, print_bytes(part.trial_bytes >> 20 << 20));
    text += fmt::format("# {:>7}  {:<8}  {:>7}  {:<8}  {:<10}  {:>7}  {:>7}  {:>7}  {:>4}\n", "writers",
                        "files", "block", "I/O", "stripes", "median", "min", "max", "runs");
    for (const TrialResult& result : part.results) text += line(result);
  }
  return text + found_stripes(context);
}

}  // namespace afterbay::app
