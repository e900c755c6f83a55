// SPDX-License-Identifier: Apache-2.0
// An output file as a model rank sees it, or the samples of a collection whose servers compute
// statistics.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/collection.hpp"
#include "model/record_set.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

struct File {
  std::uint64_t id = 0;  ///< wire::no_file for samples
  Collection* collection = nullptr;
  /// The server that creates it; the only writer unless its files are shared.
  std::size_t server = 0;
  std::vector<std::size_t> servers;  ///< all servers that write it, beginning with `server`
  std::string path;
  std::atomic<bool> closed{false};  ///< read by endpoints
  std::uint64_t close_ticket = 0;
  std::uint64_t opened_after_ticket = 0;  ///< the last ticket issued before it was opened
  /// Number of records when it was opened; empty: not known yet.
  std::optional<std::uint64_t> records;
  bool holds_states = false;  ///< see wire::OpenFile
  /// For samples and states: describes the next record that is begun.
  struct NextSample {
    wire::RecordKind kind = wire::RecordKind::sample;
    std::uint32_t source = 0;
    std::uint32_t more_of_step = 0;
    double duration = 0;
    std::optional<wire::SavedProgress> progress{};
  };
  NextSample next_sample;
  /// Only the session puts into it, not other endpoints.
  bool is_the_sessions = false;
  std::vector<model::RecordSet> put;          ///< one per variable: the records that this rank has put
  std::vector<model::RecordSet> strings_put;  ///< the same for string variables, which only the session puts

  [[nodiscard]] bool holds_samples() const noexcept { return id == wire::no_file; }
  /// Adds a record to one of the sets of records that were put. Samples have numbers with gaps in
  /// between, and only those that are open can be put.
  void note_put(model::RecordSet& of_variable, std::uint64_t record) const {
    if (holds_samples())
      of_variable.insert_recent(record, CollectionRecords::most_open);
    else
      of_variable.insert(record);
  }
  /// For a record that is begun now.
  [[nodiscard]] wire::BeginRecord message(std::uint64_t seq, std::uint64_t record, bool fixed) const {
    wire::BeginRecord begun{collection->id(), seq, id, record};
    begun.meaning = fixed ? wire::RecordKind::fixed : wire::RecordKind::record;
    if (holds_states) begun.progress = next_sample.progress;
    if (!holds_samples()) return begun;
    begun.meaning = next_sample.kind;
    begun.source = next_sample.source;
    begun.more_of_step = next_sample.more_of_step;
    begun.duration = next_sample.duration;
    begun.progress = next_sample.progress;
    return begun;
  }
};

}  // namespace afterbay::client
