// SPDX-License-Identifier: Apache-2.0
#include "storage/striping/lfs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/run_command.hpp"
#include "base/units.hpp"

namespace afterbay::storage {
namespace {

/// Splits a text into words.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  /// The next word; empty at the end.
  std::string_view next() {
    constexpr std::string_view blank = " \t\r\n";
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blank), rest_.size()));
    const std::string_view word = rest_.substr(0, rest_.find_first_of(blank));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view rest_;
};

/// Returns false if the word is not a number, or is out of range.
template <class Number>
bool read_number(std::string_view word, Number& number) {
  const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), number);
  return wrong == std::errc() && end == word.data() + word.size();
}

}  // namespace

Result<> set_stripes(const std::string& path, const Stripes& stripes, std::chrono::milliseconds deadline) {
  return run_command({"lfs", "setstripe", "-c", fmt::to_string(stripes.count), "-S",
                      fmt::to_string(stripes.size_bytes), path},
                     deadline);
}

/// Parses "lmm_stripe_count:  4" and "lmm_stripe_size:   1048576", once per component of the
/// layout.
std::vector<Stripes> parse_stripes(std::string_view output) {
  std::vector<Stripes> found;
  Stripes next;
  bool counted = false;
  Words words(output);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "lmm_stripe_count:") counted = read_number(words.next(), next.count);
    if (word != "lmm_stripe_size:") continue;
    if (read_number(words.next(), next.size_bytes) && counted) found.push_back(next);
    counted = false;
  }
  return found;
}

/// Parses "OBDS:", followed by one line per target: "3: scratch-OST0003_UUID ACTIVE".
TargetCounts parse_targets(std::string_view output) {
  TargetCounts targets;
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    Words words(line);
    std::string_view number = words.next();
    if (!number.ends_with(':')) continue;
    number.remove_suffix(1);
    int index = 0;
    if (!read_number(number, index) || words.next().empty()) continue;
    ++targets.all;
    const std::string_view state = words.next();
    if (state.empty() || state == "ACTIVE") ++targets.active;
  }
  return targets;
}

std::string found_stripes(const std::string& path, std::chrono::milliseconds deadline) {
  const std::string unknown = "stripes not known";
  if (deadline.count() <= 0) return unknown;
  const auto output = output_of({"lfs", "getstripe", path}, deadline);
  if (!output) return unknown;
  std::string text;
  for (const Stripes& stripes : parse_stripes(*output))
    text += (text.empty() ? "" : ", then ") + text_of(stripes);
  return text.empty() ? unknown : text;
}

std::string found_targets(const std::string& directory, std::chrono::milliseconds deadline) {
  const std::string unknown = "number of OSTs not known";
  if (deadline.count() <= 0) return unknown;
  const auto output = output_of({"lfs", "osts", directory}, deadline);
  if (!output) return unknown;
  const TargetCounts targets = parse_targets(*output);
  if (targets.all == 0) return unknown;
  const std::string all = fmt::format("of {} OST{}", targets.all, targets.all == 1 ? "" : "s");
  return targets.active == targets.all ? all : fmt::format("{}, {} of them active", all, targets.active);
}

std::string KnownTargets::of(const std::string& directory, std::chrono::milliseconds deadline) {
  struct stat status {};
  if (deadline.count() <= 0 || ::stat(directory.c_str(), &status) != 0)
    return found_targets(directory, deadline);
  const MutexLock lock(mutex_);
  const auto [at, is_new] = known_.try_emplace(status.st_dev);
  if (is_new) at->second = found_targets(directory, deadline);
  return at->second;
}

}  // namespace afterbay::storage
