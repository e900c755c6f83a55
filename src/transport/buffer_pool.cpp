// SPDX-License-Identifier: Apache-2.0
#include "transport/buffer_pool.hpp"

#include <sys/mman.h>

#include <new>

namespace afterbay::transport {
namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr std::uint64_t page = 4096;

}  // namespace

BufferPool::Buffer BufferPool::allocate(std::uint64_t capacity) {
  const bool large = capacity >= huge_page;
  void* data = nullptr;
  if (::posix_memalign(&data, large ? huge_page : page, capacity) != 0) throw std::bad_alloc();
  if (large) (void)::madvise(data, capacity, MADV_HUGEPAGE);  // only an advice
  return {std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(data)), capacity};
}

}  // namespace afterbay::transport
