// SPDX-License-Identifier: Apache-2.0
// Annotations that state which lock guards which field, or to which thread it belongs, and that
// clang checks (-Wthread-safety); other compilers ignore them. Such fields carry
// AFTERBAY_GUARDED_BY. A Mutex is locked by a MutexLock, on which a std::condition_variable_any can
// wait. A ThreadRole is held by the functions of a thread; see base/ingest_thread.hpp.
#pragma once

#include <mutex>

#if defined(__clang__)
#define AFTERBAY_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define AFTERBAY_THREAD_ATTRIBUTE(attribute)
#endif

/// On a class: a lock or a role, named `name` in messages.
#define AFTERBAY_CAPABILITY(name) AFTERBAY_THREAD_ATTRIBUTE(capability(name))
/// On a class: holds a lock from constructor to destructor.
#define AFTERBAY_SCOPED_CAPABILITY AFTERBAY_THREAD_ATTRIBUTE(scoped_lockable)
/// On a field: read and written only with the lock held.
#define AFTERBAY_GUARDED_BY(lock) AFTERBAY_THREAD_ATTRIBUTE(guarded_by(lock))
/// On a pointer: what it points to is read and written only with the lock held.
#define AFTERBAY_PT_GUARDED_BY(lock) AFTERBAY_THREAD_ATTRIBUTE(pt_guarded_by(lock))
/// On a function: the caller holds the lock or the role. On a lambda it stands after the parameters
/// (which may then not be left out), before `mutable`.
#define AFTERBAY_REQUIRES(...) AFTERBAY_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// On a function: the caller does not hold the lock.
#define AFTERBAY_EXCLUDES(...) AFTERBAY_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
/// On a function: takes the lock, releases it, tries to take it.
#define AFTERBAY_ACQUIRE(...) AFTERBAY_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define AFTERBAY_RELEASE(...) AFTERBAY_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define AFTERBAY_TRY_ACQUIRE(...) AFTERBAY_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
/// On a function: returns a reference to the lock.
#define AFTERBAY_RETURN_CAPABILITY(lock) AFTERBAY_THREAD_ATTRIBUTE(lock_returned(lock))
/// On a function that the analysis cannot follow; state the reason.
#define AFTERBAY_NO_THREAD_SAFETY_ANALYSIS AFTERBAY_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace afterbay {

/// A std::mutex that clang's analysis knows as a lock.
class AFTERBAY_CAPABILITY("mutex") Mutex {
 public:
  void lock() AFTERBAY_ACQUIRE() { mutex_.lock(); }
  void unlock() AFTERBAY_RELEASE() { mutex_.unlock(); }
  bool try_lock() AFTERBAY_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex during its lifetime. A std::condition_variable_any can wait on it; write the
/// condition as a loop around `wait(lock)`, or state in the predicate that the lock is held
/// (`assert_held`).
class AFTERBAY_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) AFTERBAY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() AFTERBAY_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // For std::condition_variable_any, which releases the lock and takes it again within one wait:
  // the analysis considers it held throughout, as it is before and after.
  void lock() AFTERBAY_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void unlock() AFTERBAY_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

/// In a predicate that a wait calls with the lock held: states this to the analysis.
inline void assert_held([[maybe_unused]] Mutex& mutex) AFTERBAY_THREAD_ATTRIBUTE(assert_capability(mutex)) {}

/// A role that one thread at a time has in an object or in several objects that belong together.
/// The analysis treats it as a lock that nobody takes: functions require it, up to the function
/// with which the thread begins, which states it by `assert_role`. It exists at compile time only.
class AFTERBAY_CAPABILITY("role") ThreadRole {};

/// States to the analysis that this function has the role; say why, if it is not obvious.
inline void assert_role([[maybe_unused]] const ThreadRole& role)
    AFTERBAY_THREAD_ATTRIBUTE(assert_capability(role)) {}

}  // namespace afterbay
