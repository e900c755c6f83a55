// SPDX-License-Identifier: Apache-2.0
// What is made before the first file of a collection is opened.
#include "server/server.hpp"

namespace afterbay::server {

/// Lets a worker make what the files of a collection have alike before the first of them is opened. Without
/// workers it would only take this thread's time earlier, and perhaps in vain; nor is it known to be of use
/// for files that are appended to.
void Server::prepare(const ServedCollection& collection) {
  const bool makes_files =
      collection.split == model::Split::none || collection.first == static_cast<std::uint32_t>(place_.number);
  const bool appends = static_cast<storage::Existing>(collection.existing) == storage::Existing::append;
  if (!makes_files || appends || !workers_.has_threads()) return;
  unprepared_.push_back(&collection);
  prepare_next();
}

/// One after the other, so that a file that is opened meanwhile need not wait for all.
void Server::prepare_next() {
  if (preparing_ || unprepared_.empty()) return;
  preparing_ = true;
  const ServedCollection& next = *unprepared_.front();
  unprepared_.pop_front();
  storage::FileRequest request;
  request.schema = next.schema;
  request.layout = next.layout;
  workers_.submit([this, format = next.format, request = std::move(request)] {
    observe::Timed timed(profile_.timer("prepare"));
    stores_(format).prepare(request);
    timed.stop();
    Event done;
    done.then = [this] {
      preparing_ = false;
      prepare_next();
    };
    event(std::move(done));
  });
}

}  // namespace afterbay::server
