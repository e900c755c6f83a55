// SPDX-License-Identifier: Apache-2.0
#include "storage/fill.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/layout.hpp"

namespace afterbay::storage {

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
