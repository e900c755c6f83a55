// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels for this processor at every lookup (with function pointers instead of ifunc,
// so that sanitizers and static linking work).
#include "model/convert/kernels.hpp"

#include <bit>
#include <span>

#include "model/convert/rows.hpp"

namespace afterbay::model {
namespace {

#if defined(__x86_64__)
std::span<const convert::KernelSet> wide_sets() noexcept {
  static const convert::KernelSet sets[] = {convert::avx512, convert::avx2};
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) return sets;
  return std::span(sets).subspan(__builtin_cpu_supports("avx2") ? 1 : 2);
}
#else
std::span<const convert::KernelSet> wide_sets() noexcept { return {}; }
#endif

/// The range of a type's values, as exponents of two below and above zero; floating-point types
/// have larger numbers of their own. Text and strings are not converted to other types.
struct Reach {
  int below = 0;
  int above = 0;
};

constexpr int reach_of_float32 = 100;
constexpr int reach_of_float64 = 101;

Reach reach_of(Type type) noexcept {
  const int bits = static_cast<int>(size_of(type)) * 8;
  switch (type) {
    case Type::int8:
    case Type::int16:
    case Type::int32:
    case Type::int64: return {bits - 1, bits - 1};
    case Type::uint8:
    case Type::uint16:
    case Type::uint32:
    case Type::uint64: return {0, bits};
    case Type::float32: return {reach_of_float32, reach_of_float32};
    case Type::float64: return {reach_of_float64, reach_of_float64};
    default: return {};
  }
}

}  // namespace

bool may_be_out_of_range(Type from, Type to) noexcept {
  const Reach given = reach_of(from);
  const Reach held = reach_of(to);
  return given.below > held.below || given.above > held.above;
}

Kernel copy_kernel(std::size_t element_bytes, bool swap_bytes) noexcept {
  for (const convert::KernelSet& set : wide_sets())
    if (const Kernel found = set.copy(element_bytes, swap_bytes)) return found;
  return convert::baseline.copy(element_bytes, swap_bytes);
}

Kernel kernel(Type from, Type to, bool swap_bytes) noexcept {
  if (from == to) return copy_kernel(size_of(from), swap_bytes);
  Kernel found;
  for (const convert::KernelSet& set : wide_sets())
    if (!found) found = set.convert(from, to, swap_bytes);
  if (!found) found = convert::baseline.convert(from, to, swap_bytes);
  found.converts = true;
  return found;
}

bool needs_swap(bool file_is_big_endian) noexcept {
  return file_is_big_endian != (std::endian::native == std::endian::big);
}

}  // namespace afterbay::model
