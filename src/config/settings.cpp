// SPDX-License-Identifier: Apache-2.0
#include "config/settings.hpp"
#include "base/units.hpp"

#include "config/filter_rows.hpp"
#include "config/kinds.hpp"
#include "config/session_name.hpp"
#include "config/setting_rows.hpp"
#include "model/naming.hpp"
#include "pipeline/pack.hpp"
#include "pipeline/stages.hpp"

namespace afterbay::config {

namespace {

using namespace std::chrono_literals;

Kind<Format> store_kind() {
  Choices<Format> choices;
  for (const Format format : all_formats()) {
    choices.emplace_back(std::string(name_of(format)), format);
  }
  return choice<Format>(std::move(choices));
}

Kind<model::Access> access_kind() {
  Choices<model::Access> choices;
  for (const model::Access access : model::all_accesses)
    choices.emplace_back(std::string(name_of(access)), access);
  return choice<model::Access>(std::move(choices));
}

Kind<int> stripe_count_kind() {
  return or_words(integer_in(1, 65'535), {{"auto", stripes_automatic}, {"all", stripes_all}});
}

Kind<std::uint64_t> stripe_size_kind() {
  return or_words(size_in({.low = 64 * KiB, .high = 4 * GiB - 64 * KiB, .multiple = 64 * KiB}),
                  {{"auto", stripe_size_automatic}});
}

/// A file name template, checked as far as possible without a step or date.
Kind<std::string> template_kind() {
  auto kind = text("template", "a file name with {collection}, {step}, {member} and {date:FORMAT}");
  kind.parse = [accepted = kind.accepted](std::string_view found) -> Result<std::string> {
    if (found.empty()) return refuse(ErrorCode::invalid_argument, accepted, found);
    if (auto checked = model::check_template(found); !checked) {
      return fail(checked.error().code, "expected {}: {}", accepted, checked.error().message);
    }
    return std::string(found);
  };
  return kind;
}

/// A level of 1 is on for a codec without levels.
Kind<int> on_or_off() {
  const Kind<bool> kind = toggle();
  return {.type = kind.type,
          .accepted = kind.accepted,
          .parse = [kind](std::string_view text) -> Result<int> {
            AFTERBAY_TRY_ASSIGN(const bool on, kind.parse(text));
            return on ? 1 : 0;
          },
          .print = [kind](const int& level) { return kind.print(level != 0); }};
}

std::vector<Setting<CollectionSettings>> with_filters(std::vector<Setting<CollectionSettings>> table) {
  insert_filter_rows(table, "access",
                     [](const codec::Codec& codec) { return std::string(codec.documentation); });
  return table;
}

std::vector<Setting<VariableSettings>> with_filters(std::vector<Setting<VariableSettings>> table) {
  insert_filter_rows(table, "access", [](const codec::Codec&) {
    return std::string("As the collection's, for this variable.");
  });
  return table;
}

void add_session(std::vector<Setting<Config>>& table) {
  table.push_back(session("session", session_name_kind(), AFTERBAY_FIELD(session),
                          "Name of the session in messages, the journal and reports; by default the name "
                          "that the program gives. Give the members of an ensemble different names. "
                          "`{session}` in `report.json`, `report.html`, `report.trace`, "
                          "`report.prometheus`, `journal.directory`, `statistics.directory` and "
                          "`spill.directory` is replaced by the name."));
}

void add_output(std::vector<Setting<Config>>& table) {
  table.push_back(
      session("output", words("a path, or several"), AFTERBAY_FIELD(output.paths),
              "The output description: YAML files that say which files the fields of the model "
              "go to, how often, and with which operations; see [Output descriptions](description.md). "
              "All ranks and servers must read the same one. A program may also give it as text, which is "
              "joined with these files. Settings under "
              "`collections` override what it says about a file; there, a file has the same name as in the "
              "description."));
  table.push_back(session(
      "output.definitions", text("path", "a path"), AFTERBAY_FIELD(output.definitions),
      "Where the definitions of the model's described output are written when the output begins: a small "
      "YAML file with its time, dimensions, grids, coordinates and fields, which replaces an older one. "
      "`afterbay describe DESCRIPTION --definitions FILE` shows with it what a run with a description will "
      "write, without the model. The first model rank writes it. If the file cannot be written, a warning is "
      "logged."));
  table.push_back(session(
      agreed, "output.memory",
      or_words(size_in({.low = 64 * KiB, .high = TiB}), {{"unlimited", std::uint64_t{0}}}),
      AFTERBAY_FIELD(output.memory_bytes),
      "Maximum memory of a model rank, in bytes, for described output: states of statistics, values of "
      "expressions and subsets, conversions, copies of arrays that are put in sections or with a layout. "
      "If the description needs more, the run does not begin, and the message names what needs most; the "
      "report shows what it needed. It does not limit the memory of the model and of the "
      "transport."));
}

void add_transport(std::vector<Setting<Config>>& table) {
  table.push_back(session(
      agreed, "transport",
      choice<Transport>({{"auto", Transport::automatic}, {"shm", Transport::shm}, {"mpi", Transport::mpi}}),
      AFTERBAY_FIELD(network.transport),
      "How data get from a model rank to a server. `auto`: shared memory if both are "
      "on one node, else MPI. `shm` and `mpi` force one of them; `shm` fails if the "
      "two are on different nodes."));
  table.push_back(session("nodes", integers_from_zero(), AFTERBAY_FIELD(network.nodes),
                          "Declares the node of each rank of the communicator, one number per rank, as in "
                          "0,0,1,1. Use it to test a run over several nodes on one machine. By default the "
                          "real nodes are detected."));
}

void add_memory(std::vector<Setting<Config>>& table) {
  table.push_back(session(agreed, "memory.server",
                          size_in({.low = MiB, .high = 16 * TiB, .multiple = 4 * KiB}),
                          AFTERBAY_FIELD(memory.server_bytes),
                          "Maximum memory of one server for data not yet written, in bytes. It must be "
                          "free at the start, and is allocated as output needs it. When it is full, model "
                          "ranks wait in `put`, and the report says for how long. It should hold what the "
                          "model hands over between two pauses of its output, usually one or two steps. "
                          "If a variable has a stage (`multiply`, `add`), each writer computes in a block "
                          "of this memory. "
                          "Strings wait in additional memory, at most an eighth of this size (or one "
                          "`put_strings`, if larger)."));
  table.push_back(session(agreed, "memory.block",
                          size_in({.low = 16 * KiB, .high = 4 * GiB, .multiple = 4 * KiB}),
                          AFTERBAY_FIELD(memory.block_bytes),
                          "Size of one block of a server's memory, in bytes: the maximum of one write to "
                          "the disk, and of one chunk. `memory.server` must hold at least two blocks. "
                          "Every block, large or small, takes another page of 4 KiB, which "
                          "`memory.server` does not count."));
  table.push_back(session(agreed, "memory.small_block",
                          size_in({.low = 4 * KiB, .high = GiB, .multiple = 4 * KiB}),
                          AFTERBAY_FIELD(memory.small_block_bytes),
                          "Size of the small blocks, in bytes. They hold small variables, which would "
                          "otherwise take a whole `memory.block` each. Must be smaller than "
                          "`memory.block`; if the default is not, a quarter of `memory.block` is used."));
  table.push_back(session(agreed, "memory.small_share", number_in(0, 0.9), AFTERBAY_FIELD(memory.small_share),
                          "Share of `memory.server` that is divided into small blocks: 0.125 is an "
                          "eighth, 0 means no small blocks."));
  table.push_back(session(agreed, "memory.frames", integer_in(1, 1 << 24), AFTERBAY_FIELD(memory.frames),
                          "Maximum number of frames of one server. A frame is the part of a record that "
                          "goes to the disk in one write, at most one `memory.block`; a variable has one "
                          "frame per block of a record. With the placements `slab` and `variable`, a server "
                          "has only its own part of these frames. Each frame takes about 600 bytes of shared "
                          "memory, and 8 bytes per block that it can use. The number of these blocks is "
                          "also the number of its records that can be in memory at a time. These entries "
                          "of 8 bytes take at most 1/64 of `memory.server` in total; with more frames, "
                          "each may have fewer records in memory, but at least 64. With larger blocks "
                          "fewer frames are needed."));
  table.push_back(session(agreed, "memory.chunks", size_in({.low = Memory::least_chunks_bytes, .high = TiB}),
                          AFTERBAY_FIELD(memory.chunks_bytes),
                          "Memory of one server, in addition to `memory.server`, for compressed netCDF-4 "
                          "chunks that span several records and are not complete yet. It should hold one "
                          "chunk of each such variable. When it is full, incomplete chunks are written to "
                          "the file, and read back, completed and written again later. This takes time "
                          "but loses no data. The largest such chunk must fit."));
  table.push_back(
      session(agreed, "memory.statistics", size_in({.low = 64 * KiB, .high = TiB}),
              AFTERBAY_FIELD(memory.statistics_bytes),
              "Memory of one server, in addition to `memory.server`, for the statistics over time "
              "and expressions that it computes for described output; allocated when it is used. A "
              "mean takes 8 bytes per point, or 12 with missing values, an expression the values "
              "of its fields. If this is too little, the run is refused when it starts."));
  table.push_back(session(agreed, "memory.input", size_in({.low = MiB, .high = TiB, .multiple = 4 * KiB}),
                          AFTERBAY_FIELD(memory.input_bytes),
                          "Memory of one server for data read from files, in bytes, in addition to "
                          "`memory.server`; allocated when the first file is opened for input. Data stay "
                          "there, for ranks that ask later and for `prefetch`, until the room is needed. "
                          "It should hold what the model reads ahead. In addition, up to half as much is "
                          "used for parts that are packed for ranks on other nodes."));
  table.push_back(session(agreed, "memory.link",
                          size_in({.low = 64 * KiB, .high = 4 * GiB, .multiple = 8 * KiB}),
                          AFTERBAY_FIELD(memory.link_bytes),
                          "Memory of a model rank, in bytes, for data on their way to all servers to "
                          "which MPI connects it; allocated when it is used. It is divided into segments "
                          "of `memory.block`, must hold two of them, and is shared by all servers. If it "
                          "is not set and `memory.block` is larger than 16 MiB, it holds two. Servers on "
                          "the same node need none."));
  table.push_back(
      session(agreed, "memory.endpoints", size_in({.low = 64 * KiB, .high = TiB}),
              AFTERBAY_FIELD(memory.endpoint_bytes),
              "Memory of a model rank, in bytes, for what its endpoints have put and the thread that "
              "uses the session has not sent yet; allocated when it is used. Endpoints that find it full "
              "wait for that thread. If all servers share memory with the rank, endpoints write into their "
              "memory and need none. Two kinds of puts may exceed it: those that add a missing part to a "
              "record that is in this memory already, and those of a variable of which the rank's part "
              "alone is larger."));
  table.push_back(session(agreed, "memory.maps", size_in({.low = 0, .high = 1024 * TiB}),
                          AFTERBAY_FIELD(memory.maps_bytes),
                          "Servers that may get whole files of a collection (`placement` file and least) "
                          "each need all points of its maps, for which 2.5 bytes per point are assumed. If "
                          "all servers of the pool together would need more than this, a server gets them "
                          "with the first file that it writes, and the call that opens this file waits for "
                          "all model ranks."));
  table.push_back(session(agreed, "memory.receive",
                          size_in({.low = 128 * KiB, .high = 64 * GiB, .multiple = 8 * KiB}),
                          AFTERBAY_FIELD(memory.receive_bytes),
                          "Memory of one server, in addition to `memory.server`, for all that has arrived "
                          "from model ranks, frontends and other servers over MPI and is not in its blocks "
                          "yet; allocated when it is used. At most half of it is for small amounts, equally "
                          "for all model ranks, and an eighth for messages of other servers, equally for "
                          "all of them. What does not fit stays with its sender. It must hold two blocks "
                          "and 256 KiB; if more than 64 servers exchange messages, 2 KiB more for each "
                          "further one. If it is not set and `memory.block` is larger than 24 MiB, it holds "
                          "four blocks."));
  table.push_back(session(agreed, "memory.ring",
                          size_in({.low = 4 * KiB, .high = 64 * MiB, .multiple = 4 * KiB}),
                          AFTERBAY_FIELD(memory.ring_bytes),
                          "Size in bytes of the ring buffer through which a model rank sends control "
                          "messages to a server. Longer messages are sent in parts."));
  table.push_back(session(agreed, "memory.frontend",
                          size_in({.low = MiB, .high = 16 * TiB, .multiple = 4 * KiB}),
                          AFTERBAY_FIELD(memory.frontend_bytes),
                          "Memory of one frontend (topology `tiered`) for data on their way to the "
                          "servers, in bytes; allocated when it is used. Each of its model ranks has one "
                          "segment of `memory.block` and a few small ones, and all share the others. It "
                          "should hold what the model ranks of a node hand over in one step. If it is not "
                          "set and the model ranks need more, it is one and a half blocks for each."));
}

void add_server(std::vector<Setting<Config>>& table) {
  table.push_back(session(agreed, "deadline", duration_in(100ms, 24h), AFTERBAY_FIELD(deadline),
                          "Longest wait for a server, a rank or a disk that makes no progress. After it, "
                          "the operation fails with a message on every rank that waits. A process that "
                          "died is usually detected much sooner."));
  table.push_back(session("space.retry", duration_in(100ms, 168h, true), AFTERBAY_FIELD(writing.space_retry),
                          "How long a server retries when the disk or the quota is full. Meanwhile it "
                          "keeps the data, and model ranks wait when its memory is full. Then `optional` "
                          "collections are given up, if there are any, and the server retries for the "
                          "same time again; then the run stops. 0: no retries."));
  table.push_back(
      session(agreed, "checks",
              choice<Checks>({{"refuse", Checks::refuse}, {"warn", Checks::warn}, {"off", Checks::off}}),
              AFTERBAY_FIELD(checks),
              "Preflight checks when a session starts, for problems that would end it later: too little "
              "space, inodes or quota for the declared `expected_volume` and `expected_files` of its "
              "collections; directories in which no files can be created; limits on open files, file sizes "
              "or locked memory; too little memory on a node. All problems are reported at once. `refuse`: "
              "the session then fails on all ranks. `warn`: it continues. `off`: no checks. `afterbay "
              "check --run` does these checks without a session."));
  table.push_back(session("stop.signals",
                          choice<StopSignals>({{"off", StopSignals::off},
                                               {"SIGTERM", StopSignals::term},
                                               {"SIGUSR1", StopSignals::usr1},
                                               {"both", StopSignals::both}}),
                          AFTERBAY_FIELD(stop.signals),
                          "Signals on which an I/O server stops in an orderly way: it publishes what all "
                          "ranks have closed, collections of the highest `priority` first, writes to the "
                          "journal what is not complete, tells the model ranks, and ends with exit code "
                          "7. `off`: for models that write their last restart themselves on the signal. "
                          "No handlers are installed in model ranks, except with `stop.inline`."));
  table.push_back(session("stop.grace", duration_in(100ms, 24h), AFTERBAY_FIELD(stop.grace),
                          "How long a server that was asked to stop continues to publish. It should be "
                          "shorter than the time after which the batch system or mpirun kills the "
                          "processes."));
  table.push_back(session("stop.inline", toggle(), AFTERBAY_FIELD(stop.inline_too),
                          "Whether handlers are also installed in model ranks that write files themselves "
                          "(`topology: inline`)."));
  table.push_back(session("writers", integer_in(1, 256), AFTERBAY_FIELD(writing.writers),
                          "Number of worker threads of one server, which convert, compress and write."));
  table.push_back(
      session("direct_io",
              choice<DirectIo>({{"auto", DirectIo::automatic}, {"on", DirectIo::on}, {"off", DirectIo::off}}),
              AFTERBAY_FIELD(writing.direct_io),
              "Whether data bypass the page cache on their way to the disk (O_DIRECT), which "
              "is faster and takes less processor time. `auto` tries it and falls back if the "
              "file system refuses; `on` fails if the file system refuses; `off` never tries."));
  table.push_back(session(agreed, "chunk", size_in({.low = 4 * KiB, .high = 4 * GiB}),
                          AFTERBAY_FIELD(writing.chunk_bytes),
                          "Largest chunk, in bytes, that is chosen for netCDF-4 variables whose schema "
                          "gives no chunk lengths. At most `memory.block`; if not set, 4MiB or "
                          "`memory.block`, whichever is less."));
}

void add_overflow(std::vector<Setting<Config>>& table) {
  table.push_back(session(
      "when_full",
      choice<WhenFull>({{"wait", WhenFull::wait}, {"spill", WhenFull::spill}, {"drop", WhenFull::drop}}),
      AFTERBAY_FIELD(writing.when_full),
      "What happens when `memory.server` is full. `wait`: model ranks wait in `put`. "
      "`spill`: frames that wait for the disk are moved to a file on the server's "
      "node, up to `spill.quota`, and read back in order. `drop`: records of "
      "`droppable` collections are left out, the newest first; they hold fill values, "
      "and the journal counts them. If nothing can be spilled or dropped, ranks wait."));
  table.push_back(session("spill.directory", text("path", "a path"), AFTERBAY_FIELD(writing.spill.directory),
                          "Directory of the spill file: on a disk of the node, not on the file system of "
                          "the output. The file has no name and disappears with the process."));
  table.push_back(session("spill.quota", size_in({.low = MiB, .high = 1024 * TiB, .multiple = 4 * KiB}),
                          AFTERBAY_FIELD(writing.spill.quota_bytes),
                          "Maximum bytes that one server spills at a time, in whole blocks of "
                          "`memory.block` (each takes another page of 4 KiB). At least one block."));
}

void add_stripe(std::vector<Setting<Config>>& table) {
  table.push_back(session("stripe.count", stripe_count_kind(), AFTERBAY_FIELD(writing.stripe.count),
                          "Number of storage targets (OSTs) of a Lustre file system over which a new file "
                          "is striped. `auto`: 1 for files that are expected to stay below 64MiB, and for "
                          "`placement` `file` and `least`, with which every server writes files of its "
                          "own; 4 for files that fewer than 96 servers write together; else `all`. Has no "
                          "effect on other file systems."));
  table.push_back(session("stripe.size", stripe_size_kind(), AFTERBAY_FIELD(writing.stripe.size_bytes),
                          "Bytes that go to one storage target (OST) of a Lustre file system before the "
                          "next target follows. `auto`: grows with the expected size of the file: 1MiB "
                          "below 1GiB, 4MiB below 8GiB, 8MiB below 64GiB, 16MiB below 512GiB, 32MiB "
                          "beyond."));
  table.push_back(session(
      "stripe.apply",
      choice<StripeApply>(
          {{"auto", StripeApply::automatic}, {"always", StripeApply::always}, {"never", StripeApply::never}}),
      AFTERBAY_FIELD(writing.stripe.apply),
      "Whether stripes are set, with the command `lfs setstripe` just before a file "
      "is created. `auto`: if the directory is on Lustre. `always`: on any file "
      "system (for Lustre behind another file system, and for tests). `never`: the "
      "directory's own settings apply. If the command fails, a warning is logged, and "
      "the file is created with the directory's settings."));
}

void add_journal(std::vector<Setting<Config>>& table) {
  table.push_back(session("journal.directory", or_words(text("path", "a path"), {{"off", std::string()}}),
                          AFTERBAY_FIELD(journal.directory),
                          "Directory of the journal, to which every server writes what it opened and "
                          "published, with size and checksum, and what failed. `afterbay status` and "
                          "`afterbay verify` read it. New runs are appended. A relative path starts at "
                          "the server's working directory. `off`: no journal."));
  table.push_back(session("journal.required", toggle(), AFTERBAY_FIELD(journal.required),
                          "Whether the run fails if its journal cannot be written. With `off`, one warning "
                          "is logged, and output continues."));
  table.push_back(session("checksum", toggle(), AFTERBAY_FIELD(writing.checksum),
                          "Whether the checksum (CRC-64/XZ) of every published file is computed for the "
                          "journal. It is computed from the data as they are written; nothing is read "
                          "again."));
}

void add_triggers(std::vector<Setting<Config>>& table) {
  table.push_back(session("triggers_at_end", duration_in(100ms, 24h, true), AFTERBAY_FIELD(triggers.at_end),
                          "How long the end of the run waits for triggers that are running or queued; at "
                          "most half the deadline. After that they are killed, or not started, and "
                          "recorded as failed."));
}

void add_statistics(std::vector<Setting<Config>>& table) {
  table.push_back(
      session("statistics.directory",
              or_words(text("path", "a path"), {{"auto", std::string("auto")}, {"off", std::string()}}),
              AFTERBAY_FIELD(statistics.directory),
              "Directory of the statistics pages, small files with the current state of every "
              "server: backlog, bandwidth, files, waits. `afterbay top` shows them. `auto`: "
              "the journal's directory; without a journal there are no pages. On a single "
              "node, `/dev/shm/NAME` keeps them off the file system."));
  table.push_back(session("statistics.interval", duration_in(100ms, 1h), AFTERBAY_FIELD(statistics.interval),
                          "Time between two updates of a statistics page."));
  table.push_back(session("statistics.frontends", integer_in(0, 1 << 20),
                          AFTERBAY_FIELD(statistics.frontends),
                          "How many frontends (topology `tiered`) keep a statistics page, and a "
                          "Prometheus file if `report.prometheus` is set: the first ones of the session. "
                          "With a frontend on each of thousands of nodes, the pages would keep the file "
                          "system busy."));
}

void add_report(std::vector<Setting<Config>>& table) {
  table.push_back(
      session("report.table",
              choice<ReportTable>(
                  {{"auto", ReportTable::automatic}, {"on", ReportTable::on}, {"off", ReportTable::off}}),
              AFTERBAY_FIELD(report.table),
              "What the first model rank prints on standard output at the end of the run. "
              "`auto`: three lines (files and bytes, share of the model's time, where the "
              "report is), if something was written. `on`: the same, after a table of times, "
              "bytes and waits. `off`: nothing."));
  table.push_back(session("report.json", text("path", "a path"), AFTERBAY_FIELD(report.json),
                          "File for the figures of the table as JSON. A report never replaces that of a "
                          "session that ran at the same time; it goes to `report-2.json` instead. Reports "
                          "may also go to a device, or to a pipe that is being read. A symbolic link is "
                          "followed if it belongs to the user or to root."));
  table.push_back(session("report.trace", text("path", "a path"), AFTERBAY_FIELD(report.trace),
                          "File for a trace of all operations, to be opened in Perfetto or "
                          "chrome://tracing."));
  table.push_back(session("report.progress", duration_in(100ms, 1h, true), AFTERBAY_FIELD(report.progress_ms),
                          "Time between two lines of progress (steps, backlog, bandwidth) during the run; "
                          "0 for none. Each server prints its own: with many servers choose a long time."));
  table.push_back(session("report.html", text("path", "a path"), AFTERBAY_FIELD(report.html),
                          "File for a page about the run, to be opened in a browser: whether the servers "
                          "kept up, what each rank and server did when, backlog and bandwidth over time, "
                          "what the model waited for, the files. The page needs no network."));
  table.push_back(session("report.prometheus", text("path", "a path"), AFTERBAY_FIELD(report.prometheus),
                          "File for the figures of the running session in Prometheus' text format, for "
                          "the textfile collector of its node exporter: name it `*.prom` in the directory "
                          "that the collector reads. It is replaced as a whole every 5 seconds and at the "
                          "end. `{server}` in the path is the server's number; without it, if there are "
                          "several servers, the number precedes the extension: `run.1.prom`. If another "
                          "session writes that file, `-2` is added to the name: `run-2.prom`."));
  table.push_back(session("log",
                          choice<LogLevel>({{"error", LogLevel::error},
                                            {"warning", LogLevel::warning},
                                            {"info", LogLevel::info},
                                            {"debug", LogLevel::debug}}),
                          AFTERBAY_FIELD(log),
                          "Which messages are written to standard error during the run; each level "
                          "includes those before it."));
}

}  // namespace

const std::vector<Setting<Config>>& session_settings() {
  static const std::vector<Setting<Config>> table = [] {
    std::vector<Setting<Config>> rows;
    add_session(rows);
    add_output(rows);
    add_servers(rows);
    add_transport(rows);
    add_memory(rows);
    add_server(rows);
    add_overflow(rows);
    add_stripe(rows);
    add_journal(rows);
    add_statistics(rows);
    add_triggers(rows);
    add_report(rows);
    return rows;
  }();
  return table;
}

Kind<int> level_kind(const codec::Codec& codec) {
  return codec.most_level > 0 ? integer_in(0, codec.most_level) : on_or_off();
}

const std::vector<Setting<CollectionSettings>>& collection_settings() {
  static const std::vector<Setting<CollectionSettings>> table = with_filters({
      collection("store", store_kind(), AFTERBAY_FIELD(store),
                 "Format of the files. `memory` keeps them in the server's memory, for tests."),
      collection(
          "existing",
          choice<Existing>(
              {{"refuse", Existing::refuse}, {"replace", Existing::replace}, {"append", Existing::append}}),
          AFTERBAY_FIELD(existing),
          "What to do if the file exists. `refuse`: fail. `replace`: put the new file in "
          "its place. `append`: add records to it, after its schema has been compared."),
      collection("directory", text("path", "a path"), AFTERBAY_FIELD(directory),
                 "Directory of the files; created if it is missing. It precedes `file` and names "
                 "that the model gives, unless these are absolute paths."),
      collection("file", template_kind(), AFTERBAY_FIELD(file),
                 "Template of the file names. {collection}, {step}, {step:06}, {member}, "
                 "{member:03} and {date:%Y%m%d_%H} are replaced by what the model gives when it "
                 "opens a file. If neither the model nor a setting gives one, it is {collection} "
                 "with the ending of the store: " +
                     appended_endings() + "."),
      collection("placement", placement_kind(), AFTERBAY_FIELD(placement),
                 "As the session's `placement`, for this collection."),
      collection("readable", toggle(), AFTERBAY_FIELD(readable),
                 "Whether others may read a file while it is written, under its name with "
                 "`.part` appended: from its first epoch on it shows the state of its last "
                 "epoch, or a later one. Not for files that several servers write, nor for "
                 "compressed chunks of several records."),
      collection("droppable", toggle(), AFTERBAY_FIELD(droppable),
                 "Whether records may be left out when a server's memory is full and `when_full` is `drop`. "
                 "Only for "
                 "collections whose files are written by one server each."),
      collection(agreed, "pool", words("a pool's name, or several"), AFTERBAY_FIELD(pools),
                 "The pool of servers that writes this collection, or several pools: each file "
                 "is then written by one of them, see `pool_choice`. By default, the pool that "
                 "takes files of their expected size, see `pools.NAME.collections_from`."),
      collection(agreed, "pool_choice", pool_choice_kind(), AFTERBAY_FIELD(pool_choice),
                 "How the files of a collection with several pools are distributed over them. "
                 "`turn`: to each in turn, in the order of `pool`. `least`: each to the pool "
                 "whose servers have the least to write. By default, the session's "
                 "`pool_choice`. A path that is opened again goes to the server that wrote it "
                 "before."),
      collection(
          agreed, "compress",
          choice<Compress>(
              {{"off", Compress::off}, {"auto", Compress::automatic}, {"portable", Compress::portable}}),
          AFTERBAY_FIELD(compress),
          "Whether Afterbay chooses the filters (compression and rearrangement) of the variables. `auto`: "
          "the I/O servers measure all compressors of the build on the first records, while they have "
          "nothing else to do. At its end, the session writes the filters with which files are smallest and "
          "servers keep up with the model to `compress.NAME.yaml` in `directory`. Later sessions use "
          "that file as it is. Without it, files have `shuffle` and level 1 of `zstd`, or of `deflate` if "
          "the build has no `zstd`. `portable`: the same with `deflate` only, which every reader of "
          "netCDF-4 has. Values are never changed. `off`: filters are those that are "
          "configured. NetCDF-4 only; see [which codec](../how-to/which-codec.md#let-a-run-measure)."),
      collection("access", access_kind(), AFTERBAY_FIELD(access),
                 "How the files will mostly be read. Chunk lengths are chosen for this if "
                 "neither the schema nor `chunk` gives them. `map` (the default): horizontal "
                 "planes of one record; the fastest to write. `series`: many records at one "
                 "point. `profile`: all levels at one point. `balanced`: planes and series at "
                 "about the same cost. No chunk becomes larger than the session's `chunk`. For "
                 "`series` and `balanced`, set `expected_size` too. NetCDF-4 only."),
      collection("stripe.count", stripe_count_kind(), AFTERBAY_FIELD(stripe_count),
                 "As the session's `stripe.count`, for this collection."),
      collection("stripe.size", stripe_size_kind(), AFTERBAY_FIELD(stripe_size_bytes),
                 "As the session's `stripe.size`, for this collection."),
      collection("expected_size", size_in({.low = 1, .high = 1024 * 1024 * TiB}),
                 AFTERBAY_FIELD(expected_bytes),
                 "Expected size of one file, for the automatic stripe count and size, and for "
                 "the number of records per chunk with `access` `series` or `balanced`. By "
                 "default, the size of the fixed variables and 16 records, uncompressed, or that "
                 "of the file that is appended to, if larger."),
      collection("expected_volume", size_in({.low = 1, .high = 1024 * 1024 * TiB}),
                 AFTERBAY_FIELD(expected_volume),
                 "Expected size of all files of the collection in one run. It is compared with "
                 "the free space and the quota before the run; see `checks`. By default, "
                 "`expected_size` times `expected_files`."),
      collection("expected_files", integer_in(1, 1 << 30), AFTERBAY_FIELD(expected_files),
                 "Expected number of files of the collection in one run. It is used for "
                 "`expected_volume`, and compared with the files (inodes) that the file system "
                 "and the quota still allow."),
      collection("optional", toggle(), AFTERBAY_FIELD(optional),
                 "Whether the run can continue without these files. If the disk stays full for longer than "
                 "`space.retry`, they are given up: unpublished files are removed, the journal records "
                 "this, and the other output continues."),
      collection("priority", integer_in(0, 100), AFTERBAY_FIELD(priority),
                 "Which files are published first when the run is stopped by a signal: those "
                 "with the highest number; 0 by default. Give restart files a higher priority "
                 "than history files."),
  });
  return table;
}

namespace {

/// A setting of a stage, from its registration.
Setting<VariableSettings> stage_row(const pipeline::StageSetting& it) {
  Setting<VariableSettings> row;
  row.name = it.name;
  row.type = it.type;
  row.accepted = it.accepted;
  row.documentation = it.documentation;
  row.list = it.list;
  row.choices = it.choices;
  row.agreed = true;
  row.assign = [it](VariableSettings& target, std::string_view text) -> Result<void> {
    auto value = it.canonical(text);
    if (!value) return refuse(ErrorCode::invalid_argument, it.accepted, text);
    target.stages[it.name] = *std::move(value);
    return {};
  };
  row.print = [name = it.name](const VariableSettings& target) {
    const auto found = target.stages.find(name);
    return found == target.stages.end() ? std::string() : found->second;
  };
  return row;
}

}  // namespace

const std::vector<Setting<VariableSettings>>& variable_settings() {
  static const std::vector<Setting<VariableSettings>> table = [] {
    std::vector<Setting<VariableSettings>> rows = with_filters({
        variable("access", access_kind(), AFTERBAY_FIELD(access), "As the collection's, for this variable."),
        variable("chunk", lengths(), AFTERBAY_FIELD(chunk),
                 "Chunk lengths of the variable, one per dimension, slowest first; along the "
                 "unlimited dimension the unit is records. If neither this setting nor the "
                 "schema gives them, they follow `access`. NetCDF-4 only."),
    });
    for (const pipeline::StageKind* const kind : pipeline::all_stages())
      for (const pipeline::StageSetting& setting : kind->settings) rows.push_back(stage_row(setting));
    for (const pipeline::StageSetting& setting : pipeline::packing_settings())
      rows.push_back(stage_row(setting));
    return rows;
  }();
  return table;
}

std::string environment_name(std::string_view setting) {
  std::string name = "AFTERBAY_";
  for (const char c : setting) {
    name += c == '.' ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return name;
}

}  // namespace afterbay::config
