// SPDX-License-Identifier: Apache-2.0
// ServerState: the state of an I/O server, or a frontend, at one moment: the contents of its
// statistics page, and the data from which `afterbay top`, the Prometheus file and the report are
// made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace afterbay::observe {

/// One collection on one server. Records count those of the unlimited dimension only.
struct CollectionState {
  std::string name;
  bool shared = false;                  ///< several servers write each of its files
  std::uint64_t records_taken = 0;      ///< every rank has put its part
  std::uint64_t records_written = 0;    ///< the part of them written to their files
  std::uint64_t records_published = 0;  ///< the part of them in files that are complete and durable
  double lag_s = 0;  ///< how long the oldest record taken in has been waiting to be written
  std::uint64_t files_open = 0;
  std::uint64_t files_published = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_published = 0;

  /// The only definition of the page's contents: a(name, field).
  template <class A>
  void named_fields(A& a) {
    a("name", name);
    a("shared", shared);
    a("records_taken", records_taken);
    a("records_written", records_written);
    a("records_published", records_published);
    a("lag_s", lag_s);
    a("files_open", files_open);
    a("files_published", files_published);
    a("bytes_in", bytes_in);
    a("bytes_published", bytes_published);
  }
};

/// Totals are since the start. For a frontend: its backlog is the data that it holds, it has no
/// steps, files, tasks and collections, and forwarded data count as written.
struct ServerState {
  struct Identity {
    std::string role = "server";  ///< or "frontend"
    std::string session;
    std::string run;
    std::string host;
    std::string topology;
    std::int64_t server = 0;   ///< its number; for a frontend: among all frontends
    std::int64_t servers = 0;  ///< number of servers in the session; for a frontend: number of all frontends
    std::int64_t rank = 0;     ///< rank of its process in the session's communicator
    std::int64_t pid = 0;
    std::int64_t model_ranks = 0;
    double started_at_s = 0;  ///< time of day, seconds since 1970
  };

  struct Backlog {
    std::uint64_t bytes = 0;
    std::uint64_t limit_bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t allocated_bytes = 0;  ///< for data, used or not; unset for a frontend
  };

  struct Traffic {
    std::uint64_t in_bytes = 0;       ///< payload taken in
    std::uint64_t out_bytes = 0;      ///< the part of it that has been written
    std::uint64_t written_bytes = 0;  ///< to files, compressed
    std::uint64_t read_bytes = 0;     ///< from input files, handed to ranks
  };

  struct Files {
    std::uint64_t open = 0;
    std::uint64_t published = 0;
  };

  struct Ranks {
    std::uint64_t ended = 0;
    std::uint64_t waiting_for_room = 0;   ///< now
    std::uint64_t waiting_for_files = 0;  ///< now: in wait() until their data are on the disk
    double waited_for_room_s = 0;         ///< total over all model ranks, each up to its last step
    double waited_for_files_s = 0;
  };

  struct Rates {
    double in_bytes_per_s = 0;
    double out_bytes_per_s = 0;
    double written_bytes_per_s = 0;
  };

  Identity identity;
  std::string phase = "running";  ///< "running", "ended", "failed"
  double elapsed_s = 0;
  std::uint64_t steps = 0;
  Backlog backlog;
  Traffic traffic;
  std::uint64_t tasks_queued = 0;  ///< tasks such as writes that no worker has begun
  Files files;
  Ranks ranks;
  std::vector<CollectionState> collections;

  // Derived from several states; see Sampler.
  Rates rates;
  double model_waits_in_s = -1;  ///< if the backlog grows: time until the memory is full; -1: it
                                 ///< does not grow
  double silent_s = 0;           ///< since the last update by the server

  [[nodiscard]] bool is_frontend() const noexcept { return identity.role == "frontend"; }

  /// The only definition of the page's contents: a(name, field).
  template <class A>
  void named_fields(A& a) {
    a("role", identity.role);
    a("session", identity.session);
    a("run", identity.run);
    a("host", identity.host);
    a("topology", identity.topology);
    a("server", identity.server);
    a("servers", identity.servers);
    a("rank", identity.rank);
    a("pid", identity.pid);
    a("model_ranks", identity.model_ranks);
    a("started_at_s", identity.started_at_s);
    a("phase", phase);
    a("elapsed_s", elapsed_s);
    a("steps", steps);
    a("backlog_bytes", backlog.bytes);
    a("backlog_limit_bytes", backlog.limit_bytes);
    a("backlog_peak_bytes", backlog.peak_bytes);
    a("memory_allocated_bytes", backlog.allocated_bytes);
    a("bytes_in", traffic.in_bytes);
    a("bytes_out", traffic.out_bytes);
    a("bytes_written", traffic.written_bytes);
    a("bytes_read", traffic.read_bytes);
    a("in_bytes_per_s", rates.in_bytes_per_s);
    a("out_bytes_per_s", rates.out_bytes_per_s);
    a("written_bytes_per_s", rates.written_bytes_per_s);
    a("tasks_queued", tasks_queued);
    a("files_open", files.open);
    a("files_published", files.published);
    a("ranks_ended", ranks.ended);
    a("ranks_waiting_for_room", ranks.waiting_for_room);
    a("ranks_waiting_for_files", ranks.waiting_for_files);
    a("waited_for_room_s", ranks.waited_for_room_s);
    a("waited_for_files_s", ranks.waited_for_files_s);
    a("model_waits_in_s", model_waits_in_s);
    a("silent_s", silent_s);
    a("collections", collections);
  }
};

}  // namespace afterbay::observe
