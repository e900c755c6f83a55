// SPDX-License-Identifier: Apache-2.0
#include "storage/striping/stripes.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/units.hpp"

namespace afterbay::storage {
namespace {

struct Step {
  std::uint64_t below_bytes;
  std::uint64_t stripe_bytes;
};
constexpr std::array<Step, 4> steps{
    {{GiB, MiB}, {8 * GiB, 4 * MiB}, {64 * GiB, 8 * MiB}, {512 * GiB, 16 * MiB}}};
constexpr std::uint64_t largest_stripe_bytes = 32 * MiB;

std::uint64_t fitting_size(std::uint64_t file_bytes) {
  for (const Step& step : steps)
    if (file_bytes < step.below_bytes) return step.stripe_bytes;
  return largest_stripe_bytes;
}

int fitting_count(const StripePolicy& policy, std::uint64_t file_bytes) {
  if (policy.own_file || file_bytes < small_file_bytes) return 1;
  return policy.writers < few_writers ? few_stripes : StripePolicy::all;
}

}  // namespace

Stripes choose_stripes(const StripePolicy& policy, std::uint64_t file_bytes) {
  return {policy.count != StripePolicy::automatic ? policy.count : fitting_count(policy, file_bytes),
          policy.size_bytes != 0 ? policy.size_bytes : fitting_size(file_bytes)};
}

std::uint64_t estimated_bytes(const model::FileLayout& layout) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = 0;
  for (const model::VariableLayout& variable : layout.variables) {
    std::uint64_t more = 0;
    if (__builtin_mul_overflow(variable.slab_bytes, variable.record ? assumed_records : 1, &more) ||
        __builtin_add_overflow(bytes, more, &bytes))
      return most;
  }
  return bytes;
}

std::string text_of(const Stripes& stripes) {
  const std::string count = stripes.count == StripePolicy::all ? "all" : fmt::to_string(stripes.count);
  return fmt::format("stripe count {}, size {}", count, print_bytes(stripes.size_bytes));
}

}  // namespace afterbay::storage
