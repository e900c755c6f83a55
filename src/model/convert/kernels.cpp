// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels for this processor, once for each lookup (function pointers, no ifunc, so that
// sanitizers and static linking work as ever).
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

}  // namespace

Kernel copy_kernel(std::size_t element_bytes, bool swap_bytes) noexcept {
  for (const convert::KernelSet& set : wide_sets())
    if (const Kernel found = set.copy(element_bytes, swap_bytes)) return found;
  return convert::baseline.copy(element_bytes, swap_bytes);
}

Kernel kernel(Type from, Type to, bool swap_bytes) noexcept {
  if (from == to) return copy_kernel(size_of(from), swap_bytes);
  for (const convert::KernelSet& set : wide_sets())
    if (const Kernel found = set.convert(from, to, swap_bytes)) return found;
  return convert::baseline.convert(from, to, swap_bytes);
}

bool needs_swap(bool file_is_big_endian) noexcept {
  return file_is_big_endian != (std::endian::native == std::endian::big);
}

}  // namespace afterbay::model
