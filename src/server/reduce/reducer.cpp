// SPDX-License-Identifier: Apache-2.0
#include "server/reduce/reducer.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace afterbay::server {

namespace {

/// Computes the results of a frame in a buffer, and writes them as a frame that ranks have put.
Result<storage::WriteCost> write_frame_results(const ServedCollection& collection, FrameStates& states,
                                               std::span<const std::uint32_t> pieces,
                                               const RecordHead& record, const OutputFile& file,
                                               ScratchBuffers& scratch, observe::Timer* timer) {
  const model::HandoverLayout& layout = *collection.layout;
  ScratchBuffers::Lease buffer(scratch);
  std::byte* const base =
      buffer.data() + layout.phase(layout.frames[layout.pieces[pieces.front()].frame], record.record);
  {
    const observe::Timed timed(timer);
    if (file.holds_states) {
      states.plane(pieces, record, base);
    } else {
      AFTERBAY_TRY(states.results(pieces, base));
    }
    fill_gaps(collection, pieces, base);
  }
  return collection.sink->write({base, pieces, record.record, record.epochs, true}, *file.file, scratch, timer);
}

}  // namespace

Result<> Reducer::add(const ServedCollection& collection) {
  if (collection.reductions.empty()) return {};
  AFTERBAY_TRY_ASSIGN(auto states, FrameStates::make(collection, bytes_, limit_));
  bytes_ += states->bytes();
  states_.emplace(collection.id, std::move(states));
  return {};
}

void Reducer::take(const ServedCollection& collection, std::uint64_t seq, Record& record,
                   std::uint32_t number, Overflow::Handle frame,
                   const ServerProfile::CollectionTimers& timers) {
  ++record.writes;
  FrameStates& states = *states_.at(collection.id);
  const RecordHead& head = record;
  const FrameOrder::Frame turn{collection.id, number};
  order_.add(turn, seq,
             [this, turn, seq, head, &states, timers, frame = std::move(frame)]()
                 AFTERBAY_REQUIRES(ingest_thread) {
                   host_.run([this, turn, seq, head, &states, timers, frame] {
                     SampleTaken result{.frame = turn, .seq = seq};
                     auto cost = host_.memory.take(
                         *frame,
                         [&](const FrameTask& task, ScratchBuffers& scratch) -> Result<storage::WriteCost> {
                           const OrderedFrame ordered(task, scratch, timers.fill);
                           const observe::Timed timed(timers.stages);
                           AFTERBAY_TRY(states.take(ordered.frame(), head));
                           storage::WriteCost taken;
                           for (const std::uint32_t p : task.pieces)
                             taken.bytes_in += task.collection->layout->pieces[p].bytes;
                           return taken;
                         });
                     if (cost)
                       host_.account(*cost, timers);
                     else
                       result.error = std::move(cost).error();
                     host_.taken(std::move(result));
                   });
                 });
}

void Reducer::write_results(const ServedCollection& collection, std::uint64_t seq, Record& record,
                            OutputFile& file, const ServerProfile::CollectionTimers& timers) {
  FrameStates& states = *states_.at(collection.id);
  const RecordHead& head = record;
  for (std::uint32_t of_server = 0; of_server < collection.frames(); ++of_server) {
    const model::Frame frame = collection.layout->frames[collection.frame(of_server)];
    std::vector<std::uint32_t> pieces;
    for (std::uint32_t p = frame.first_piece; p < frame.first_piece + frame.piece_count; ++p) {
      const std::uint32_t variable = collection.layout->pieces[p].variable;
      if (!record.put[variable].empty() && collection.reduces(variable)) pieces.push_back(p);
    }
    if (pieces.empty()) continue;
    ++record.writes;
    host_.hold(file);
    const FrameOrder::Frame turn{collection.id, of_server};
    auto write = [this, turn, seq, &collection, &states, &file, timers, head, pieces = std::move(pieces)] {
      observe::Timed timed(timers.write);
      FrameWritten result{.file = file.id, .collection = collection.id, .seq = seq, .turn = turn};
      auto cost = host_.memory.with_scratch([&](ScratchBuffers& scratch) -> Result<storage::WriteCost> {
        AFTERBAY_TRY(host_.check_wanted(file));
        return write_frame_results(collection, states, pieces, head, file, scratch, timers.stages);
      });
      if (cost) {
        cost->bytes_in = 0;  // they were counted as samples
        host_.account(*cost, timers);
      } else {
        result.error =
            std::move(cost).error().in_file(file.path).in_variable(variables_of(collection, pieces));
      }
      timed.stop();
      host_.written(std::move(result));
    };
    order_.add(turn, seq,
               [this, turn, seq, id = file.id, epochs = record.epochs, collection = collection.id,
                write = std::move(write)]() AFTERBAY_REQUIRES(ingest_thread) {
                 if (!host_.write(id, epochs, write))
                   host_.taken(SampleTaken{.frame = turn, .seq = seq});
               });
  }
}

void Reducer::note(std::uint32_t collection, const std::map<std::uint64_t, Record>& records) {
  const auto open =
      std::ranges::find_if(records, [](const auto& entry) { return !entry.second.ended; });
  order_.allow(collection, open == records.end() ? (records.empty() ? 0 : records.rbegin()->first)
                                                 : open->first);
}

}  // namespace afterbay::server
