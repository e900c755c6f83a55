// SPDX-License-Identifier: Apache-2.0
#include "server/space/space_policy.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

namespace afterbay::server {
namespace {

double seconds_from(std::uint64_t since_ns, std::uint64_t now_ns) {
  return static_cast<double>(now_ns - since_ns) * 1e-9;
}

}  // namespace

SpacePolicy::SpacePolicy(const config::Config& config, Host host, std::shared_ptr<storage::Disk> disk,
                         SpaceClock& clock)
    : config_(config),
      host_(std::move(host)),
      guard_(config.writing.space_retry,
             {host_.alive, host_.work,
              [this](const SpaceNotice& notice) {
                if (!host_.work)
                  return host_.post([this, notice]() AFTERBAY_REQUIRES(ingest_thread) { take(notice); });
                assert_role(ingest_thread);  // which runs the tasks itself
                take(notice);
              }},
             clock),
      disk_(std::make_shared<storage::PatientDisk>(std::move(disk), guard_)) {}

const CollectionPolicy& SpacePolicy::of(const ServedCollection& collection) {
  const auto [at, is_new] = policies_.try_emplace(collection.id);
  if (is_new) {
    const config::CollectionSettings settings = config_.settings_for(collection.name);
    at->second = {.optional = settings.optional.value_or(false),
                  .droppable = settings.droppable.value_or(false),
                  .readable = settings.readable.value_or(false),
                  .priority = settings.priority.value_or(0)};
    if (at->second.optional) guard_.offer(true);
  }
  return at->second;
}

void SpacePolicy::take(const SpaceNotice& notice) {
  using What = SpaceNotice::What;
  const std::string& path = notice.call.path;
  const char* const missing = notice.call.number == EDQUOT ? "the quota is used up" : "no space is left";
  if (notice.what == What::short_of_space) {
    host_.warn(fmt::format(
        "{} for {}: I/O server {} keeps the data and tries again for {} s (the setting 'space.retry'); model "
        "ranks wait when its memory is full; free space so that the run can continue",
        missing, path, host_.server, static_cast<double>(config_.writing.space_retry.count()) / 1000));
    return host_.report_short(true);
  }
  if (notice.what == What::sacrifice)
    return give_up_optional(fmt::format("{} for {}, for {:.0f} s", missing, path,
                                        seconds_from(notice.call.since_ns, guard_.now_ns())));
  host_.report_short(false);
  if (notice.what == What::over)
    host_.warn(fmt::format("there is space again for {}, after {:.1f} s: output continues", path,
                           seconds_from(notice.call.since_ns, guard_.now_ns())));
  for (auto& then : std::exchange(put_off_, {})) when_no_call_waits(std::move(then));
}

void SpacePolicy::when_no_call_waits(IngestFunction<void()> then) {
  if (guard_.waiting())
    put_off_.push_back(std::move(then));
  else
    then();
}

void SpacePolicy::give_up_optional(const std::string& why) {
  if (session_failed_) return;
  for (const auto& [id, policy] : policies_) {
    if (!policy.optional || given_up_.contains(id)) continue;
    host_.report_given_up(id, why);
    end_collection(id, why);
  }
}

void SpacePolicy::give_up(const ServedCollection& collection, const std::string& why) {
  host_.report_given_up(collection.id, why);
  end_collection(collection.id, why);
}

void SpacePolicy::given_up_elsewhere(std::uint32_t id, const std::string& why) { end_collection(id, why); }

void SpacePolicy::end_collection(std::uint32_t id, const std::string& why) {
  if (!given_up_.insert(id).second) return;
  const ServedCollection* const collection = host_.collection(id);
  if (collection == nullptr) return;
  host_.warn(
      fmt::format("collection \"{}\" is optional and is given up from here on, with {} files that are "
                  "not published: {}",
                  collection->name, host_.open_files(*collection), why));
  host_.end_files(*collection, why);
}

void SpacePolicy::session_failed(const Error& error) {
  session_failed_ = true;
  if (error.code != ErrorCode::stopped) guard_.stop();
}

}  // namespace afterbay::server
