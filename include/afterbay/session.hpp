// SPDX-License-Identifier: Apache-2.0
/// @file
/// Session, Collection, OutputFile: how a model hands its fields over.
///
/// @code
/// Session session = open_session(MPI_COMM_WORLD, options);      // afterbay/mpi.hpp
/// if (session.is_server()) { session.serve(); return 0; }       // returns when the model has finished
/// session.decomposition("grid", Block{global, start, count});
/// Collection history = session.collection("history", schema, {.file = "hist_{step:04}.nc"});
/// for (...) {
///   OutputFile file = history.open({.step = step});
///   file.put("temperature", record, temperature.data());
///   session.end_step();
///   file.close();
/// }
/// session.finalize();
/// @endcode
///
/// Rules for every call:
/// - Order: every model rank makes the same calls in the same order (definitions, open, put, end_step,
///   close). Only open_session and finalize are MPI collectives.
/// - Errors: they are thrown as Failure. A call that is refused because of its arguments or its order leaves
///   the session usable. An error that a server or another rank reports ends the session: from then on every
///   call throws that error. Since files are written in the background, an error in a file may be thrown by
///   any later call.
/// - Threads: a session, and the handles that come from it, are used by one thread at a time. A call may use
///   MPI, so the thread must be one that may: with MPI_THREAD_FUNNELED the main thread.
/// - Waits: a call waits only if its description says so, and throws timed_out if what it waits for makes no
///   progress within the setting `deadline`. With inline servers in synchronous mode start, open,
///   end_step, records, open_input, get and get_strings also wait for all model ranks.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/error.hpp"
#include "afterbay/input.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/types.hpp"

namespace afterbay {

/// What this process is. `automatic`: by the configuration (the last `servers` ranks serve).
enum class Role {
  automatic,  ///< by the configuration
  model,      ///< a model rank
  server      ///< an I/O server
};

/// Whose terms messages use: C's, indices from 0 and the slowest dimension first, or Fortran's.
enum class Language {
  c,       ///< C and C++
  fortran  ///< Fortran
};

/// How a session is opened.
struct SessionOptions {
  std::string name = "afterbay";  ///< appears in messages, segments and reports
  Role role = Role::automatic;    ///< what this process is
  /// Settings from code, by their dotted names ("servers", "memory.server", ...): the lowest
  /// precedence after the defaults; then the YAML file, the environment, the command line.
  std::vector<std::pair<std::string, std::string>> settings;
  std::string config_file;             ///< YAML; empty: AFTERBAY_CONFIG, else none
  std::vector<std::string> arguments;  ///< the program's arguments; only --afterbay.* are looked at
  Language language = Language::c;     ///< for messages

  /// Adds a setting; names and values are checked by open_session.
  SessionOptions& set(std::string setting, std::string value) {
    settings.emplace_back(std::move(setting), std::move(value));
    return *this;
  }
  /// Takes the arguments of `main`, without the program's name.
  SessionOptions& with_arguments(int argc, const char* const* argv) {
    arguments.assign(argv + (argc > 0 ? 1 : 0), argv + argc);
    return *this;
  }
};

/// How a collection's files are stored; the configuration can override each by collection name.
struct CollectionOptions {
  std::string file = {};            ///< name template; see `FileName`. Empty: "{collection}.nc"
  std::string directory = {};       ///< put before the name; empty: the working directory
  std::string store = "netcdf4";    ///< netcdf4, cdf5, cdf2, memory
  std::string existing = "refuse";  ///< refuse, replace, append
};

/// Names a file: `name` as it is, or the collection's template with {collection}, {step} ({step:06}),
/// {member} ({member:03}) and {date:%Y%m%d_%H} filled in.
struct FileName {
  std::string name = {};                    ///< the whole name; empty: the template is filled in
  std::optional<std::int64_t> step = {};    ///< for {step}
  std::optional<std::int64_t> member = {};  ///< for {member}: of an ensemble
  /// For {date}, ISO 8601: "2026-11-21", "2026-11-21T06:00:00"; any year, no time zone.
  std::optional<std::string> date = {};
};

/// A point in the order of what this rank handed over; see Session::wait.
struct Ticket {
  std::uint64_t number = 0;  ///< in the order in which this rank got its tickets; 0: none
};

class Slot;

/// A file of a collection, open for output on this rank. A handle; copies name the same file.
class OutputFile {
 public:
  /// Hands over this rank's part of `variable` for `record`; returns when the data have been copied
  /// (converted to the file's type on the way). `data` points to the start of the rank's array, whose
  /// layout is `memory` (dense by default).
  /// Every model rank calls it, ranks that hold nothing too (data may then be null). A record of a variable
  /// may be put once between open and close.
  /// Waits only while the server has no room. Throws unknown_name; wrong_type if T does not fit or a value is
  /// out of range of the file's type; invalid_argument for a wrong record, layout or null pointer; conflict
  /// if the record was put before; bad_state after close. In all these cases nothing was taken.
  template <class T>
  void put(std::string_view variable, std::uint64_t record, const T* data, const MemoryLayout& memory = {}) {
    put_raw(variable, record, data, type_of<T>, memory, true);
  }
  /// The same for a variable without the unlimited dimension.
  template <class T>
  void put(std::string_view variable, const T* data, const MemoryLayout& memory = {}) {
    put_raw(variable, no_record, data, type_of<T>, memory, true);
  }
  /// As put, but returns false instead of waiting if there is no room now; nothing was taken then. Needs room
  /// for the rank's whole part at once: throws resources if the server's memory is smaller; nothing was taken
  /// then either, and `put` takes the same record. If the same try_put has had no room for half the deadline,
  /// it waits as `put` does.
  template <class T>
  [[nodiscard]] bool try_put(std::string_view variable, std::uint64_t record, const T* data,
                             const MemoryLayout& memory = {}) {
    return put_raw(variable, record, data, type_of<T>, memory, false);
  }
  /// All values of a string variable. Every model rank calls it; those of the lowest model rank are written.
  /// Waits only on that rank, and only while the server's memory for strings is full. Throws as put does, and
  /// invalid_argument for a wrong number of values.
  void put_strings(std::string_view variable, std::uint64_t record, std::span<const std::string> values);
  /// Room in the server's own buffer, into which the model computes directly, or a private array; see Slot.
  /// Does not wait for room. Throws as put does. From then on the record counts as put.
  Slot acquire(std::string_view variable, std::uint64_t record, Type type);

  /// Ends this rank's output to the file. The servers publish it when all ranks have closed it.
  /// The ticket is complete when the file is durable under its final name. Does not wait. Throws bad_state
  /// while a slot of the file is out; the file stays open then. Closing again gives the same ticket.
  Ticket close();
  /// The final path. Does not wait.
  [[nodiscard]] const std::string& path() const;
  /// How many records the file held when it was opened: 0, or with `append` where to go on. Every model rank
  /// calls it. Waits until the server has opened the file. Throws bad_state after close, unless it was asked
  /// before.
  [[nodiscard]] std::uint64_t records() const;

  /// As put, with the type as a value; returns false only when `may_wait` is false and there is no room.
  bool put_raw(std::string_view variable, std::uint64_t record, const void* data, Type type,
               const MemoryLayout& memory, bool may_wait);

  struct State;
  /// For the library.
  explicit OutputFile(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// An empty handle: every call throws bad_state.
  OutputFile() = default;
  /// Throws when the handle is empty.
  [[nodiscard]] State& state() const;

 private:
  std::shared_ptr<State> state_;
};

/// This rank's part of one field, to be computed in place. It consists of one or more boxes
/// (large fields are cut into pieces); together they cover the rank's part. commit() hands it over;
/// a Slot destroyed without it hands nothing over and the record stays incomplete.
class Slot {
 public:
  /// A box of the rank's part: element (i, j, ...) of it is at data + i*strides[0] + j*strides[1] + ...
  /// elements.
  struct Part {
    void* data = nullptr;  ///< the first element; of the slot's type
    /// In the global index space of the variable, without the record dimension.
    std::vector<std::uint64_t> start;
    std::vector<std::uint64_t> count;   ///< lengths of the box
    std::vector<std::int64_t> strides;  ///< elements
  };
  /// The boxes to fill; empty if this rank holds nothing. Does not wait.
  [[nodiscard]] const std::vector<Part>& parts() const;
  /// True: the parts lie in the server's buffer. False: in a private one, copied by commit (other
  /// type or byte order than the file's, a server on another node, or no room in its memory for all parts
  /// at the time of acquire).
  [[nodiscard]] bool direct() const;
  /// Hands the slot over; its parts must not be touched afterwards. A private array is copied, which waits as
  /// put does; otherwise it does not wait. Throws bad_state if it was committed before; wrong_type if a value
  /// is out of range of the file's type: the slot stays out then and can be committed again.
  void commit();

  struct State;
  /// For the library.
  explicit Slot(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// Throws when the handle is empty.
  [[nodiscard]] State& state() const;

 private:
  std::shared_ptr<State> state_;
};

/// A kind of file: a schema with its naming and storage; made once, opened many times.
class Collection {
 public:
  /// Opens a file of this collection; `changes` apply to this file only (the lowest model rank's count).
  /// Every model rank calls it. The server creates the file in the background: that it exists, or cannot be
  /// created, is thrown by a later call. Waits as start if something was defined since; with `placement:
  /// least` until the server is chosen; and until an older file of the same path is published, if another
  /// server wrote that. Throws conflict if this session has the path open; invalid_argument for a wrong name;
  /// and what is wrong with `changes`.
  OutputFile open(const FileName& name = {}, const SchemaChanges& changes = {});
  /// The same with the whole name.
  template <std::convertible_to<std::string_view> Name>
  OutputFile open(const Name& name, const SchemaChanges& changes = {}) {
    return open(FileName{.name = std::string(std::string_view(name))}, changes);
  }
  /// The collection's name. Does not wait.
  [[nodiscard]] const std::string& name() const;

  struct State;
  /// For the library.
  explicit Collection(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// An empty handle: every call throws bad_state.
  Collection() = default;

 private:
  std::shared_ptr<State> state_;
};

/// A run's output, from open_session to finalize. Movable. Several may exist in one process.
class Session {
 public:
  [[nodiscard]] bool is_server() const;  ///< true: call serve() and nothing else
  /// Serves until every model rank has finalized; throws what went wrong. Sleeps while there is nothing to
  /// do. For several sessions see serve_all.
  void serve();

  /// This rank among the model ranks, from 0. Throws bad_state on a server.
  [[nodiscard]] int model_rank() const;
  /// The number of model ranks. Throws bad_state on a server.
  [[nodiscard]] int model_size() const;

  /// Registers this rank's part of a global index space under a name. Overlap between ranks is an
  /// error, gaps too unless allowed; both are reported by start() with ranks and indices. Does not wait.
  /// Throws conflict if the name is taken, invalid_argument for an empty name or a wrong box.
  void decomposition(const std::string& name, const Block& block, const Coverage& coverage = {});
  /// The same for a list of points. Any number of variables of any type may lie on it, in any number of
  /// collections; a variable may have more dimensions (record, levels) before or after those of the map.
  void decomposition(const std::string& name, const Map& map,
                     const Coverage& coverage = {.gaps_allowed = true, .repeats = Repeats::refuse});
  /// Defines a kind of file. The schema is copied and checked: all its problems are thrown at once. Does not
  /// wait. Throws conflict if the name is taken, and invalid_argument for unknown words in `options`.
  Collection collection(const std::string& name, const Schema& schema, const CollectionOptions& options = {});
  /// Sends what has been defined to the servers and waits until they are ready for the first file. Implied by
  /// the first Collection::open after a definition. Every model rank calls it. Throws conflict for overlaps,
  /// gaps and definitions that differ between ranks. Does nothing if nothing was defined since.
  void start();

  /// Opens any netCDF file for input. Every model rank calls it. Fails when the file is not there or no
  /// netCDF file, and for a file that this session has open for output (with AsOf::closed). Waits until the
  /// servers have opened it, and as `options.as_of` says.
  InputFile open_input(const std::string& path, const InputOptions& options = {});

  /// Everything put since the last end_step is a complete step. With `inline` servers in synchronous
  /// mode it returns when the step is written (collective then); otherwise it does not wait. Throws bad_state
  /// while a slot is out.
  void end_step();
  /// A ticket that is complete when everything put before is durable or handed to the file system. Does not
  /// wait. Throws bad_state while a slot is out.
  Ticket flush();
  /// Marks a point in the output. The ticket is complete when everything that all ranks put before, in all
  /// files, is durable and can be recovered after a crash at any later time: files that are still open then
  /// by `afterbay recover FILE`. The journal records it with its name; `afterbay status` names the last one.
  /// Every model rank calls it. Does not wait, and delays no other rank. Throws bad_state while a slot is
  /// out, invalid_argument for an empty name.
  Ticket epoch(const std::string& name);
  /// `function` is called once, in this thread, when the ticket is complete: from within end_step, wait,
  /// is_complete or finalize. It may call the session. Does not wait. Throws invalid_argument for a ticket
  /// that this session did not give.
  void on_complete(Ticket ticket, std::function<void()> function);
  /// Waits until a ticket is complete; throws what prevented it, invalid_argument for a ticket that this
  /// session did not give.
  void wait(Ticket ticket);
  /// Whether a ticket is complete. Does not wait. Throws as wait does.
  [[nodiscard]] bool is_complete(Ticket ticket);
  /// Closes all files, waits until everything is published and prints the report. Collective. Throws
  /// bad_state while a slot is out: nothing is closed then. Does nothing when called again.
  void finalize();

  /// An empty handle: every call fails with bad_state.
  Session() noexcept;
  /// Leaves the other handle empty.
  Session(Session&&) noexcept;
  /// Leaves the other handle empty; ends the session that this one had, as the destructor does.
  Session& operator=(Session&&) noexcept;
  /// Without finalize(): tells the servers that this rank gave up; files stay unpublished.
  ~Session();

  struct State;
  /// For the library.
  explicit Session(std::unique_ptr<State> state);
  /// Throws when the handle was moved from.
  [[nodiscard]] State& state() const;

 private:
  std::unique_ptr<State> state_;
};

/// Serves several sessions of this process side by side, in this thread, until all their model ranks have
/// finalized; then throws the first thing that went wrong, if any. For models that use several sessions with
/// dedicated servers at the same time: served one after the other, the second would wait for the first to
/// end.
void serve_all(std::span<Session* const> sessions);

/// Ends the process with exit status 1 because of `error`. The sessions that the calling thread has opened
/// and not finalized fail, with this error as the reason, and all their ranks and servers learn it before the
/// process is gone. The error is
/// printed on stderr once per job, with the ranks that stopped, instead of once per rank. Takes a few seconds
/// at most.
[[noreturn]] void stop(const Error& error);

}  // namespace afterbay
