// SPDX-License-Identifier: Apache-2.0
#include "server/executor.hpp"

namespace afterbay::server {

void Executor::push(std::unique_ptr<Posted> posted) {
  {
    const MutexLock lock(mutex_);
    posted_.push_back(std::move(posted));
  }
  wake_();
}

std::size_t Executor::run() {
  std::vector<std::unique_ptr<Posted>> posted;
  {
    const MutexLock lock(mutex_);
    posted.swap(posted_);
  }
  for (const auto& it : posted) it->call();
  return posted.size();
}

}  // namespace afterbay::server
