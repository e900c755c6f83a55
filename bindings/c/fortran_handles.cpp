// SPDX-License-Identifier: Apache-2.0
// Fortran's handles are plain numbers, which a program may copy freely: a copy of a closed handle
// refers to an empty object, whose functions fail with bad_state, not to freed memory.
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "handles.hpp"
#include "session/state.hpp"

namespace {

using namespace afterbay;

/// The open objects of one kind. Numbers are never reused. Any thread.
template <class Object>
class Numbered {
 public:
  explicit Numbered(Object closed) : closed_(std::move(closed)) {}

  /// Takes ownership of `object`; returns 0 if there is none.
  std::int64_t keep(Object* object) {
    if (object == nullptr) return 0;
    const std::lock_guard lock(mutex_);
    objects_.emplace(++last_, object);
    return last_;
  }
  /// Never null.
  Object* find(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(number);
    return at == objects_.end() ? &closed_ : at->second.get();
  }
  void drop(std::int64_t number) {
    std::unique_ptr<Object> object;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(number);
    if (at == objects_.end()) return;
    object = std::move(at->second);
    objects_.erase(at);
  }

 private:
  std::mutex mutex_;
  Object closed_;
  std::int64_t last_ = 0;
  std::unordered_map<std::int64_t, std::unique_ptr<Object>> objects_;
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
Numbered<afterbay_input>& inputs() {
  static auto& all = *new Numbered<afterbay_input>({InputFile(), {}, {}, {}});
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
  return !state.committed && goes_on(state.session) &&
         state.session.lock()->endpoint().is_out(*state.acquired);
}

/// Releases the handle after the call that ends an object.
template <class Object>
void end(Numbered<Object>& all, std::int64_t number) {
  try {
    if (may_end_again(*all.find(number))) return;
  } catch (const Failure&) {  // the handle is empty
  }
  all.drop(number);
}

}  // namespace

// Declared in afterbay_c.f90.
extern "C" {
AFTERBAY_API std::int64_t afterbay_fortran_keep_session(afterbay_session* session) {
  return sessions().keep(session);
}
AFTERBAY_API std::int64_t afterbay_fortran_keep_file(afterbay_file* file) { return files().keep(file); }
AFTERBAY_API std::int64_t afterbay_fortran_keep_slot(afterbay_slot* slot) { return slots().keep(slot); }
AFTERBAY_API std::int64_t afterbay_fortran_keep_input(afterbay_input* input) { return inputs().keep(input); }
AFTERBAY_API afterbay_session* afterbay_fortran_session(std::int64_t number) {
  return sessions().find(number);
}
AFTERBAY_API afterbay_file* afterbay_fortran_file(std::int64_t number) { return files().find(number); }
AFTERBAY_API afterbay_slot* afterbay_fortran_slot(std::int64_t number) { return slots().find(number); }
AFTERBAY_API afterbay_input* afterbay_fortran_input(std::int64_t number) { return inputs().find(number); }
AFTERBAY_API void afterbay_fortran_end_session(std::int64_t number) { end(sessions(), number); }
AFTERBAY_API void afterbay_fortran_end_file(std::int64_t number) { end(files(), number); }
AFTERBAY_API void afterbay_fortran_end_slot(std::int64_t number) { end(slots(), number); }
AFTERBAY_API void afterbay_fortran_drop_session(std::int64_t number) { sessions().drop(number); }
AFTERBAY_API void afterbay_fortran_drop_slot(std::int64_t number) { slots().drop(number); }
AFTERBAY_API void afterbay_fortran_drop_input(std::int64_t number) { inputs().drop(number); }
}
