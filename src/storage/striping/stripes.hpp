// SPDX-License-Identifier: Apache-2.0
// Stripes of a file on Lustre: how many and how large, by what is asked for and what fits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "model/layout.hpp"

namespace afterbay::storage {

enum class StripeApply { automatic, always, never };  ///< run `lfs`: on Lustre, everywhere, nowhere

class KnownTargets;

/// What is asked for.
struct StripePolicy {
  static constexpr int automatic = 0;
  static constexpr int all = -1;

  int count = automatic;
  std::uint64_t size_bytes = 0;  ///< 0: automatic
  StripeApply apply = StripeApply::automatic;
  std::uint64_t expected_bytes = 0;            ///< of the whole file; 0: estimated from the layout
  bool own_file = false;                       ///< each writing process makes files of its own
  std::size_t writers = 1;                     ///< processes that write the file together
  std::chrono::milliseconds deadline{10'000};  ///< for the commands of one file
  std::shared_ptr<KnownTargets> targets{};     ///< of all files; null: each asks
};

struct Stripes {
  int count = 1;  ///< StripePolicy::all: one on every storage target
  std::uint64_t size_bytes = 0;
  bool operator==(const Stripes&) const = default;
};

/// Below this a file is small: one stripe.
inline constexpr std::uint64_t small_file_bytes = std::uint64_t{64} << 20;
/// So many processes that write a file together are few: a few stripes.
inline constexpr std::size_t few_writers = 96;
inline constexpr int few_stripes = 4;
/// Records that a file is taken to have when nobody says how large it will become.
inline constexpr std::uint64_t assumed_records = 16;

/// What fits a file of that size, where the policy leaves it open. One stripe for small files and where every
/// process writes a file of its own (many stripes of many files load all storage targets for nothing), 4 for
/// less than 96 processes that write it together, else all; larger stripes for larger files. Follows the
/// measurements in ARCHER's "Performance of Parallel IO", where 24 processes wrote 862 MiB/s to 4 stripes of
/// 1 MiB and 662 to stripes on all targets.
Stripes choose_stripes(const StripePolicy& policy, std::uint64_t file_bytes);

/// Uncompressed bytes of the fixed variables and of `assumed_records` records.
std::uint64_t estimated_bytes(const model::FileLayout& layout);

/// "stripe count all, size 8MiB".
std::string text_of(const Stripes& stripes);

}  // namespace afterbay::storage
