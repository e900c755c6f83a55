// SPDX-License-Identifier: Apache-2.0
// Records: the (file, record) of each running number of a collection, the variables that each rank
// has handed over, and the frames that are being written. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/catalog.hpp"

namespace afterbay::server {

/// What all ranks state of a record.
struct RecordHead {
  std::uint64_t file = 0;
  std::uint64_t record = 0;
  bool fixed = false;
  wire::RecordKind meaning = wire::RecordKind::record;
  std::uint32_t source = 0;                     ///< for samples: wire::BeginRecord::source
  std::uint32_t more_of_step = 0;               ///< for samples: wire::BeginRecord::more_of_step
  double duration = 0;                          ///< for samples: wire::BeginRecord::duration
  std::optional<wire::SavedProgress> progress;  ///< see wire::BeginRecord
  std::uint64_t epochs = 0;                     ///< number of the last epoch before it

  /// Whether it is for the collection's reductions and belongs to no file.
  [[nodiscard]] bool is_sample() const noexcept { return file == wire::no_file; }
};

/// A (file, record) of a collection between its first put and its last write.
struct Record : RecordHead {
  bool ended = false;        ///< every rank has handed over all of its data
  std::size_t ended_by = 0;  ///< number of ranks
  std::size_t begun_by = 0;  ///< the model rank that began it first
  /// Ranks that ended it by flush or epoch in the middle of a step; empty: none.
  std::vector<bool> cut_by;
  std::uint64_t ended_ns = 0;   ///< time at which the last rank ended it
  std::size_t writes = 0;       ///< number of frames being written
  std::vector<bool> scheduled;  ///< this server's frames, by number
  /// By variable, then by model rank; empty: not put by any rank.
  std::vector<std::vector<bool>> put;
};

/// A variable of a record of a file, for messages.
struct RecordPart {
  std::uint64_t file = 0;
  std::string variable;
  std::uint64_t record = 0;
  bool fixed = false;
  [[nodiscard]] std::string record_text() const;  ///< " of record 3"; "" for a fixed variable
};

class Records {
 public:
  explicit Records(const Catalog& catalog) : catalog_(catalog) {}

  /// A rank states the meaning of `seq`; fails (conflict) if another rank stated otherwise.
  /// `epochs`: number of the last epoch that the rank reached before. `path_of`: of a file, by its
  /// number, for the message.
  Result<> begin(std::size_t peer, const wire::BeginRecord& message, std::uint64_t epochs = 0,
                 const std::function<std::string(std::uint64_t file)>& path_of = {})
      AFTERBAY_REQUIRES(ingest_thread);
  Result<> put(std::size_t peer, const wire::Put& message) AFTERBAY_REQUIRES(ingest_thread);
  /// Strings belong to no record; they count as the rank's last put.
  void put_strings(std::size_t peer, const ServedCollection& collection, const wire::PutStrings& message)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Moves the rank's bound and returns the numbers that all ranks have now ended. `within_step`:
  /// see wire::EndRecords.
  std::vector<std::uint64_t> end(std::size_t peer, std::uint32_t collection, std::uint64_t next_seq,
                                 bool within_step = false) AFTERBAY_REQUIRES(ingest_thread);

  /// The rank's bound in every collection into which it has put.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint64_t>> bounds(std::size_t peer) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Model ranks that have not ended `seq`.
  [[nodiscard]] std::vector<int> not_ended(std::uint32_t collection, std::uint64_t seq) const
      AFTERBAY_REQUIRES(ingest_thread);

  /// The first part that other ranks have put and `peer` has not, although it holds points of it.
  [[nodiscard]] std::optional<RecordPart> awaited_from(std::size_t peer) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// The last put of `peer`.
  [[nodiscard]] std::optional<RecordPart> last_put(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] Record* find(std::uint32_t collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  void erase(std::uint32_t collection, std::uint64_t seq) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::map<std::uint64_t, Record>& of(std::uint32_t collection)
      AFTERBAY_REQUIRES(ingest_thread) {
    return records_[collection];
  }
  [[nodiscard]] std::map<std::uint32_t, std::map<std::uint64_t, Record>>& all()
      AFTERBAY_REQUIRES(ingest_thread) {
    return records_;
  }

  /// A description of the first variable that some ranks have put and others have not; "" if there
  /// is none.
  [[nodiscard]] std::string missing(const ServedCollection& collection, const Record& record) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// The model ranks that have not put this variable.
  [[nodiscard]] std::vector<int> absent(const ServedCollection& collection, const Record& record) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// For errors: a sentence that names the ranks, of `peers` unless that is empty, that have ended
  /// the record in the middle of a step; "" if there are none.
  [[nodiscard]] std::string cut_text(const Record& record, const std::vector<int>& peers = {}) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Fails (conflict) if the rank has put into a record that others began after that epoch, which
  /// it now reaches: the epoch would wait for what comes after it.
  [[nodiscard]] Result<> check_epoch(std::size_t peer, std::uint64_t number, const std::string& name) const
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::string missing_variable(const ServedCollection& collection, const Record& record) const
      AFTERBAY_REQUIRES(ingest_thread);

  // Memory, for RankTables.
  static constexpr std::uint64_t bytes_per_rank() noexcept { return sizeof(LastPut); }
  static constexpr std::uint64_t bytes_per_rank_and_collection() noexcept {  // bounds_, cuts_
    return 2 * sizeof(std::uint64_t);
  }

 private:
  [[nodiscard]] int incomplete_variable(const ServedCollection& collection, const Record& record) const
      AFTERBAY_REQUIRES(ingest_thread);

  const Catalog& catalog_;
  /// By collection, then seq.
  std::map<std::uint32_t, std::map<std::uint64_t, Record>> records_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// By collection, then model rank.
  using Bounds = std::map<std::uint32_t, std::vector<std::uint64_t>>;
  /// Whether the rank has last ended records in the middle of a step, right before this number.
  [[nodiscard]] bool cut_before(std::size_t peer, std::uint32_t collection, std::uint64_t seq) const
      AFTERBAY_REQUIRES(ingest_thread);
  Bounds bounds_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// One more than the bound that each peer reached in the middle of a step; 0: it did not.
  Bounds cuts_ AFTERBAY_GUARDED_BY(ingest_thread);
  struct LastPut {
    const ServedCollection* collection = nullptr;
    std::uint32_t variable = 0;
    std::uint64_t file = 0;
    std::uint64_t record = 0;
    bool fixed = false;
  };
  std::vector<LastPut> last_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by model rank
};

/// "model rank 3", "model ranks 1, 2 and 5", "model ranks 0-4095 except 17".
std::string text_of_ranks(const std::vector<int>& ranks);

}  // namespace afterbay::server
