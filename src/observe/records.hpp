// SPDX-License-Identifier: Apache-2.0
// Plain data in which profiles and traces are sent from a rank to the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/server_series.hpp"

namespace afterbay::observe {

enum class CounterKind : std::uint8_t { sum, peak };

struct TimerRecord {
  std::string name;
  std::int32_t parent = -1;  ///< index in RankProfile::timers, smaller than its own; -1: a root
  std::uint64_t inclusive_ns = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint32_t threads = 1;  ///< threads that may run it at the same time
  template <class A>
  void fields(A& a) {
    a(name, parent, inclusive_ns, count, bytes, threads);
  }
};

struct CounterRecord {
  std::string name;
  CounterKind kind = CounterKind::sum;
  std::uint64_t value = 0;
  template <class A>
  void fields(A& a) {
    a(name, kind, value);
  }
};

struct RankProfile {
  std::int32_t rank = 0;  ///< in the session's communicator
  std::string role;       ///< "model", "server"
  std::uint64_t elapsed_ns = 0;
  std::uint64_t memory_high_water_bytes = 0;
  std::vector<TimerRecord> timers;
  std::vector<CounterRecord> counters;
  template <class A>
  void fields(A& a) {
    a(rank, role, elapsed_ns, memory_high_water_bytes, timers, counters);
  }
};

/// How a variable is chunked.
struct ChunkRecord {
  std::string variable;
  std::vector<std::uint64_t> lengths;  ///< slowest first; empty: contiguous
  std::uint64_t bytes = 0;             ///< per chunk, without filters
  std::string why;                     ///< "schema", "setting chunk", "access map"
  template <class A>
  void fields(A& a) {
    a(variable, lengths, bytes, why);
  }
};

/// The largest error of a packed variable, or of a rounded one whose accuracy was stated, in all
/// published files.
struct ErrorRecord {
  std::string collection;
  std::string variable;
  double value = 0;  ///< in the units of the file
  template <class A>
  void fields(A& a) {
    a(collection, variable, value);
  }
};

struct FilterRecord {
  std::string codec;
  std::int32_t level = 1;
  template <class A>
  void fields(A& a) {
    a(codec, level);
  }
  friend bool operator==(const FilterRecord&, const FilterRecord&) = default;
};

/// What a chain of filters takes and saves.
struct ChainRecord {
  std::vector<FilterRecord> filters;
  double seconds = 0;  ///< time of one core to encode a record
  double bytes = 0;    ///< size of an encoded record
  template <class A>
  void fields(A& a) {
    a(filters, seconds, bytes);
  }
};

/// What one server measured for a collection with `compress: auto`.
struct CodecTrialRecord {
  std::string collection;
  std::uint8_t shared = 0;          ///< 1: each of its servers writes a part of every record
  std::uint32_t writers = 0;        ///< number of the server's writers that can encode at the same time
  std::uint64_t records = 0;        ///< number that it took in
  double first_s = 0;               ///< time of day at which the first was complete
  double last_s = 0;                ///< the same for the last record
  double bytes = 0;                 ///< size of the server's part of a record, without filters
  double measured_bytes = 0;        ///< size of what was tried
  std::uint32_t chains = 0;         ///< number of chains to try
  std::vector<ChainRecord> trials;  ///< those that were tried on everything, for that part of a record
  template <class A>
  void fields(A& a) {
    a(collection, shared, writers, records, first_s, last_s, bytes, measured_bytes, chains, trials);
  }
};

/// The filters of a collection with `compress: auto`, and what was chosen for later sessions.
struct CompressRecord {
  std::string path;           ///< path of the file with the choice; empty: the collection has no `compress`
  std::string filters;        ///< filters of its files: "shuffle, zstd 1"
  std::uint8_t measured = 0;  ///< 1: nothing was chosen before, and servers measured
  std::string chosen{};       ///< "shuffle, zstd 5"; empty: nothing
  std::string why{};          ///< reason for the choice, or for its absence
  std::string table{};        ///< table of the chains, one per line
  std::vector<ChainRecord> trials{};
  template <class A>
  void fields(A& a) {
    a(path, filters, measured, chosen, why, table, trials);
  }
};

struct CollectionRecord {
  std::string name;
  std::string store;
  std::vector<ChunkRecord> chunks;    ///< one per variable except strings; empty for stores without
                                      ///< chunks
  std::vector<ErrorRecord> errors{};  ///< joined from those of the servers
  CompressRecord compress{};
  template <class A>
  void fields(A& a) {
    a(name, store, chunks, errors, compress);
  }
};

/// Gives each variable in `more` the larger one of both values.
void merge(std::vector<ErrorRecord>& all, const std::vector<ErrorRecord>& more);

/// A published file. Times are since the server's start.
struct FileRecord {
  std::string path;
  std::string collection;
  std::int32_t server = 0;
  double opened_s = 0;
  double published_s = 0;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;  ///< put by this run
  template <class A>
  void fields(A& a) {
    a(path, collection, server, opened_s, published_s, bytes, records);
  }
};

/// The history of one server.
struct ServerHistory {
  std::int32_t server = 0;
  std::int32_t rank = 0;  ///< in the session's communicator
  std::string host;
  std::uint64_t backlog_limit_bytes = 0;
  double started_at_s = 0;  ///< time of day
  std::vector<SeriesPoint> points;
  std::vector<FileRecord> files;  ///< the latest
  std::uint64_t older_files = 0;  ///< not in the list
  std::uint64_t records_refused =
      0;  ///< refusals because too many records of a variable were not yet written
  std::vector<ErrorRecord> errors{};
  std::vector<CodecTrialRecord> codecs{};
  template <class A>
  void fields(A& a) {
    a(server, rank, host, backlog_limit_bytes, started_at_s, points, files, older_files, records_refused,
      errors, codecs);
  }
};

struct TraceEvent {
  std::uint32_t name = 0;    ///< index in RankTrace::names
  std::uint32_t thread = 0;  ///< 0, 1, ... in the order of first use
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t bytes = 0;
  template <class A>
  void fields(A& a) {
    a(name, thread, start_ns, duration_ns, bytes);
  }
};

struct RankTrace {
  std::int32_t rank = 0;
  std::string role;
  std::uint64_t dropped = 0;  ///< older events that the ring had no room for
  std::vector<std::string> names;
  std::vector<TraceEvent> events;  ///< oldest first; start_ns is time of day, so that nodes are
                                   ///< comparable
  template <class A>
  void fields(A& a) {
    a(rank, role, dropped, names, events);
  }
};

}  // namespace afterbay::observe
