// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rank_ranges.hpp"

namespace afterbay {

/// The text is short for any number of ranks: "rank 2", "ranks 2, 5 and 7", "ranks 0-3 and 9",
/// "ranks 0-4095 except 17", "ranks 0, 2, 4, 6, 8, 10, 12 and 2041 others".
std::string name_ranks(std::vector<int> ranks);
std::string name_ranks(const RankRanges& ranks);

/// The same without the noun, for numbers of servers or model ranks: "2", "0-3 and 9".
std::string name_numbers(const RankRanges& numbers);
std::string name_numbers(std::vector<int> numbers);

}  // namespace afterbay
