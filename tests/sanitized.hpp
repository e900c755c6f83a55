// SPDX-License-Identifier: Apache-2.0
// Parameters of tests of which a part suffices under sanitizers: the same code runs, with other
// numbers, and takes up to forty times as long.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace afterbay::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// All cases; under sanitizers the first `few`.
template <class Case>
std::vector<Case> cases(std::size_t few, std::initializer_list<Case> all) {
  std::vector<Case> chosen(all);
  if (sanitized && few < chosen.size()) chosen.resize(few);
  return chosen;
}

}  // namespace afterbay::test
