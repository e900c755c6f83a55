// SPDX-License-Identifier: Apache-2.0
/// @file
/// EndpointPool, EndpointLoan: endpoints that are lent to tasks, which run on any thread. See
/// docs/how-to/threads.md.
///
/// @code
/// EndpointPool pool(endpoints);  // whose parts are registered
/// // in each task:
/// EndpointLoan loan = pool.take();
/// loan->put(file, "temperature", record, temperature.data());
/// loan->end_step();  // destroying `loan` gives the endpoint back
/// @endcode
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "afterbay/export.h"
#include "afterbay/session.hpp"

namespace afterbay {

class EndpointLoan;

/// Lends endpoints to tasks, which run on any thread: a part belongs to an endpoint, not to a
/// thread. Each endpoint is lent to one task at a time. A task gets the free endpoint that has
/// ended the fewest steps, and none that is more than a step ahead of another one: if each task
/// ends one step of its endpoint, every endpoint is lent once per step, also while tasks of two
/// steps run, provided that tasks begin in the order of their steps. Any thread may make all calls.
/// A handle; copies name the same pool. It does not close the endpoints.
class AFTERBAY_API EndpointPool {
 public:
  /// `endpoints`: open ones of one session, whose parts are registered. Does not wait. Throws
  /// invalid_argument if there are none, one is listed twice or has been closed, or they belong to
  /// several sessions, and bad_state if a handle is empty.
  explicit EndpointPool(std::span<const Endpoint> endpoints);
  /// An empty handle: every call throws bad_state.
  EndpointPool() = default;

  /// Borrows an endpoint. Waits until one is free; in the thread that uses the session, it does
  /// what Session::progress does meanwhile. Throws timed_out if, for the time `deadline`, none is
  /// given back and the rank's endpoints make no progress; bad_state if all have been closed:
  /// closed ones are not lent. The session stays usable.
  [[nodiscard]] EndpointLoan take();
  /// The same without waiting; nullopt if none is free. Throws bad_state if all have been closed.
  [[nodiscard]] std::optional<EndpointLoan> try_take();
  /// The number of endpoints. Does not wait.
  [[nodiscard]] std::size_t size() const;

  /// Like take, as the endpoint's index in the list; returns size() only if `may_wait` is false and
  /// none is free.
  [[nodiscard]] std::size_t take_index(bool may_wait);
  /// Ends the loan of an endpoint. Does not wait. Throws bad_state if it is not lent, or if it
  /// holds a slot that is not committed or has put only sections of its part of a variable: the
  /// endpoint is free nevertheless, and cannot end its step before the rest is put.
  void give_back(std::size_t index);

  struct State;

 private:
  friend class EndpointLoan;
  [[nodiscard]] const Endpoint& at(std::size_t index) const;

  std::shared_ptr<State> state_;
};

/// An endpoint that a task has borrowed. Destroying it gives the endpoint back. Movable; used by
/// one thread at a time.
class AFTERBAY_API EndpointLoan {
 public:
  /// The endpoint. Throws bad_state after give_back.
  [[nodiscard]] Endpoint& endpoint();
  /// The same, so that `loan->put(...)` is a call of the endpoint.
  [[nodiscard]] Endpoint* operator->() { return &endpoint(); }
  /// Its index in the list from which the pool was made.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  /// Gives the endpoint back before the loan is destroyed. Does not wait. Throws as
  /// EndpointPool::give_back does. Does nothing if called again.
  void give_back();

  /// Leaves the other one given back.
  EndpointLoan(EndpointLoan&& other) noexcept
      : pool_(std::exchange(other.pool_, EndpointPool())),
        endpoint_(std::move(other.endpoint_)),
        index_(other.index_) {}
  /// Takes over the other loan, which gets this one in exchange.
  EndpointLoan& operator=(EndpointLoan&& other) noexcept;
  /// Gives the endpoint back, as give_back does, but throws nothing: the endpoint's next end_step
  /// reports the same errors.
  ~EndpointLoan();

 private:
  friend class EndpointPool;
  EndpointLoan(EndpointPool pool, std::size_t index);

  EndpointPool pool_;  ///< empty: given back
  Endpoint endpoint_;
  std::size_t index_ = 0;
};

}  // namespace afterbay
