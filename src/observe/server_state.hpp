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
  // Identity.
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

  // Progress.
  std::string phase = "running";  ///< "running", "ended", "failed"
  double elapsed_s = 0;
  std::uint64_t steps = 0;
  std::uint64_t backlog_bytes = 0;
  std::uint64_t backlog_limit_bytes = 0;
  std::uint64_t backlog_peak_bytes = 0;
  std::uint64_t memory_allocated_bytes = 0;  ///< for data, used or not; unset for a frontend
  std::uint64_t bytes_in = 0;                ///< payload taken in
  std::uint64_t bytes_out = 0;               ///< the part of it that has been written
  std::uint64_t bytes_written = 0;           ///< to files, compressed
  std::uint64_t bytes_read = 0;              ///< from input files, handed to ranks
  std::uint64_t tasks_queued = 0;            ///< tasks such as writes that no worker has begun
  std::uint64_t files_open = 0;
  std::uint64_t files_published = 0;
  std::uint64_t ranks_ended = 0;
  std::uint64_t ranks_waiting_for_room = 0;   ///< now
  std::uint64_t ranks_waiting_for_files = 0;  ///< now: in wait() until their data are on the disk
  double waited_for_room_s = 0;               ///< total over all model ranks, each up to its last step
  double waited_for_files_s = 0;
  std::vector<CollectionState> collections;

  // Derived from several states; see Sampler.
  double in_bytes_per_s = 0;
  double out_bytes_per_s = 0;
  double written_bytes_per_s = 0;
  double model_waits_in_s = -1;  ///< if the backlog grows: time until the memory is full; -1: it
                                 ///< does not grow
  double silent_s = 0;           ///< since the last update by the server

  [[nodiscard]] bool is_frontend() const noexcept { return role == "frontend"; }

  template <class A>
  void named_fields(A& a) {
    a("role", role);
    a("session", session);
    a("run", run);
    a("host", host);
    a("topology", topology);
    a("server", server);
    a("servers", servers);
    a("rank", rank);
    a("pid", pid);
    a("model_ranks", model_ranks);
    a("started_at_s", started_at_s);
    a("phase", phase);
    a("elapsed_s", elapsed_s);
    a("steps", steps);
    a("backlog_bytes", backlog_bytes);
    a("backlog_limit_bytes", backlog_limit_bytes);
    a("backlog_peak_bytes", backlog_peak_bytes);
    a("memory_allocated_bytes", memory_allocated_bytes);
    a("bytes_in", bytes_in);
    a("bytes_out", bytes_out);
    a("bytes_written", bytes_written);
    a("bytes_read", bytes_read);
    a("in_bytes_per_s", in_bytes_per_s);
    a("out_bytes_per_s", out_bytes_per_s);
    a("written_bytes_per_s", written_bytes_per_s);
    a("tasks_queued", tasks_queued);
    a("files_open", files_open);
    a("files_published", files_published);
    a("ranks_ended", ranks_ended);
    a("ranks_waiting_for_room", ranks_waiting_for_room);
    a("ranks_waiting_for_files", ranks_waiting_for_files);
    a("waited_for_room_s", waited_for_room_s);
    a("waited_for_files_s", waited_for_files_s);
    a("model_waits_in_s", model_waits_in_s);
    a("silent_s", silent_s);
    a("collections", collections);
  }
};

}  // namespace afterbay::observe
