// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace afterbay {

/// "rank 2", "ranks 2, 5 and 7", "ranks 2, 3, 4, 5, 6, 7, 8 and 92 others".
std::string name_ranks(const std::vector<int>& ranks);

}  // namespace afterbay
