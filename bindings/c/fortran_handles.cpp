// SPDX-License-Identifier: Apache-2.0
// Fortran's handles are plain numbers, which a program may copy freely: a copy of a closed handle
// refers to an empty object, whose functions fail with bad_state, not to freed memory.
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "handles.hpp"
#include "session/state.hpp"

namespace {

using namespace afterbay;

/// The open objects of one kind, by number. Numbers are never reused: a number is the place of an
/// entry in the low half, and how often the entry was used in the high half. Any thread; finding
/// takes no lock, so that threads which put through endpoints of their own do not meet here.
template <class Object>
class Numbered {
 public:
  explicit Numbered(Object closed) : closed_(std::move(closed)) {}

  /// Takes ownership of `object`; returns 0 if there is none.
  std::int64_t keep(Object* object) {
    if (object == nullptr) return 0;
    const std::lock_guard lock(mutex_);
    const std::uint32_t place = free_place();
    Entry& entry = *entry_at(place);
    const std::int64_t number = (static_cast<std::int64_t>(++entry.uses) << 32) | place;
    entry.object.store(object, std::memory_order_release);
    entry.number.store(number, std::memory_order_release);
    return number;
  }
  /// Never null.
  Object* find(std::int64_t number) noexcept {
    Entry* const entry = entry_at(static_cast<std::uint32_t>(number));
    if (entry == nullptr) return &closed_;
    Object* const object = entry->object.load(std::memory_order_acquire);
    return number == 0 || entry->number.load(std::memory_order_acquire) != number ? &closed_ : object;
  }
  void drop(std::int64_t number) {
    std::unique_ptr<Object> object;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    object = take(number);
  }
  /// The same for an object that has ended. It is destroyed later: another thread may have found it
  /// just before, and gets the error of an object that has ended.
  void retire(std::int64_t number) {
    std::unique_ptr<Object> oldest;
    const std::lock_guard lock(mutex_);
    if (std::unique_ptr<Object> object = take(number)) retired_.push_back(std::move(object));
    if (retired_.size() <= most_retired) return;
    oldest = std::move(retired_.front());
    retired_.pop_front();
  }

 private:
  struct Entry {
    std::atomic<std::int64_t> number{0};  ///< 0: free
    std::atomic<Object*> object{nullptr};
    std::uint32_t uses = 0;  ///< under the mutex
  };
  static constexpr std::uint32_t first_chunk = 64;
  static constexpr std::size_t most_retired = 64;

  /// Chunk c has 64 * 2^c entries and never moves. Null: there is no such entry.
  Entry* entry_at(std::uint32_t place) const noexcept {
    const std::uint32_t chunk = std::bit_width(place / first_chunk + 1) - 1;
    if (chunk >= chunks_.size()) return nullptr;
    Entry* const entries = chunks_[chunk].load(std::memory_order_acquire);
    return entries == nullptr ? nullptr : entries + (place - first_chunk * ((1U << chunk) - 1));
  }
  /// Under the mutex. Null: there is no such object.
  std::unique_ptr<Object> take(std::int64_t number) {
    const auto place = static_cast<std::uint32_t>(number);
    Entry* const entry = entry_at(place);
    if (number == 0 || entry == nullptr || entry->number.load(std::memory_order_relaxed) != number)
      return nullptr;
    entry->number.store(0, std::memory_order_release);
    free_.push_back(place);
    return std::unique_ptr<Object>(entry->object.exchange(nullptr, std::memory_order_acq_rel));
  }
  /// Under the mutex.
  std::uint32_t free_place() {
    if (!free_.empty()) {
      const std::uint32_t place = free_.back();
      free_.pop_back();
      return place;
    }
    const std::uint32_t chunk = std::bit_width(next_ / first_chunk + 1) - 1;
    if (chunks_.at(chunk).load(std::memory_order_relaxed) == nullptr)
      chunks_.at(chunk).store(new Entry[std::size_t{first_chunk} << chunk], std::memory_order_release);
    return next_++;
  }

  std::mutex mutex_;
  Object closed_;
  std::array<std::atomic<Entry*>, 24> chunks_{};  ///< kept for ever
  std::vector<std::uint32_t> free_;
  std::deque<std::unique_ptr<Object>> retired_;  ///< the last ones that have ended
  std::uint32_t next_ = 0;
};

// Never destroyed: a session that is still open at the end of the process ends in its exit handler.
Numbered<afterbay_session>& sessions() {
  static auto& all = *new Numbered<afterbay_session>({Session()});
  return all;
}
Numbered<afterbay_file>& files() {
  static auto& all = *new Numbered<afterbay_file>({OutputFile()});
  return all;
}
Numbered<afterbay_slot>& slots() {
  static auto& all = *new Numbered<afterbay_slot>({Slot(std::shared_ptr<Slot::State>())});
  return all;
}
Numbered<afterbay_endpoint>& endpoints() {
  static auto& all = *new Numbered<afterbay_endpoint>({Endpoint()});
  return all;
}
Numbered<afterbay_endpoint_pool>& endpoint_pools() {
  static auto& all = *new Numbered<afterbay_endpoint_pool>({EndpointPool()});
  return all;
}
Numbered<afterbay_input>& inputs() {
  static auto& all = *new Numbered<afterbay_input>({InputFile(), {}, {}, {}});
  return all;
}
Numbered<afterbay_output>& outputs() {
  static auto& all = *new Numbered<afterbay_output>({Output()});
  return all;
}

// Calendars never change, so that there is nothing to end: they are kept until they are dropped.
Numbered<afterbay_calendar>& calendars() {
  static auto& all = *new Numbered<afterbay_calendar>({std::nullopt});
  return all;
}

/// Whether the failed call was only refused: the session continues, and the call may be repeated.
bool goes_on(const std::weak_ptr<client::ModelSession>& session) {
  const auto held = session.lock();
  return held != nullptr && held->is_usable();
}

bool may_end_again(const afterbay_session& it) {
  const Session::State& state = it.session.state();
  return state.model != nullptr && state.model->is_usable();
}
bool may_end_again(const afterbay_file& it) {
  const OutputFile::State& state = it.file.state();
  return !state.file->closed && goes_on(state.session);
}
bool may_end_again(const afterbay_slot& it) {
  const Slot::State& state = it.slot.state();
  if (state.committed || state.session.expired()) return false;
  // The state of the session itself belongs to its thread, not to those of endpoints.
  return (state.endpoint != nullptr || goes_on(state.session)) && state.is_out();
}
bool may_end_again(const afterbay_endpoint& it) {
  const Endpoint::State& state = it.endpoint.state();
  return !state.session.expired() && !state.endpoint->is_closed();
}

/// Releases the handle after the call that ends an object.
template <class Object>
void end(Numbered<Object>& all, std::int64_t number) {
  try {
    if (may_end_again(*all.find(number))) return;
  } catch (const Failure&) {  // the handle is empty
  }
  constexpr bool used_by_threads =
      std::is_same_v<Object, afterbay_endpoint> || std::is_same_v<Object, afterbay_file>;
  if constexpr (used_by_threads)
    all.retire(number);
  else
    all.drop(number);
}

}  // namespace

// Declared in afterbay_c.f90, afterbay_endpoint_pools.f90 and afterbay_c_outputs.f90.
extern "C" {
AFTERBAY_API std::int64_t afterbay_fortran_keep_session(afterbay_session* session) {
  return sessions().keep(session);
}
AFTERBAY_API std::int64_t afterbay_fortran_keep_file(afterbay_file* file) { return files().keep(file); }
AFTERBAY_API std::int64_t afterbay_fortran_keep_slot(afterbay_slot* slot) { return slots().keep(slot); }
AFTERBAY_API std::int64_t afterbay_fortran_keep_endpoint(afterbay_endpoint* endpoint) {
  return endpoints().keep(endpoint);
}
AFTERBAY_API std::int64_t afterbay_fortran_keep_endpoint_pool(afterbay_endpoint_pool* pool) {
  return endpoint_pools().keep(pool);
}
AFTERBAY_API std::int64_t afterbay_fortran_keep_input(afterbay_input* input) { return inputs().keep(input); }
AFTERBAY_API afterbay_session* afterbay_fortran_session(std::int64_t number) {
  return sessions().find(number);
}
AFTERBAY_API afterbay_file* afterbay_fortran_file(std::int64_t number) { return files().find(number); }
AFTERBAY_API afterbay_slot* afterbay_fortran_slot(std::int64_t number) { return slots().find(number); }
AFTERBAY_API afterbay_endpoint* afterbay_fortran_endpoint(std::int64_t number) {
  return endpoints().find(number);
}
AFTERBAY_API afterbay_endpoint_pool* afterbay_fortran_endpoint_pool(std::int64_t number) {
  return endpoint_pools().find(number);
}
AFTERBAY_API afterbay_input* afterbay_fortran_input(std::int64_t number) { return inputs().find(number); }
AFTERBAY_API void afterbay_fortran_end_session(std::int64_t number) { end(sessions(), number); }
AFTERBAY_API void afterbay_fortran_end_file(std::int64_t number) { end(files(), number); }
AFTERBAY_API void afterbay_fortran_end_slot(std::int64_t number) { end(slots(), number); }
AFTERBAY_API void afterbay_fortran_end_endpoint(std::int64_t number) { end(endpoints(), number); }
AFTERBAY_API void afterbay_fortran_drop_session(std::int64_t number) { sessions().drop(number); }
AFTERBAY_API void afterbay_fortran_drop_slot(std::int64_t number) { slots().drop(number); }
AFTERBAY_API void afterbay_fortran_drop_endpoint_pool(std::int64_t number) { endpoint_pools().drop(number); }
/// Drops an input that was closed: an endpoint may be waiting for values of it in another thread.
AFTERBAY_API void afterbay_fortran_drop_input(std::int64_t number) { inputs().retire(number); }

AFTERBAY_API std::int64_t afterbay_fortran_keep_output(afterbay_output* output) {
  return outputs().keep(output);
}
AFTERBAY_API afterbay_output* afterbay_fortran_output(std::int64_t number) { return outputs().find(number); }
AFTERBAY_API void afterbay_fortran_drop_output(std::int64_t number) { outputs().drop(number); }

AFTERBAY_API std::int64_t afterbay_fortran_keep_calendar(afterbay_calendar* calendar) {
  return calendars().keep(calendar);
}
AFTERBAY_API afterbay_calendar* afterbay_fortran_calendar(std::int64_t number) {
  return calendars().find(number);
}
AFTERBAY_API void afterbay_fortran_drop_calendar(std::int64_t number) { calendars().drop(number); }
}
