// SPDX-License-Identifier: Apache-2.0
// Kernels for every pair of types, on any processor.
#include "model/convert/rows.hpp"

namespace afterbay::model::convert {
namespace {

#include "model/convert/rows.inc"

std::uint64_t copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return 0;
}

template <class T>
std::uint64_t copy_row(std::byte* to, const std::byte* from, std::size_t count, std::ptrdiff_t to_stride,
                       std::ptrdiff_t from_stride) {
  if (to_stride == std::ptrdiff_t{sizeof(T)} && from_stride == std::ptrdiff_t{sizeof(T)})
    return copy_bytes(to, from, count * sizeof(T));
  return convert_row<T, T, false>(to, from, count, to_stride, from_stride);
}

template <class T>
Kernel copy_of(bool swap_bytes) {
  return {swap_bytes && sizeof(T) > 1 ? &convert_row<T, T, true> : &copy_row<T>, nullptr};
}

Kernel copy(std::size_t element_bytes, bool swap_bytes) noexcept {
  switch (element_bytes) {
    case 1: return copy_of<std::uint8_t>(swap_bytes);
    case 2: return copy_of<std::uint16_t>(swap_bytes);
    case 4: return copy_of<std::uint32_t>(swap_bytes);
    case 8: return copy_of<std::uint64_t>(swap_bytes);
    default: return {};
  }
}

template <class From, class To>
Kernel numbers(bool swap_bytes) {
  if constexpr (sizeof(To) == 1) {
    return {&convert_row<To, From, false>, nullptr};
  } else {
    return {swap_bytes ? &convert_row<To, From, true> : &convert_row<To, From, false>, nullptr};
  }
}

template <class From>
Kernel numbers_from(Type to, bool swap_bytes) {
  switch (to) {
    case Type::int8: return numbers<From, std::int8_t>(swap_bytes);
    case Type::int16: return numbers<From, std::int16_t>(swap_bytes);
    case Type::int32: return numbers<From, std::int32_t>(swap_bytes);
    case Type::int64: return numbers<From, std::int64_t>(swap_bytes);
    case Type::uint8: return numbers<From, std::uint8_t>(swap_bytes);
    case Type::uint16: return numbers<From, std::uint16_t>(swap_bytes);
    case Type::uint32: return numbers<From, std::uint32_t>(swap_bytes);
    case Type::uint64: return numbers<From, std::uint64_t>(swap_bytes);
    case Type::float32: return numbers<From, float>(swap_bytes);
    case Type::float64: return numbers<From, double>(swap_bytes);
    case Type::text:
    case Type::string: return {};
  }
  return {};
}

Kernel convert(Type from, Type to, bool swap_bytes) noexcept {
  switch (from) {
    case Type::int8: return numbers_from<std::int8_t>(to, swap_bytes);
    case Type::int16: return numbers_from<std::int16_t>(to, swap_bytes);
    case Type::int32: return numbers_from<std::int32_t>(to, swap_bytes);
    case Type::int64: return numbers_from<std::int64_t>(to, swap_bytes);
    case Type::uint8: return numbers_from<std::uint8_t>(to, swap_bytes);
    case Type::uint16: return numbers_from<std::uint16_t>(to, swap_bytes);
    case Type::uint32: return numbers_from<std::uint32_t>(to, swap_bytes);
    case Type::uint64: return numbers_from<std::uint64_t>(to, swap_bytes);
    case Type::float32: return numbers_from<float>(to, swap_bytes);
    case Type::float64: return numbers_from<double>(to, swap_bytes);
    case Type::text:
    case Type::string: return {};
  }
  return {};
}

}  // namespace

const KernelSet baseline{&convert, &copy};

}  // namespace afterbay::model::convert
