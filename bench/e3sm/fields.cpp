// SPDX-License-Identifier: Apache-2.0
#include "e3sm/fields.hpp"

#include <new>

namespace bench::e3sm {
namespace {

constexpr std::size_t alignment = 64;

std::size_t rounded_up(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

Fields::Fields(const Case& source, int rank) : source_(source), rank_(rank) {
  std::size_t total = 0;
  for (const Variable& variable : source.variables) {
    const std::size_t count = variable.map < 0
                                  ? variable.points
                                  : source.maps[static_cast<std::size_t>(variable.map)].points.size();
    offsets_.push_back(total);
    counts_.push_back(count);
    total += rounded_up(count * size_of(variable.type));
  }
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, (total + 4096) / 4096 * 4096)));
  if (!memory_) throw std::bad_alloc();
  fill_all(0, true);
}

void Fields::stamp(int record, bool every_point) { fill_all(record, every_point); }

std::vector<std::span<const std::byte>> Fields::parts(int record) const {
  std::vector<std::span<const std::byte>> parts;
  for (const int variable : source_.order) {
    const Variable& described = source_.variables[static_cast<std::size_t>(variable)];
    if (!writes(variable) || (record > 0 && !described.record)) continue;
    parts.emplace_back(data(variable), count(variable) * size_of(described.type));
  }
  return parts;
}

std::size_t Fields::bytes(int record) const {
  std::size_t total = 0;
  for (const auto& part : parts(record)) total += part.size();
  return total;
}

void Fields::fill_all(int record, bool everything) {
  for (int variable = 0; variable < static_cast<int>(source_.variables.size()); ++variable) {
    const Variable& described = source_.variables[static_cast<std::size_t>(variable)];
    if (!described.record && record > 0) continue;
    switch (described.type) {
      case Type::text: fill<char>(variable, record, everything); break;
      case Type::int32: fill<std::int32_t>(variable, record, everything); break;
      case Type::float32: fill<float>(variable, record, everything); break;
      case Type::float64: fill<double>(variable, record, everything); break;
    }
  }
}

template <class T>
void Fields::fill(int variable, int record, bool everything) {
  T* values = reinterpret_cast<T*>(memory_.get() + offsets_[static_cast<std::size_t>(variable)]);
  const int map = source_.variables[static_cast<std::size_t>(variable)].map;
  for (std::size_t i = 0; i < count(variable); ++i) {
    const std::int64_t point =
        map < 0 ? static_cast<std::int64_t>(i) : source_.maps[static_cast<std::size_t>(map)].points[i];
    if (!everything && map >= 0 && point % 32 != 0) continue;
    if constexpr (std::is_same_v<T, char>) {
      values[i] = text_at(variable, point, record);
    } else {
      values[i] = static_cast<T>(value_at(variable, point, record));
    }
  }
}

}  // namespace bench::e3sm
