// SPDX-License-Identifier: Apache-2.0
#include "output/numbers.hpp"

#include "statistics/value_loops.hpp"

namespace afterbay::output {

std::vector<double> numbers_of(const Values& values) {
  if (values.type == Type::text || values.type == Type::string) return {};
  std::vector<double> numbers(values.count());
  if (numbers.empty()) return numbers;
  // Nothing is missing: any value may stand for missing ones.
  const Values any = Values::raw(values.type, values.bytes.data(), 1);
  statistics::value_loops(values.type, any)->widen(numbers.data(), values.bytes.data(), numbers.size());
  return numbers;
}

Values selected(const Values& values, const std::vector<std::uint64_t>& places, std::size_t row) {
  Values part;
  part.type = values.type;
  if (values.type == Type::string) {
    for (const std::uint64_t place : places)
      for (std::size_t i = 0; i < row; ++i) part.strings.push_back(values.strings[place * row + i]);
    return part;
  }
  const std::size_t bytes = size_of(values.type) * row;
  part.bytes.resize(places.size() * bytes);
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(part.bytes.data() + i * bytes, values.bytes.data() + places[i] * bytes, bytes);
  return part;
}

}  // namespace afterbay::output
