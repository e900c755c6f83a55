// SPDX-License-Identifier: Apache-2.0
// StructureCache: what new files begin with, made once for all files of one schema.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

/// Whether files of equal schemas have the same structure with both layouts.
bool same_structure(const model::FileLayout& a, const model::FileLayout& b);

/// About as many bytes of memory as a schema takes.
std::uint64_t memory_of(const Schema& schema);

/// Keeps structures (`Made`, which has `bytes()`: its memory) under the whole schema they were made
/// of, constant values included, and never under a digest of it. Those not used for longest go when
/// all together take more than `most_bytes`; one that takes more alone is not kept. Any thread.
template <class Made>
class StructureCache {
 public:
  static constexpr std::uint64_t default_bytes = std::uint64_t{64} << 20;
  using Kept = std::shared_ptr<const Made>;

  explicit StructureCache(std::uint64_t most_bytes = default_bytes) : most_bytes_(most_bytes) {}

  /// The structure that is kept, or else what `make()` (Result<Made>) gives, outside the lock. Who
  /// asks while another thread makes the same structure waits for that, which ends as calls of the
  /// library do. What failed is not kept: everybody who waited for it tries again, and gets an
  /// error of their own.
  template <class Make>
  Result<Kept> get(const Schema& schema, const std::shared_ptr<const model::FileLayout>& layout,
                   Make&& make) {
    Turn turn(*this);
    if (Kept kept = turn.find_or_take(schema, layout)) return kept;
    AFTERBAY_TRY_ASSIGN(Made made, make());
    return turn.keep(std::make_shared<const Made>(std::move(made)));
  }

  /// Memory of all that is kept.
  [[nodiscard]] std::uint64_t bytes() const {
    const MutexLock lock(mutex_);
    return bytes_;
  }
  /// Structures made so far, failures included.
  [[nodiscard]] std::uint64_t made() const {
    const MutexLock lock(mutex_);
    return made_count_;
  }

 private:
  struct Entry {
    Schema schema;
    std::shared_ptr<const model::FileLayout> layout;
    Kept structure;  ///< null while it is made
    std::uint64_t bytes = 0;
  };

  /// A thread's right to make a structure. Given up, and the entry with it, unless something is
  /// kept.
  class Turn {
   public:
    explicit Turn(StructureCache& cache) : cache_(cache) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (mine_ == nullptr) return;
      {
        const MutexLock lock(cache_.mutex_);
        cache_.entries_.remove_if([this](const Entry& entry) { return &entry == mine_; });
      }
      cache_.made_.notify_all();
    }

    /// Null: it is this thread's to be made.
    Kept find_or_take(const Schema& schema, const std::shared_ptr<const model::FileLayout>& layout) {
      MutexLock lock(cache_.mutex_);
      for (;;) {
        const auto at = cache_.find(schema, *layout);
        if (at == cache_.entries_.end()) break;
        if (at->structure) {
          cache_.entries_.splice(cache_.entries_.begin(), cache_.entries_, at);
          return at->structure;
        }
        cache_.made_.wait(lock);
      }
      ++cache_.made_count_;
      mine_ = &cache_.entries_.emplace_front(Entry{schema, layout, nullptr, 0});
      return nullptr;
    }

    Kept keep(Kept structure) {
      {
        const MutexLock lock(cache_.mutex_);
        mine_->bytes = structure->bytes() + memory_of(mine_->schema);
        mine_->structure = structure;
        cache_.bytes_ += mine_->bytes;
        mine_ = nullptr;
        cache_.make_room();
      }
      cache_.made_.notify_all();
      return structure;
    }

   private:
    StructureCache& cache_;
    Entry* mine_ = nullptr;
  };

  auto find(const Schema& schema, const model::FileLayout& layout) AFTERBAY_REQUIRES(mutex_) {
    auto at = entries_.begin();
    while (at != entries_.end() && !(same_structure(*at->layout, layout) && at->schema == schema)) ++at;
    return at;
  }

  void make_room() AFTERBAY_REQUIRES(mutex_) {
    for (auto at = entries_.end(); bytes_ > most_bytes_ && at != entries_.begin();) {
      --at;
      if (!at->structure) continue;
      bytes_ -= at->bytes;
      at = entries_.erase(at);
    }
  }

  const std::uint64_t most_bytes_;
  mutable Mutex mutex_;
  std::condition_variable_any made_;
  std::list<Entry> entries_ AFTERBAY_GUARDED_BY(mutex_);  ///< the one used last comes first
  std::uint64_t bytes_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t made_count_ AFTERBAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace afterbay::storage
