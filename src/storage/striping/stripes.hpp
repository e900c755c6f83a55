// SPDX-License-Identifier: Apache-2.0
// Stripes of a file on Lustre: their number and size, chosen from the request and the file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "model/file_options.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

using afterbay::StripeApply;

class KnownTargets;

/// The requested stripes.
struct StripePolicy {
  static constexpr int automatic = 0;
  static constexpr int all = -1;

  int count = automatic;
  std::uint64_t size_bytes = 0;  ///< 0: automatic
  StripeApply apply = StripeApply::automatic;
  /// Expected size of the file; 0: estimated from the layout.
  std::uint64_t expected_bytes = 0;
  bool own_file = false;                       ///< each writing process writes its own files
  std::size_t writers = 1;                     ///< number of processes that write the file together
  std::chrono::milliseconds deadline{10'000};  ///< for all commands for one file
  /// Shared by all files; null: determined for each file.
  std::shared_ptr<KnownTargets> targets{};
};

struct Stripes {
  int count = 1;  ///< StripePolicy::all: one per storage target
  std::uint64_t size_bytes = 0;
  bool operator==(const Stripes&) const = default;
};

/// Files of less than this size get one stripe.
inline constexpr std::uint64_t small_file_bytes = std::uint64_t{64} << 20;
/// A file that is written by fewer processes than this gets few stripes.
inline constexpr std::size_t few_writers = 96;
inline constexpr int few_stripes = 4;
/// Number of records assumed for a file of unknown size.
inline constexpr std::uint64_t assumed_records = 16;

/// Chooses stripes for a file of that size, as far as the policy leaves them open. One stripe for
/// small files, and if every process writes its own file (many stripes of many files would load all
/// storage targets without benefit); 4 for fewer than 96 processes that write it together;
/// otherwise all. Larger files get larger stripes. Based on the measurements in ARCHER's
/// "Performance of Parallel IO", where 24 processes wrote 862 MiB/s to 4 stripes of 1 MiB and 662
/// to stripes on all targets.
Stripes choose_stripes(const StripePolicy& policy, std::uint64_t file_bytes);

/// Uncompressed bytes of the fixed variables and of `assumed_records` records.
std::uint64_t estimated_bytes(const model::FileLayout& layout);

/// "stripe count all, size 8MiB".
std::string text_of(const Stripes& stripes);

}  // namespace afterbay::storage
