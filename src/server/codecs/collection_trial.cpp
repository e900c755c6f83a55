// SPDX-License-Identifier: Apache-2.0
#include "server/codecs/collection_trial.hpp"

#include <algorithm>

#include "codec/filter_chain.hpp"
#include "model/filters.hpp"
#include "observe/statistics_page.hpp"
#include "server/served_collection.hpp"

namespace afterbay::server {
namespace {

bool is_compressed(const Variable& variable) {
  return std::ranges::any_of(model::filters_of(variable), [](const Filter& it) {
    const codec::Codec* const codec = codec::find_codec(it.id);
    return codec != nullptr && codec->kind == codec::FilterKind::compress;
  });
}

}  // namespace

CollectionTrial::CollectionTrial(const ServedCollection& collection, SampleRoom& room,
                                 std::function<void()> has_come)
    : name_(collection.name),
      shared_(collection.sharing != model::FileSharing::none),
      chains_(codec::chains_to_try(collection.trial_compressors)),
      room_(room),
      has_come_(std::move(has_come)) {
  plan(collection);
}

/// Variables have shares of the copies as of a record.
void CollectionTrial::plan(const ServedCollection& collection) {
  const MutexLock lock(mutex_);
  const model::FileLayout& files = *collection.sink->file_layout();
  std::map<std::uint32_t, std::uint32_t> pieces;  // number of this server's, by variable
  double all_bytes = 0;
  for (const model::FrameOwners::Range& range : collection.owners.ranges_of(collection.part))
    for (std::uint32_t p = range.first_piece; p < range.end_piece; ++p) {
      const model::Piece piece = files.pieces[p];
      const afterbay::Variable& in_schema = collection.schema.variables[piece.variable];
      if (!files.variables[piece.variable].record || !is_compressed(in_schema)) continue;
      auto [at, is_new] = variables_.try_emplace(piece.variable);
      if (is_new) {
        at->second.element_bytes = size_of(in_schema.type);
        at->second.copy_bytes = piece.bytes;
        at->second.first = piece.number;
        at->second.sums.resize(chains_.size());
      }
      at->second.bytes += static_cast<double>(piece.bytes);
      all_bytes += static_cast<double>(piece.bytes);
      ++pieces[piece.variable];
    }
  for (auto& [number, it] : variables_) {
    const double wanted = static_cast<double>(wanted_bytes) / records * it.bytes / all_bytes;
    const std::uint64_t most =
        std::max(least_copy_bytes, std::min(most_copy_bytes, static_cast<std::uint64_t>(wanted)));
    it.copy_bytes = std::min(it.copy_bytes, most / it.element_bytes * it.element_bytes);
    const auto copies =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(wanted / static_cast<double>(it.copy_bytes)));
    it.step = std::max<std::uint32_t>(1, pieces[number] / copies);
    left_ += std::int64_t{records} * ((pieces[number] + it.step - 1) / it.step);
  }
}

bool CollectionTrial::wants(const storage::PieceWrite& write) {
  const auto found = variables_.find(write.piece.variable);
  if (found == variables_.end() || write.piece.number < found->second.first) return false;
  Variable& it = found->second;
  if ((write.piece.number - it.first) % it.step != 0) return false;
  int& had = it.had[write.piece.number];
  if (had == records) return false;
  ++had;
  --left_;
  return true;
}

void CollectionTrial::take(std::span<const storage::PieceWrite> pieces) {
  if (left_ <= 0) return;
  bool has_come = false;
  for (const storage::PieceWrite& write : pieces) {
    std::uint64_t bytes = 0;
    {
      const MutexLock lock(mutex_);
      if (!wants(write)) continue;
      bytes = std::min<std::uint64_t>(variables_[write.piece.variable].copy_bytes, write.bytes.size());
    }
    if (!room_.take(bytes)) {  // a later record may find room
      const MutexLock lock(mutex_);
      --variables_[write.piece.variable].had[write.piece.number];
      ++left_;
      continue;
    }
    Sample sample{write.piece.variable,
                  {write.bytes.begin(), write.bytes.begin() + static_cast<std::ptrdiff_t>(bytes)}};
    const MutexLock lock(mutex_);
    variables_[sample.variable].raw += static_cast<double>(bytes);
    samples_.push_back(std::move(sample));
    has_come = true;
  }
  if (has_come) has_come_();
}

bool CollectionTrial::has_samples() const {
  const MutexLock lock(mutex_);
  return !samples_.empty();
}

bool CollectionTrial::try_one() {
  std::list<Sample>::iterator sample;
  std::size_t element_bytes = 1;
  {
    const MutexLock lock(mutex_);
    if (samples_.empty()) return false;
    sample = std::ranges::min_element(samples_, {}, &Sample::next);  // chain by chain
    element_bytes = variables_[sample->variable].element_bytes;
  }
  // No other thread changes or removes a sample.
  const auto tried = [&]() -> Result<codec::ChunkTrial> {
    AFTERBAY_TRY_ASSIGN(FilterChain chain, codec::chain_of(chains_[sample->next]));
    AFTERBAY_TRY_ASSIGN(const codec::ChunkCodec codec,
                        codec::ChunkCodec::make(std::move(chain), element_bytes));
    return codec::try_chunk(codec, sample->bytes);
  }();
  const MutexLock lock(mutex_);
  Sums& sums = variables_[sample->variable].sums[sample->next];
  if (tried) {  // otherwise the chain is not complete
    sums.raw += static_cast<double>(sample->bytes.size());
    sums.encoded += tried->bytes;
    sums.seconds += tried->seconds;
  }
  if (++sample->next == chains_.size()) {
    room_.give_back(sample->bytes.size());
    samples_.erase(sample);
  }
  return true;
}

void CollectionTrial::record_taken(std::uint64_t file, std::uint64_t record) {
  last_s_ = observe::time_of_day_s();
  const std::pair now(file, record);
  if (taken_ > 0 && now == latest_) return;  // handed over in parts
  latest_ = now;
  if (taken_++ == 0) first_s_ = last_s_;
}

observe::CodecTrialRecord CollectionTrial::record() const {
  observe::CodecTrialRecord record;
  record.collection = name_;
  record.shared = shared_ ? 1 : 0;
  record.records = taken_;
  record.first_s = first_s_;
  record.last_s = last_s_;
  record.chains = static_cast<std::uint32_t>(chains_.size());
  const MutexLock lock(mutex_);
  double sampled = 0;  // size of variables with copies, which stand for the others
  for (const auto& [number, it] : variables_) {
    record.bytes += it.bytes;
    record.measured_bytes += it.raw;
    if (it.raw > 0) sampled += it.bytes;
  }
  if (sampled == 0) return record;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    observe::ChainRecord chain;
    bool complete = true;
    for (const auto& [number, it] : variables_) {
      if (it.raw == 0) continue;
      complete = complete && it.sums[c].raw == it.raw;
      const double per_record = it.bytes / it.raw * record.bytes / sampled;
      chain.bytes += it.sums[c].encoded * per_record;
      chain.seconds += it.sums[c].seconds * per_record;
    }
    if (!complete) continue;
    for (const auto& [name, level] : chains_[c]) chain.filters.push_back({name, level});
    record.trials.push_back(std::move(chain));
  }
  return record;
}

}  // namespace afterbay::server
