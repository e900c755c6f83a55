// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "enumerations.hpp"
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
  if (!is_number_of<Type>(type))
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

const Section& section_from(const afterbay_section* section) {
  static const Section whole;
  thread_local Section copy;
  if (section == nullptr || section->rank == 0) return whole;
  const std::size_t rank = rank_of(section->rank);
  if (section->start == nullptr) refuse_null("section->start");
  if (section->count == nullptr) refuse_null("section->count");
  assign(copy.start, section->start, rank);
  assign(copy.count, section->count, rank);
  return copy;
}

Map map_from(const afterbay_map& from) {
  Map map;
  map.global = list(from.global, rank_of(from.rank), "global");
  map.indices = list(from.indices, from.index_count, "indices");
  const auto offsets = list(from.run_offsets, from.run_count, "run_offsets");
  const auto lengths = list(from.run_lengths, from.run_count, "run_lengths");
  for (std::size_t i = 0; i < offsets.size(); ++i) map.runs.push_back({offsets[i], lengths[i]});
  map.base = from.base;
  map.hole = from.base == 0 && from.hole == 0 ? -1 : from.hole;  // 0 is a point then: the hole was
                                                                 // not set
  if (!is_number_of<Order>(from.order))
    refuse(ErrorCode::invalid_argument,
           "there is no order number " + std::to_string(from.order) + "; use one of enum afterbay_order");
  map.order = static_cast<Order>(from.order);
  return map;
}

Selection selection_from(const afterbay_selection* what) {
  Selection selection;
  if (what == nullptr) return selection;
  selection.record = what->record;
  selection.records = std::max<uint64_t>(what->records, 1);
  selection.decomposition = text_or_empty(what->decomposition);
  if (what->rank == 0) return selection;
  const std::size_t rank = rank_of(what->rank);
  selection.block = Block{list(what->global, what->global == nullptr ? 0 : rank, "global"),
                          list(what->start, rank, "start"), list(what->count, rank, "count")};
  return selection;
}

}  // namespace afterbay::c

size_t afterbay_type_bytes(int type) {
  return afterbay::c::is_number_of<afterbay::Type>(type)
             ? afterbay::size_of(static_cast<afterbay::Type>(type))
             : 0;
}
