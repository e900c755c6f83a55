// SPDX-License-Identifier: Apache-2.0
#include "base/batch_thread.hpp"

#include <sched.h>

namespace afterbay {
namespace {

constexpr sched_param no_priority{};

}  // namespace

BatchThread::BatchThread() noexcept : before_(sched_getscheduler(0)) {
  if (before_ != SCHED_OTHER || sched_setscheduler(0, SCHED_BATCH, &no_priority) != 0) before_ = -1;
}

BatchThread::~BatchThread() {
  if (before_ != -1) (void)sched_setscheduler(0, before_, &no_priority);
}

}  // namespace afterbay
