// SPDX-License-Identifier: Apache-2.0
// BufferPool: buffers out of a bounded amount of memory, lent one by one and used again: the pages
// of a new buffer are allocated by the system when they are written for the first time, which is
// slower than copying into them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace afterbay::transport {

/// Used by one thread, which may keep buffers longer than the pool.
class BufferPool {
 public:
  explicit BufferPool(std::uint64_t most_bytes) : state_(std::make_shared<State>()) {
    state_->most = most_bytes;
  }

  /// A buffer of at least `bytes`, which returns when its last copy is destroyed. Null: none now. A
  /// single buffer may be larger than the pool.
  [[nodiscard]] std::shared_ptr<std::byte> take(std::uint64_t bytes) {
    const std::uint64_t capacity = std::max(rounded(bytes), unit);
    if (state_->lent != 0 && state_->lent + capacity > state_->most) return nullptr;
    Buffer buffer = state_->reuse(capacity);
    if (!buffer.data) {
      state_->make_room_for(capacity);
      buffer = allocate(capacity);
    }
    state_->lent += buffer.capacity;
    std::byte* const data = buffer.data.get();
    auto owner = std::make_shared<Lent>(state_, std::move(buffer));
    return {std::move(owner), data};
  }

  [[nodiscard]] std::uint64_t lent_bytes() const noexcept { return state_->lent; }
  /// Including buffers that are not in use.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
    return state_->lent + state_->spare_bytes();
  }

 private:
  static constexpr std::uint64_t unit = std::uint64_t{64} << 10;
  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + unit - 1) / unit * unit; }

  struct Free {
    void operator()(std::byte* data) const noexcept { std::free(data); }
  };
  struct Buffer {
    std::unique_ptr<std::byte, Free> data;
    std::uint64_t capacity = 0;
  };
  /// Allocates a buffer, in huge pages if the system has any.
  static Buffer allocate(std::uint64_t capacity);

  struct State {
    std::uint64_t most = 0;
    std::uint64_t lent = 0;
    std::vector<Buffer> spare;

    [[nodiscard]] std::uint64_t spare_bytes() const noexcept {
      std::uint64_t sum = 0;
      for (const Buffer& it : spare) sum += it.capacity;
      return sum;
    }
    /// The smallest that suffices, if it does not exceed the limit.
    Buffer reuse(std::uint64_t capacity) {
      auto best = spare.end();
      for (auto it = spare.begin(); it != spare.end(); ++it)
        if (it->capacity >= capacity && (best == spare.end() || it->capacity < best->capacity)) best = it;
      if (best == spare.end() || (lent != 0 && lent + best->capacity > most)) return {};
      Buffer found = std::move(*best);
      spare.erase(best);
      return found;
    }
    void make_room_for(std::uint64_t capacity) {
      while (!spare.empty() && lent + spare_bytes() + capacity > most) spare.pop_back();
    }
  };
  struct Lent {
    Lent(std::shared_ptr<State> pool, Buffer lent) : state(std::move(pool)), buffer(std::move(lent)) {}
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    ~Lent() {
      state->lent -= buffer.capacity;
      if (state->lent + state->spare_bytes() + buffer.capacity <= state->most)
        state->spare.push_back(std::move(buffer));
    }
    std::shared_ptr<State> state;
    Buffer buffer;
  };

  std::shared_ptr<State> state_;
};

}  // namespace afterbay::transport
