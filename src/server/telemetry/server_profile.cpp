// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/server_profile.hpp"

#include <fmt/format.h>

namespace afterbay::server {
namespace {

ServerProfile::Timers timers_of(observe::Profile& profile) {
  return {profile.timer("wait_message"),
          profile.timer("ingest"),
          profile.worker_timer("create"),
          profile.worker_timer("write"),
          profile.worker_timer("publish"),
          profile.worker_timer("epoch"),
          profile.counter(observe::counters::bytes),
          profile.counter(observe::counters::written_bytes),
          profile.counter(observe::counters::direct_bytes),
          profile.counter(observe::counters::messages),
          profile.counter(observe::counters::backlog, observe::CounterKind::peak),
          profile.counter("files published")};
}

}  // namespace

ServerProfile::ServerProfile(observe::Profile& profile, std::size_t workers)
    : profile_(profile), timers_(timers_of(profile)) {
  profile.set_workers(workers);
}

const ServerProfile::CollectionTimers& ServerProfile::of(const ServedCollection& collection) {
  auto [at, is_new] = collections_.try_emplace(collection.id);
  if (is_new) {
    CollectionTimers& it = at->second;
    it.write = profile_.timer(collection.name, timers_.write);
    it.fill = profile_.timer("fill", it.write);
    if (collection.sink->takes_scratch()) it.stages = profile_.timer("stages", it.write);
    if (!collection.reductions.empty()) it.statistics = profile_.timer("statistics", it.write);
    it.encode = profile_.timer("encode", it.write);
    it.library = profile_.timer("library", it.write);
    it.disk = profile_.timer("disk", it.write);
    it.kept = fmt::format("{}: values not rounded, to keep the stated accuracy", collection.name);
    it.unpacked =
        fmt::format("{}: fields stored unpacked, because they could not be packed", collection.name);
    it.publish = profile_.timer(collection.name, timers_.publish);
  }
  return at->second;
}

void ServerProfile::add(const storage::WriteCost& cost, const CollectionTimers& timers) const {
  const std::uint64_t now = now_ns();
  const auto add = [now](observe::Timer* timer, std::uint64_t spent_ns, std::uint64_t bytes) {
    if (timer != nullptr && spent_ns > 0) timer->add(now - spent_ns, now, bytes);
  };
  add(timers.encode, cost.encode_ns, cost.bytes_in);
  add(timers.library, cost.place_ns, 0);
  add(timers.disk, cost.write_ns, cost.bytes_out);
  observe::add(timers_.bytes, cost.bytes_in);
  observe::add(timers_.written, cost.bytes_out);
  observe::add(timers_.direct, cost.direct_bytes);
  if (cost.kept_values > 0) observe::add(profile_.counter(timers.kept), cost.kept_values);
  if (cost.unpacked_messages > 0) observe::add(profile_.counter(timers.unpacked), cost.unpacked_messages);
}

void ServerProfile::count_created(const ServedCollection& collection, const storage::File& file,
                                  const storage::Striping& striping) {
  observe::add(profile_.counter(fmt::format("{}: files on {} ({}), {}", collection.name, striping.file_system,
                                            file.engine(), striping.stripes)),
               1);
}

void ServerProfile::count_given_up(const ServedCollection& collection) {
  observe::add(profile_.counter(fmt::format("{}: files given up, no space", collection.name)), 1);
}

std::uint64_t ServerProfile::bytes_read() {
  const observe::Counter* const read = profile_.counter("read bytes");
  return read == nullptr ? 0 : read->value();
}

}  // namespace afterbay::server
