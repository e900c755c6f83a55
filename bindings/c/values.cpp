// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "handles.hpp"

namespace afterbay::c {
namespace {

template <class T>
void assign(std::vector<T>& target, const T* values, std::size_t count) {
  if (values == nullptr) count = 0;
  target.assign(values, values + count);
}

}  // namespace

std::vector<std::string> strings(const char* const* values, std::size_t count, const char* name) {
  std::vector<std::string> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    result.emplace_back(text(values == nullptr ? nullptr : values[i], name));
  return result;
}

std::size_t rank_of(int rank) {
  if (rank < 0)
    refuse(ErrorCode::invalid_argument,
           "the number of dimensions is " + std::to_string(rank) + "; give 0 or more");
  return static_cast<std::size_t>(rank);
}

Type type_from(int type) {
  if (type < AFTERBAY_INT8 || type > AFTERBAY_STRING)
    refuse(ErrorCode::wrong_type,
           "there is no type number " + std::to_string(type) + "; use one of enum afterbay_type");
  return static_cast<Type>(type);
}

Values values_from(int type_number, std::size_t count, const void* values) {
  const Type type = type_from(type_number);
  if (type == Type::string) return Values(strings(static_cast<const char* const*>(values), count, "values"));
  if (values == nullptr && count != 0) refuse_null("values");
  return Values::raw(type, values, count);
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

const MemoryLayout& layout_from(const afterbay_memory* memory) {
  static const MemoryLayout dense;
  thread_local MemoryLayout layout;
  if (memory == nullptr) return dense;
  const std::size_t rank = rank_of(memory->rank);
  assign(layout.shape, memory->shape, rank);
  assign(layout.offset, memory->offset, rank);
  assign(layout.strides, memory->strides, rank);
  return layout;
}

}  // namespace afterbay::c

size_t afterbay_type_bytes(int type) { return afterbay::size_of(static_cast<afterbay::Type>(type)); }
