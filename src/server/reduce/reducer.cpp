// SPDX-License-Identifier: Apache-2.0
#include "server/reduce/reducer.hpp"

#include <algorithm>
#include <utility>

namespace afterbay::server {

Result<> Reducer::add(const ServedCollection& collection) {
  if (collection.reductions.empty()) return {};
  AFTERBAY_TRY_ASSIGN(auto states, FrameStates::make(collection, bytes_, limit_));
  bytes_ += states->bytes();
  states_.emplace(collection.id, std::move(states));
  return {};
}

void Reducer::take(FrameTask samples, std::uint64_t seq, Record& record, std::uint32_t number) {
  ++record.writes;
  const FrameOrder::Frame turn{samples.collection->id, number};
  WorkerTask task =
      host_.tasks.take_samples(std::move(samples), seq, record, turn, *states_.at(turn.collection));
  order_.add(turn, seq,
             [this, task = std::move(task)]() AFTERBAY_REQUIRES(ingest_thread) { host_.submit(task); });
}

void Reducer::write_results(OutputFile& file, std::uint64_t seq, Record& record) {
  const ServedCollection& collection = *file.collection;
  FrameStates& states = *states_.at(collection.id);
  for (std::uint32_t number = 0; number < collection.frames(); ++number) {
    const model::Frame frame = collection.layout->frames[collection.frame(number)];
    const auto expected = collection.expected_in(collection.frame(number));
    std::vector<std::uint32_t> pieces;
    for (std::uint32_t p = frame.first_piece; p < frame.first_piece + frame.piece_count; ++p) {
      if (expected[p - frame.first_piece] == 0) continue;  // no rank has points of it
      const std::uint32_t variable = collection.layout->pieces[p].variable;
      if (!record.put[variable].empty() && collection.reduces(variable)) pieces.push_back(p);
    }
    if (pieces.empty()) continue;
    ++record.writes;
    host_.hold(file);
    const FrameOrder::Frame turn{collection.id, number};
    WorkerTask task = host_.tasks.write_results(file, std::move(pieces), seq, record, turn, states);
    order_.add(turn, seq,
               [this, id = file.id, epochs = record.epochs, task = std::move(task)]()
                   AFTERBAY_REQUIRES(ingest_thread) { host_.submit_of_file(id, epochs, task); });
  }
}

void Reducer::note(std::uint32_t collection, const std::map<std::uint64_t, Record>& records) {
  if (records.empty()) return;
  const auto open = std::ranges::find_if(records, [](const auto& entry) { return !entry.second.ended; });
  std::uint64_t& begun = begun_[collection];
  if (open == records.end()) {
    begun = records.rbegin()->first;
    return order_.allow(collection, begun);
  }
  // The samples of one step may be taken in any order, and ranks put them in any order.
  begun = open->first + (open->second.is_sample() ? open->second.more_of_step : 0);
  const bool waits = open->first > 0 && !room_is_needed();
  order_.allow(collection, waits ? open->first - 1 : begun);
}

void Reducer::relieve() {
  if (begun_.empty() || !room_is_needed()) return;
  for (const auto& [collection, seq] : begun_) order_.allow(collection, seq);
}

bool Reducer::room_is_needed() {
  const transport::FramePool& frames = host_.frames();
  const std::uint64_t refusals = frames.older_refusals();
  const bool refused = std::exchange(refusals_, refusals) != refusals;
  return refused || frames.is_short() || 4 * frames.used_bytes() >= frames.capacity_bytes();
}

}  // namespace afterbay::server
