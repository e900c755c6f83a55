// SPDX-License-Identifier: Apache-2.0
#include "statistics/huge_pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <new>

#include "base/rounding.hpp"

namespace afterbay::statistics {
namespace {

std::size_t in_pages(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * HugePages::page_bytes) throw std::bad_alloc();
  return rounded_up(bytes, HugePages::page_bytes);
}

}  // namespace

void* HugePages::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (alignment > page_bytes) throw std::bad_alloc();
  const std::size_t length = in_pages(bytes);
  void* const found = ::mmap(nullptr, length + page_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(found);
  const std::size_t before = (page_bytes - reinterpret_cast<std::uintptr_t>(first) % page_bytes) % page_bytes;
  if (before > 0) ::munmap(first, before);
  if (before < page_bytes) ::munmap(first + before + length, page_bytes - before);
  ::madvise(first + before, length, MADV_HUGEPAGE);  // only an advice
  return first + before;
}

void HugePages::do_deallocate(void* memory, std::size_t bytes, std::size_t) {
  ::munmap(memory, in_pages(bytes));
}

}  // namespace afterbay::statistics
