// SPDX-License-Identifier: Apache-2.0
// Memory that a thread keeps for its next buffers.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "codec/aligned_buffer.hpp"

namespace afterbay::codec {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Each test gets a thread, which keeps nothing yet.
template <class Function>
void in_new_thread(Function function) {
  std::thread(function).join();
}

/// Where the memory of a buffer of this size was, once it is destroyed.
const std::byte* kept(std::size_t size_bytes) {
  AlignedBuffer buffer = AlignedBuffer::reused(size_bytes);
  std::memset(buffer.data(), 1, size_bytes);
  return buffer.data();
}

void expect_aligned(const AlignedBuffer& buffer, std::size_t size_bytes) {
  EXPECT_EQ(buffer.size(), size_bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % AlignedBuffer::alignment, 0u);
}

TEST(AlignedBuffer, is_aligned_and_has_its_size) {
  in_new_thread([] {
    for (const std::size_t size_bytes : {std::size_t{0}, std::size_t{1}, mib - 1, mib, 17 * mib})
      for (int time = 0; time < 2; ++time) {
        expect_aligned(AlignedBuffer(size_bytes), size_bytes);
        expect_aligned(AlignedBuffer::reused(size_bytes), size_bytes);
      }
  });
}

TEST(AlignedBuffer, memory_is_reused_for_about_the_same_size) {
  in_new_thread([] {
    const std::byte* const first = kept(2 * mib);
    EXPECT_EQ(kept(2 * mib - 5), first);
    EXPECT_EQ(kept(mib), first);
    EXPECT_NE(kept(mib / 2), first);  // would waste too much
    AlignedBuffer held = AlignedBuffer::reused(2 * mib);
    EXPECT_EQ(held.data(), first);
    EXPECT_NE(kept(2 * mib), first);
    AlignedBuffer moved = std::move(held);
    EXPECT_EQ(moved.data(), first);
  });
}

TEST(AlignedBuffer, memory_of_a_buffer_that_is_replaced_is_kept) {
  in_new_thread([] {
    AlignedBuffer buffer = AlignedBuffer::reused(2 * mib);
    const std::byte* const memory = buffer.data();
    buffer = AlignedBuffer(mib);
    EXPECT_EQ(kept(2 * mib), memory);
  });
}

/// A thread that keeps 16 MiB gives up the oldest for the next.
TEST(AlignedBuffer, the_oldest_memory_is_given_up) {
  in_new_thread([] {
    std::vector<AlignedBuffer> held;
    for (int i = 0; i < 5; ++i) held.push_back(AlignedBuffer::reused(4 * mib));
    std::vector<const std::byte*> memory;
    for (const AlignedBuffer& buffer : held) memory.push_back(buffer.data());
    for (AlignedBuffer& buffer : held) buffer = AlignedBuffer();  // in order; the first has to go
    for (int i = 4; i > 0; --i) {
      held.push_back(AlignedBuffer::reused(4 * mib));
      EXPECT_EQ(held.back().data(), memory[static_cast<std::size_t>(i)]);
    }
  });
}

TEST(AlignedBuffer, may_be_destroyed_by_another_thread_and_after_its_thread) {
  std::optional<AlignedBuffer> buffer;
  in_new_thread([&] { buffer = AlignedBuffer::reused(mib); });
  std::memset(buffer->data(), 1, mib);
  const std::byte* const memory = buffer->data();
  in_new_thread([&] {
    buffer.reset();
    EXPECT_EQ(kept(mib), memory);
  });
}

/// Destroyed with the thread's own variables, after the memory that the thread keeps.
TEST(AlignedBuffer, may_be_destroyed_when_a_thread_ends) {
  in_new_thread([] {
    thread_local AlignedBuffer last;  // made before the thread keeps memory, destroyed after it
    static_cast<void>(last.size());
    last = AlignedBuffer::reused(mib);
    std::memset(last.data(), 1, mib);
    EXPECT_NE(kept(mib), last.data());
  });
}

}  // namespace
}  // namespace afterbay::codec
