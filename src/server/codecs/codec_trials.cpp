// SPDX-License-Identifier: Apache-2.0
#include "server/codecs/codec_trials.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/processors.hpp"
#include "server/served_collection.hpp"

namespace afterbay::server {
namespace {

/// Workers share the processors that the process may use.
std::uint32_t encoders_of(std::size_t workers) {
  std::uint32_t processors = 0;
  for (const std::uint64_t word : own_processors().allowed)
    processors += static_cast<std::uint32_t>(std::popcount(word));
  const auto all = static_cast<std::uint32_t>(workers);
  return processors == 0 ? all : std::min(all, processors);
}

}  // namespace

CodecTrials::CodecTrials(std::size_t workers, AnyThreadFunction<void(WorkerTask)> submit)
    : encoders_(encoders_of(workers)), submit_(std::move(submit)) {}

void CodecTrials::add(const ServedCollection& collection) {
  if (collection.trial_compressors.empty() || by_id_.contains(collection.id)) return;
  auto trial = std::make_unique<CollectionTrial>(collection, room_, [this] { wake(); });
  {
    const MutexLock lock(mutex_);
    all_.push_back(trial.get());
  }
  by_id_.emplace(collection.id, std::move(trial));
}

ChunkSampler* CodecTrials::sampler_of(std::uint32_t collection) const {
  if (encoders_ == 0) return nullptr;
  const auto found = by_id_.find(collection);
  return found == by_id_.end() ? nullptr : found->second.get();
}

void CodecTrials::record_taken(std::uint32_t collection, std::uint64_t file, std::uint64_t record) {
  if (const auto found = by_id_.find(collection); found != by_id_.end())
    found->second->record_taken(file, record);
}

std::vector<observe::CodecTrialRecord> CodecTrials::records() const {
  std::vector<observe::CodecTrialRecord> records;
  for (const auto& [id, trial] : by_id_) {
    records.push_back(trial->record());
    records.back().writers = encoders_;
  }
  return records;
}

void CodecTrials::wake() {
  if (!stopped_ && !trying_.exchange(true)) submit_([this] { try_one(); });
}

void CodecTrials::try_one() {
  std::vector<CollectionTrial*> all;
  {
    const MutexLock lock(mutex_);
    all = all_;
  }
  const bool tried = !stopped_ && std::ranges::any_of(all, &CollectionTrial::try_one);
  trying_ = false;
  // If nothing was left, copies may have come since.
  if (tried || std::ranges::any_of(all, &CollectionTrial::has_samples)) wake();
}

}  // namespace afterbay::server
