// SPDX-License-Identifier: Apache-2.0
// The definitions of a collection with many fields on two maps: what a server that gets those of
// all ranks takes for them, and what a rank sends.
#include <fmt/format.h>

#include <algorithm>

#include "scale/emulated_server.hpp"
#include "scale/recorder.hpp"

namespace bench {

using namespace afterbay;

namespace {

constexpr std::size_t ranks_per_turn = 64;  ///< the server finds messages of this many ranks at a time
constexpr std::uint64_t run_length = 10;    ///< number of adjacent points in a rank's run

/// The points of a rank, in runs that alternate between ranks in groups of 16: as a grid whose
/// cells are numbered along a curve.
Map map_of(std::size_t rank, const Case& it) {
  constexpr std::size_t group = 16;
  Map map;
  map.global = {it.ranks * it.points};
  const std::size_t first = rank / group * group;
  const std::size_t in_group = std::min(group, it.ranks - first);
  const std::uint64_t begin = first * it.points;
  for (std::uint64_t done = 0; done < it.points; done += run_length) {
    const std::uint64_t length = std::min(run_length, it.points - done);
    const std::uint64_t at = begin + done * in_group + (rank - first) * length;
    map.runs.push_back({static_cast<std::int64_t>(at), length});
  }
  return map;
}

/// What the rank sends to the servers; of the first server all of it.
std::vector<Recording> recordings_of(std::size_t rank, const Case& it, const Schema& schema,
                                     const config::Config& config) {
  static observe::Profile profile(false);
  std::vector<Recording> recordings(it.servers);
  client::ModelSession::Links links;
  for (std::size_t s = 0; s < it.servers; ++s) {
    recordings[s].keeps = s == 0;
    links.push_back(std::make_unique<Recorder>(recordings[s]));
  }
  client::ModelSession session({static_cast<int>(rank),
                                static_cast<int>(rank),
                                static_cast<int>(it.ranks),
                                std::vector<std::size_t>(it.servers),
                                {}},
                               config, std::move(links), profile,
                               Logger({"scale", "model", 0}, LogLevel::error));
  const Map map = map_of(rank, it);
  must(session.decomposition("atmosphere", map, {}));
  must(session.decomposition("ocean", map, {}));
  must(session.collection("history", schema, {.file = "history.nc", .store = "memory"}));
  (void)session.start();  // the recorder ends it
  return recordings;
}

}  // namespace

nlohmann::json measure_definitions(const Case& it, const config::Config& config) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("cell", it.ranks * it.points);
  for (std::size_t f = 0; f < it.fields; ++f)
    schema.variable(fmt::format("field{}", f), Type::float32, {"time", "cell"})
        .on(f % 2 == 0 ? "atmosphere" : "ocean");
  auto& server = *new EmulatedServer(it.ranks, 0, it.servers, config);  // without links of ranks
  const Memory before = memory_now();
  double cpu = 0;
  std::uint64_t most_bytes = 0;
  std::uint64_t sent = 0;
  for (std::size_t r = 0; r < it.ranks; ++r) {
    const std::vector<Recording> recordings = recordings_of(r, it, schema, config);
    std::uint64_t bytes = 0;
    for (const Recording& it_sent : recordings) {
      bytes += it_sent.bytes;
      sent = std::max(sent, it_sent.count * it.servers);
    }
    most_bytes = std::max(most_bytes, bytes);
    for (const transport::Bytes& message : recordings.front().messages) server.send_encoded(r, message);
    if (r % ranks_per_turn == ranks_per_turn - 1) cpu += server.work();
  }
  cpu += server.work();
  server.check();
  const Memory after = memory_now();
  return {{"cpu_s", cpu},
          {"memory", grown(before.heap, after.heap)},
          {"rank_bytes", most_bytes},
          {"rank_messages", sent},
          {"points", it.points},
          {"fields", it.fields}};
}

}  // namespace bench
