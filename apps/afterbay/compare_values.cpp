// SPDX-License-Identifier: Apache-2.0
#include "compare_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace afterbay::app {
namespace {

constexpr std::size_t most_listed = 8;
constexpr std::size_t most_characters = 200;

template <class T>
T load(const std::byte* value) {
  T result;
  std::memcpy(&result, value, sizeof(T));
  return result;
}

template <class Number, class Bits>
std::string text_of_float(const std::byte* value, bool bits) {
  std::string text = fmt::format("{}", load<Number>(value));
  if (bits) text += fmt::format(" ({:#0{}x})", load<Bits>(value), 2 + 2 * sizeof(Bits));
  return text;
}

}  // namespace

SlabWalk::SlabWalk(std::vector<std::uint64_t> shape, std::uint64_t most_points)
    : shape_(std::move(shape)), start_(shape_.size(), 0), count_(shape_) {
  done_ = std::find(shape_.begin(), shape_.end(), 0U) != shape_.end();
  std::uint64_t points = this->points();
  while (!done_ && cut_ < shape_.size()) {
    const std::uint64_t row = points / shape_[cut_];
    step_ = std::clamp<std::uint64_t>(most_points / row, 1, shape_[cut_]);
    count_[cut_] = step_;
    if (row <= most_points || cut_ + 1 == shape_.size()) break;
    points = row;
    ++cut_;
  }
}

std::uint64_t SlabWalk::points() const noexcept {
  return std::accumulate(count_.begin(), count_.end(), std::uint64_t{1}, std::multiplies<>());
}

void SlabWalk::next() {
  if (shape_.empty()) {
    done_ = true;
    return;
  }
  for (std::size_t d = cut_ + 1; d-- > 0;) {
    start_[d] += d == cut_ ? step_ : 1;
    if (start_[d] < shape_[d]) {
      count_[cut_] = std::min(step_, shape_[cut_] - start_[cut_]);
      return;
    }
    start_[d] = 0;
  }
  done_ = true;
}

std::string text_of_index(std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                          std::uint64_t number) {
  std::vector<std::uint64_t> index(start.begin(), start.end());
  for (std::size_t d = count.size(); d-- > 0;) {
    index[d] += number % count[d];
    number /= count[d];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string text_of_string(std::string_view value) {
  std::string text = "\"";
  for (const char c : value.substr(0, most_characters)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      text += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text + (value.size() > most_characters ? fmt::format("...\" ({} bytes)", value.size()) : "\"");
}

std::string text_of_value(Type type, const std::byte* value, bool bits) {
  switch (type) {
    case Type::int8: return fmt::format("{}", load<std::int8_t>(value));
    case Type::text: return text_of_string({reinterpret_cast<const char*>(value), 1});
    case Type::int16: return fmt::format("{}", load<std::int16_t>(value));
    case Type::int32: return fmt::format("{}", load<std::int32_t>(value));
    case Type::float32: return text_of_float<float, std::uint32_t>(value, bits);
    case Type::float64: return text_of_float<double, std::uint64_t>(value, bits);
    case Type::uint8: return fmt::format("{}", load<std::uint8_t>(value));
    case Type::uint16: return fmt::format("{}", load<std::uint16_t>(value));
    case Type::uint32: return fmt::format("{}", load<std::uint32_t>(value));
    case Type::int64: return fmt::format("{}", load<std::int64_t>(value));
    case Type::uint64: return fmt::format("{}", load<std::uint64_t>(value));
    case Type::string: break;
  }
  return "?";
}

std::string text_of_values(const Values& values, bool bits) {
  if (values.empty()) return fmt::format("{} (no values)", name_of(values.type));
  if (values.type == Type::text) return fmt::format("text {}", text_of_string(values.text()));
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < std::min(values.count(), most_listed); ++i)
    listed.push_back(values.type == Type::string
                         ? text_of_string(values.strings[i])
                         : text_of_value(values.type, values.bytes.data() + i * size_of(values.type), bits));
  const std::string more =
      values.count() > most_listed ? fmt::format(", ... ({} values)", values.count()) : "";
  return fmt::format("{} {}{}", name_of(values.type), fmt::join(listed, ", "), more);
}

}  // namespace afterbay::app
