// SPDX-License-Identifier: Apache-2.0
// Config: the effective settings of a session, typed and checked, with the origin of each value.
//
// The initial values below are the defaults; the table in config/settings.cpp gives each its dotted
// name, accepted values and documentation. Precedence: default < code < YAML < environment < flag.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/transport_choice.hpp"
#include "model/chunk_shape.hpp"
#include "model/file_options.hpp"
#include "model/format.hpp"
#include "model/input_cut.hpp"
#include "model/layout.hpp"
#include "pipeline/stage.hpp"
#include "triggers/triggers.hpp"

namespace afterbay::config {

enum class Topology { dedicated, inline_, tiered };
enum class InlineMode { synchronous, thread };
using Transport = afterbay::TransportChoice;
using afterbay::DirectIo;
enum class Placement { collection, file, slab, variable, least };
enum class PoolChoice { turn, least };
using afterbay::Existing;
/// What a server does if its memory is full and more data arrive.
enum class WhenFull {
  wait,   ///< model ranks wait in put
  spill,  ///< frames are moved to a file on the node
  drop,   ///< records of droppable collections are left out
};
enum class ReportTable { automatic, on, off };
enum class Checks { refuse, warn, off };  ///< preflight checks
enum class StopSignals { off, term, usr1, both };
/// How the filters of a collection are chosen.
enum class Compress {
  off,        ///< as configured and in the schema
  automatic,  ///< among all compressors of the build
  portable,   ///< among those that every HDF5 library has
};
using afterbay::StripeApply;

/// The source of a value, in order of precedence.
enum class Source { fallback, code, file, environment, flag };

struct Origin {
  Source source = Source::fallback;
  std::string place;  ///< "run.yaml:3:12", "AFTERBAY_SERVERS", "--afterbay.servers", "set in code", "default"
};

/// The placement of servers among the ranks, in addition to their number; see assign_ranks.
struct ServerLayout {
  int per_node = 0;  ///< servers per node; 0: not by node
  int nodes = 0;     ///< nodes with servers; 0: derived
  int offset = -1;   ///< position of the first server among the ranks of a node, or among all ranks; -1: the
                     ///< last ranks serve
  int spacing = 0;   ///< distance between two servers; 0: 1
  int frontends_per_node = 0;  ///< tiered; 0: 1
  bool isolate = false;        ///< nodes with servers have no model ranks
};

/// All sizes in bytes, per server process unless stated otherwise.
struct Memory {
  static constexpr std::uint64_t least_chunks_bytes = std::uint64_t{64} << 10;
  std::uint64_t server_bytes = std::uint64_t{512} << 20;
  std::uint64_t block_bytes = std::uint64_t{4} << 20;
  std::uint64_t small_block_bytes = std::uint64_t{256} << 10;
  std::uint64_t input_bytes = std::uint64_t{64} << 20;        ///< for input data
  double small_share = 0.125;                                 ///< part of server_bytes cut into small blocks
  int frames = 1 << 16;                                       ///< maximum number that a server can register
  std::uint64_t chunks_bytes = std::uint64_t{64} << 20;       ///< for compressed chunks that wait for
                                                              ///< more records
  std::uint64_t statistics_bytes = std::uint64_t{512} << 20;  ///< for statistics over time
  std::uint64_t link_bytes = std::uint64_t{32} << 20;         ///< MPI staging of a model rank
  std::uint64_t endpoint_bytes = std::uint64_t{64} << 20;     ///< per model rank: puts of its endpoints
  std::uint64_t maps_bytes = std::uint64_t{1} << 30;          ///< for whole maps, on all servers together
  std::uint64_t receive_bytes = std::uint64_t{96} << 20;      ///< for all that arrives over MPI
  std::uint64_t ring_bytes = std::uint64_t{256} << 10;        ///< control ring of a model rank, per
                                                              ///< direction
  std::uint64_t frontend_bytes = std::uint64_t{512} << 20;    ///< per frontend, for data in transit
  int writer_buffers = 0;  ///< derived: buffers in which writers compute, part of server_bytes; see
                           ///< writer_memory.hpp

  /// The least receive_bytes: for two blocks with their headers, joint messages of frontends, and
  /// messages of up to 64 servers. Sessions with more servers that exchange messages need more.
  [[nodiscard]] std::uint64_t least_receive_bytes() const noexcept {
    return 2 * block_bytes + (std::uint64_t{256} << 10);
  }
  /// A buffer holds a frame and the page in which its phase lies.
  [[nodiscard]] std::uint64_t writer_bytes() const noexcept {
    return static_cast<std::uint64_t>(writer_buffers) * (block_bytes + model::page_bytes);
  }
  /// What is left of server_bytes for frames.
  [[nodiscard]] std::uint64_t frame_bytes() const noexcept {
    return server_bytes - std::min(server_bytes, writer_bytes());
  }
  [[nodiscard]] std::uint64_t small_class_bytes() const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(frame_bytes()) * small_share);
  }
  [[nodiscard]] std::uint64_t small_blocks() const noexcept {
    return small_class_bytes() / small_block_bytes;
  }
  /// How input data are cut into pieces: several must fit into the memory at a time.
  [[nodiscard]] model::InputSizes input_sizes() const noexcept {
    return {std::min(std::uint64_t{4} << 20, input_bytes / 8), input_bytes / 4};
  }
  [[nodiscard]] std::uint64_t blocks() const noexcept {
    return (frame_bytes() - small_blocks() * small_block_bytes) / block_bytes;
  }
  /// Memory in addition to server_bytes: one page per block, in which the frame's phase lies.
  [[nodiscard]] std::uint64_t phase_bytes() const noexcept {
    return (blocks() + small_blocks()) * model::page_bytes;
  }
};

/// Where frames are spilled to.
struct Spill {
  std::string directory = "/tmp";
  std::uint64_t quota_bytes = std::uint64_t{8} << 30;  ///< per server
};

struct Report {
  ReportTable table = ReportTable::automatic;
  std::string json;                          ///< path; empty: none
  std::string trace;                         ///< path; empty: none
  std::chrono::milliseconds progress_ms{0};  ///< between progress lines; 0: none
  std::string html;                          ///< path; empty: none
  std::string prometheus;                    ///< path; empty: none

  /// Whether anything is made of the figures of all ranks.
  [[nodiscard]] bool is_wanted() const noexcept {
    return table != ReportTable::off || !json.empty() || !trace.empty() || !html.empty();
  }
};

/// The statistics pages that `afterbay top` reads.
struct Statistics {
  std::string directory = "auto";  ///< "auto": the journal's; empty: no pages
  std::chrono::milliseconds interval{1000};
  int frontends = 64;  ///< the number of frontends, from the first, that keep pages too
};

/// The journal of runs and files, see docs/reference/journal.md.
struct Journal {
  std::string directory = "afterbay-journal";  ///< empty: no journal
  bool required = false;                       ///< the run fails if it cannot be written
};

/// What servers do if a signal asks them to stop.
struct Stop {
  StopSignals signals = StopSignals::both;
  std::chrono::milliseconds grace{30'000};
  bool inline_too = false;  ///< also in model ranks that write themselves (inline)
};

inline constexpr int stripes_automatic = 0;
inline constexpr int stripes_all = -1;  ///< one stripe per storage target
inline constexpr std::uint64_t stripe_size_automatic = 0;

/// The layout of new files on Lustre.
struct Stripe {
  int count = stripes_automatic;
  std::uint64_t size_bytes = stripe_size_automatic;
  StripeApply apply = StripeApply::automatic;
};

/// What is configured of filters, by the number of the codec: its filter, or nothing if it is
/// switched off. Codecs that are not mentioned are as in the schema.
using FilterChoices = std::map<std::uint32_t, std::optional<Filter>>;

/// The configuration of one variable of a collection; unset: from the schema.
struct VariableSettings {
  FilterChoices filters;
  std::optional<std::vector<std::uint64_t>> chunk;
  std::optional<model::Access> access;
  pipeline::Settings stages;  ///< settings of stages (pipeline/stages.hpp)
};

/// The configuration of a collection; unset: from the code (CollectionOptions, Variable).
struct CollectionSettings {
  std::optional<Format> store;
  std::optional<Existing> existing;
  std::optional<std::string> directory;
  std::optional<std::string> file;
  std::optional<Placement> placement;
  std::optional<bool> droppable;
  std::optional<bool> readable;
  std::optional<std::vector<std::string>> pools;  ///< pools among which the files are distributed
  std::optional<PoolChoice> pool_choice;          ///< how they are distributed
  std::optional<Compress> compress;
  FilterChoices filters;
  std::optional<model::Access> access;
  std::optional<int> stripe_count;
  std::optional<std::uint64_t> stripe_size_bytes;
  std::optional<std::uint64_t> expected_bytes;   ///< size of one file
  std::optional<std::uint64_t> expected_volume;  ///< total size of all files of a run
  std::optional<int> expected_files;             ///< in a run
  std::optional<bool> optional;                  ///< may be given up if space is short
  std::optional<int> priority;                   ///< higher: published first when the run is stopped
  /// By variable name or glob, in the order in which they apply; `settings_for` joins them.
  std::vector<std::pair<std::string, VariableSettings>> variables;

  /// For `variable`, with the collection's own filters and access for options that are
  /// unset there.
  [[nodiscard]] VariableSettings settings_for(std::string_view variable) const;
};

/// One `collections.PATTERN.SETTING = value` (or `collections.PATTERN.variables.NAME.SETTING`), as
/// found. Values have been checked.
struct CollectionOverride {
  std::string pattern;   ///< collection name, or glob with * and ?
  std::string variable;  ///< variable name or glob; empty: for the collection
  std::string setting;   ///< "store", ...
  std::string value;     ///< in its canonical form
  Origin origin;

  /// "collections.history.store", "collections.history.variables.temperature.chunk".
  [[nodiscard]] std::string full_name() const;
};

/// One `pools.NAME.SETTING = value`, as found. Values have been checked.
struct PoolOverride {
  std::string pool;
  std::string setting;
  std::string value;  ///< in its canonical form
  Origin origin;

  /// "pools.large.servers".
  [[nodiscard]] std::string full_name() const;
};

/// How the ranks of a communicator are divided.
struct Split {
  int model_ranks = 0;
  int servers = 0;  ///< dedicated servers; 0 with inline
  int frontends = 0;
  int spare = 0;
};

/// Which ranks are servers, and which servers write and read which files.
struct Servers {
  Topology topology = Topology::dedicated;
  int number = 1;  ///< dedicated servers, per pool
  ServerLayout layout;
  int model_ranks = 0;  ///< 0: all ranks that do not serve
  InlineMode inline_mode = InlineMode::synchronous;
  Placement placement = Placement::collection;
  PoolChoice pool_choice = PoolChoice::turn;
  /// Pools: minimum expected size of the files that the pool takes.
  std::uint64_t collections_from_bytes = 0;
  std::string input_pool;  ///< the pool whose servers read files; empty: all
};

/// How servers write files.
struct Writing {
  int writers = 2;
  DirectIo direct_io = DirectIo::automatic;
  std::uint64_t chunk_bytes = std::uint64_t{4} << 20;
  Stripe stripe;
  WhenFull when_full = WhenFull::wait;
  Spill spill;
  std::chrono::milliseconds space_retry{300'000};
  bool checksum = true;  ///< compute checksums of whole files, for the journal
};

/// Described output.
struct Output {
  std::vector<std::string> paths;  ///< files of the output description; empty: none
  std::string definitions;         ///< where the model's definitions are written; empty: nowhere
  std::uint64_t memory_bytes = 0;  ///< limit of a model rank, for described output; 0: none
  bool reduces = false;            ///< derived: servers may compute statistics of the described output
  std::string digest;              ///< digest of the description that was read from `paths`; empty: none
};

/// How data get to the servers.
struct Network {
  Transport transport = Transport::automatic;
  std::vector<int> nodes;  ///< declared node per rank of the communicator; empty: the real nodes
};

struct Triggers {
  std::vector<triggers::Trigger> all;  ///< in the order in which they were found
  std::chrono::milliseconds at_end{30'000};
};

/// Settings of single collections and pools, in the order in which they apply: later ones win.
struct Overrides {
  std::vector<CollectionOverride> collections;
  std::vector<PoolOverride> pools;
};

struct Config {
  std::string session;  ///< the session's name; empty: not set, and `name_session` was not called
  Output output;
  Servers servers;
  Network network;
  Memory memory;
  std::chrono::milliseconds deadline{60'000};
  Stop stop;
  Checks checks = Checks::refuse;
  Writing writing;
  Journal journal;
  Statistics statistics;
  Triggers triggers;
  Report report;
  LogLevel log = LogLevel::warning;
  Overrides overrides;
  /// By dotted name; settings that are not set are missing.
  std::map<std::string, Origin, std::less<>> origins;

  /// How long a rank waits without a sign of life: longer than `deadline`, because servers notice
  /// missing data first and report them in more detail.
  [[nodiscard]] std::chrono::milliseconds patience() const { return deadline + deadline / 4; }

  /// The effective options for `collection`. Flags take precedence over the environment and so on;
  /// within one source, an exact name takes precedence over a pattern, and a later entry over an
  /// earlier one. Patterns do not match collections of the library (base/own_collections.hpp).
  [[nodiscard]] CollectionSettings settings_for(std::string_view collection) const;

  /// Names of the pools of servers, in the order in which they were found; one without a name if
  /// none is configured.
  [[nodiscard]] std::vector<std::string> pools() const;
  /// This configuration for the servers of a pool: settings of the pool take precedence over those
  /// of the session. For the pool without a name: the configuration itself.
  [[nodiscard]] Config of_pool(std::string_view name) const;

  /// The origin of the setting with this dotted name ("memory.server").
  [[nodiscard]] const Origin& origin(std::string_view name) const;

  /// Whether checksums of files are computed, for the journal.
  [[nodiscard]] bool sums_files() const noexcept { return writing.checksum && !journal.directory.empty(); }

  /// The directory of the statistics pages; empty: none.
  [[nodiscard]] const std::string& statistics_directory() const noexcept {
    return statistics.directory == "auto" ? journal.directory : statistics.directory;
  }

  /// Whether servers exchange messages: a collection may be written by several servers (placement
  /// slab or variable), or its files go to the least loaded one.
  [[nodiscard]] bool servers_talk() const;
  /// Whether the first rank needs the figures of all ranks at the end: for a report, or to choose
  /// codecs (`compress`).
  [[nodiscard]] bool joins_ranks() const;
  /// Whether there is a trigger on epochs.
  [[nodiscard]] bool waits_for_epochs() const;

  /// Checks that need the communicator's size: servers < ranks, one declared node per rank; without
  /// declared nodes as if all ranks were on one.
  [[nodiscard]] Result<Split> check_against(int ranks) const;
};

/// The sources of `load`. Only `AFTERBAY_*` variables and `--afterbay.*` arguments are used.
struct Sources {
  std::vector<std::pair<std::string, std::string>> settings;  ///< from code
  std::string config_file;                                    ///< YAML; empty: AFTERBAY_CONFIG, else none
  /// Unset: the process's own environment.
  std::optional<std::map<std::string, std::string>> environment;
  std::vector<std::string> arguments;
  /// Reads the output description, from the files of Config::output and from the program, and
  /// returns its settings of collections, over which those of all other sources take precedence.
  /// Unset: it is not read.
  std::function<Result<std::vector<CollectionOverride>>(Config& config)> read_output = {};
};

/// Reads, checks and joins all sources. The error (unknown_name, wrong_type, invalid_argument,
/// conflict or io) lists all problems, one per line, with place, finding, accepted values and the
/// closest name.
Result<Config> load(const Sources& sources);

}  // namespace afterbay::config
