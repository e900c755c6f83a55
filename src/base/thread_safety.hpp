// SPDX-License-Identifier: Apache-2.0
// Annotations that state which lock guards which field and that clang checks (-Wthread-safety);
// other compilers ignore them. Locked fields carry AFTERBAY_GUARDED_BY; a Mutex is locked by a
// MutexLock, on which a std::condition_variable_any can wait.
#pragma once

#include <mutex>

#if defined(__clang__)
#define AFTERBAY_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define AFTERBAY_THREAD_ATTRIBUTE(attribute)
#endif

/// On a class: a lock, named `name` in messages.
#define AFTERBAY_CAPABILITY(name) AFTERBAY_THREAD_ATTRIBUTE(capability(name))
/// On a class: holds a lock from constructor to destructor.
#define AFTERBAY_SCOPED_CAPABILITY AFTERBAY_THREAD_ATTRIBUTE(scoped_lockable)
/// On a field: read and written only with the lock held.
#define AFTERBAY_GUARDED_BY(lock) AFTERBAY_THREAD_ATTRIBUTE(guarded_by(lock))
/// On a pointer: what it points to is read and written only with the lock held.
#define AFTERBAY_PT_GUARDED_BY(lock) AFTERBAY_THREAD_ATTRIBUTE(pt_guarded_by(lock))
/// On a function: the caller holds the lock.
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

}  // namespace afterbay
