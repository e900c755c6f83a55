// SPDX-License-Identifier: Apache-2.0
#include "base/rank_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace afterbay {
namespace {

using Range = RankRanges::Range;

constexpr std::size_t most_items = 8;
constexpr std::size_t most_exceptions = 4;

std::size_t length_of(const Range& range) { return static_cast<std::size_t>(range.last - range.first) + 1; }

/// "2" and "3" for two neighbours, "2-4" for three.
void add_items(std::vector<std::string>& items, const Range& range) {
  if (length_of(range) > 2) {
    items.push_back(fmt::format("{}-{}", range.first, range.last));
    return;
  }
  items.push_back(std::to_string(range.first));
  if (range.last > range.first) items.push_back(std::to_string(range.last));
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

/// "0-4095 except 17 and 40" if few of many ranks are missing; else empty.
std::string text_with_exceptions(const std::vector<Range>& ranges) {
  constexpr std::size_t share = 4;  // times as many ranks as are missing, at least
  std::vector<std::string> missing;
  std::size_t count = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const Range gap{ranges[i - 1].last + 1, ranges[i].first - 1};
    add_items(missing, gap);
    count += length_of(gap);
    if (missing.size() > most_exceptions) return "";
  }
  const auto all = static_cast<std::size_t>(ranges.back().last - ranges.front().first) + 1;
  if (missing.empty() || count * (share + 1) > all) return "";
  return fmt::format("{}-{} except {}", ranges.front().first, ranges.back().last, joined(missing));
}

/// The first items, at most `most`, and the number of ranks in them.
struct Items {
  std::vector<std::string> texts;
  std::size_t ranks = 0;
};
Items first_items(const std::vector<Range>& ranges, std::size_t most) {
  Items items;
  for (const Range& range : ranges) {
    const std::size_t before = items.texts.size();
    add_items(items.texts, range);
    if (items.texts.size() > most) {
      items.texts.resize(before);
      break;
    }
    items.ranks += length_of(range);
  }
  return items;
}

RankRanges ranges_of(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return RankRanges(ranks);
}

}  // namespace

std::string name_numbers(const RankRanges& numbers) {
  if (numbers.empty()) return "none";
  if (std::string text = text_with_exceptions(numbers.ranges()); !text.empty()) return text;
  Items items = first_items(numbers.ranges(), most_items);
  if (items.ranks < numbers.size()) {
    items = first_items(numbers.ranges(), most_items - 1);
    items.texts.push_back(fmt::format("{} others", numbers.size() - items.ranks));
  }
  return joined(items.texts);
}

std::string name_numbers(std::vector<int> numbers) { return name_numbers(ranges_of(std::move(numbers))); }

std::string name_ranks(const RankRanges& ranks) {
  if (ranks.empty()) return "no rank";
  return (ranks.size() == 1 ? "rank " : "ranks ") + name_numbers(ranks);
}

std::string name_ranks(std::vector<int> ranks) { return name_ranks(ranges_of(std::move(ranks))); }

}  // namespace afterbay
