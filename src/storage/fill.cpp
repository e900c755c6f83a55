// SPDX-License-Identifier: Apache-2.0
#include "storage/fill.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "model/layout.hpp"

namespace afterbay::storage {

Values default_fill(Type type) {
  switch (type) {
    case Type::int8: return Values(std::int8_t{-127});
    case Type::text: return Values::raw(Type::text, "\0", 1);
    case Type::int16: return Values(std::int16_t{-32767});
    case Type::int32: return Values(std::int32_t{-2147483647});
    case Type::float32: return Values(9.9692099683868690e+36f);
    case Type::float64: return Values(9.9692099683868690e+36);
    case Type::uint8: return Values(std::uint8_t{255});
    case Type::uint16: return Values(std::uint16_t{65535});
    case Type::uint32: return Values(std::uint32_t{4294967295u});
    case Type::int64: return Values(std::int64_t{-9223372036854775806ll});
    case Type::uint64: return Values(std::uint64_t{18446744073709551614ull});
    case Type::string: {
      Values none;
      none.type = Type::string;
      return none;
    }
  }
  return {};
}

Values fill_of(const Variable& variable) {
  if (!variable.fill.empty()) return variable.fill;
  for (const Attribute& attribute : variable.attributes)
    if (attribute.name == "_FillValue" && attribute.values.type == variable.type &&
        attribute.values.count() == 1)
      return attribute.values;
  return default_fill(variable.type);
}

void to_file_order(std::span<std::byte> bytes, std::size_t element_bytes, bool big_endian) {
  if (element_bytes < 2 || big_endian == (std::endian::native == std::endian::big)) return;
  for (std::size_t at = 0; at + element_bytes <= bytes.size(); at += element_bytes)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + element_bytes));
}

void repeat(std::span<const std::byte> element, std::span<std::byte> target) {
  if (target.empty() || element.empty()) return;
  std::size_t done = std::min(element.size(), target.size());
  std::memcpy(target.data(), element.data(), done);
  while (done < target.size()) {  // doubling: whole elements are copied from the target itself
    const std::size_t count = std::min(done, target.size() - done);
    std::memcpy(target.data() + done, target.data(), count);
    done += count;
  }
}

FillPattern::FillPattern(const Variable& variable, bool big_endian) : element_(fill_of(variable).bytes) {
  if (element_.empty()) element_.resize(1);  // strings have no bytes in place
  to_file_order(element_, element_.size(), big_endian);
}

void FillPattern::apply(std::span<std::byte> target) const { repeat(element_, target); }

std::span<const std::byte> FillPattern::at(std::uint64_t offset, std::uint64_t size_bytes) {
  const std::uint64_t phase = offset % model::page_bytes;
  if (buffer_.size() < model::page_bytes + size_bytes || phase != phase_) {
    if (buffer_.size() < model::page_bytes + size_bytes)
      buffer_ = codec::AlignedBuffer(model::page_bytes + size_bytes);
    phase_ = phase;
    apply(buffer_.bytes().subspan(phase_));
  }
  return std::span<const std::byte>(buffer_.bytes()).subspan(phase, size_bytes);
}

}  // namespace afterbay::storage
