// SPDX-License-Identifier: Apache-2.0
#include "base/rank_names.hpp"

#include <fmt/format.h>

namespace afterbay {

std::string name_ranks(const std::vector<int>& ranks) {
  constexpr std::size_t most = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t shown = ranks.size() > most ? most - 1 : ranks.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  if (shown < ranks.size()) text += fmt::format(" and {} others", ranks.size() - shown);
  return text;
}

}  // namespace afterbay
