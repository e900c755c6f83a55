// SPDX-License-Identifier: Apache-2.0
#include "client/shared_links.hpp"

#include <algorithm>

namespace afterbay::client {

void SharedLinks::start() {
  for (std::size_t s = 0; s < core_.servers(); ++s) ends_.push_back(core_.link(s).thread_end());
  any_thread_sends_ = std::ranges::find(ends_, nullptr) == ends_.end();
}

bool SharedLinks::is_direct(const File& file) const {
  return std::ranges::all_of(file.servers, [this](std::size_t server) { return ends_[server] != nullptr; });
}

void SharedLinks::publish(std::uint64_t position) const {
  for (transport::ThreadEnd* const end : ends_)
    if (end != nullptr) end->publish(position, 0);
}

void SharedLinks::advance(std::uint64_t position) {
  for (std::size_t s = 0; s < ends_.size(); ++s)
    if (ends_[s] == nullptr) core_.link(s).set_position(position);
}

void SharedLinks::hold(std::uint64_t position) {
  for (std::size_t s = 0; s < ends_.size(); ++s)
    if (ends_[s] != nullptr) core_.link(s).hold(position);
}

Result<> SharedLinks::deliver() {
  std::vector<bool> flush(core_.servers(), false);
  for (Outbox::Message& message : outbox_.take()) {
    AFTERBAY_TRY(deliver(message));
    if (std::holds_alternative<wire::EndRecords>(message.content)) flush[message.server] = true;
  }
  for (std::size_t s = 0; s < flush.size(); ++s)
    if (flush[s]) AFTERBAY_TRY(core_.flush(s));
  return {};
}

Result<> SharedLinks::deliver(Outbox::Message& message) {
  const std::size_t server = message.server;
  if (const auto* const begun = std::get_if<wire::BeginRecord>(&message.content))
    return core_.send(server, *begun, transport::Wake::no);
  if (const auto* const put = std::get_if<wire::Put>(&message.content))
    return core_.send(server, *put, transport::Wake::no);
  if (const auto* const ready = std::get_if<Outbox::Ready>(&message.content)) {
    if (auto sent = core_.link(server).frame_is_complete(ready->slot); !sent)
      return fail(core_.explain(server, std::move(sent).error()));
    return {};
  }
  auto& ended = std::get<wire::EndRecords>(message.content);
  ended.waited_for_room_ns = core_.link(server).waited_ns();
  if (ends_[server] != nullptr) ended.waited_for_room_ns += ends_[server]->waited_ns();
  ended.waited_for_files_ns = waited_for_files_ns_();
  return core_.send(server, ended, transport::Wake::no);
}

}  // namespace afterbay::client
