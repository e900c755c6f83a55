// SPDX-License-Identifier: Apache-2.0
// HugePages: memory for many states that are passed over in every step, in huge pages if the system
// grants them, so that the processor looks up fewer addresses.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace afterbay::statistics {

/// Maps whole huge pages, which are allocated when they are used: for the chunks of a
/// `std::pmr::monotonic_buffer_resource`. Any thread.
class HugePages final : public std::pmr::memory_resource {
 public:
  static constexpr std::size_t page_bytes = std::size_t{2} << 20;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return dynamic_cast<const HugePages*>(&other) != nullptr;
  }
};

}  // namespace afterbay::statistics
