// SPDX-License-Identifier: Apache-2.0
/// @file
/// Session, Collection, OutputFile: how a model writes its fields.
///
/// @code
/// Session session = open_session(MPI_COMM_WORLD, options);  // afterbay/mpi.hpp
/// if (session.is_server()) { session.serve(); return 0; }   // returns when the model has finished
/// session.decomposition("grid", Block{global, start, count});
/// Collection history = session.collection("history", schema, {.file = "hist_{step:04}.nc"});
/// for (std::int64_t step = 0; step < steps; ++step) {
///   OutputFile file = history.open({.step = step});
///   file.put("temperature", record, temperature.data());
///   session.end_step();
///   file.close();
/// }
/// session.finalize();
/// @endcode
///
/// Rules for every call:
/// - Order: every model rank makes the same calls in the same order (definitions, open, put,
///   end_step, close). "Collective" means that a call also waits for the other ranks: open_session,
///   start and finalize.
/// - Errors are thrown as Failure. A call that is refused because of its arguments or its order
///   leaves the session usable. Calls that define, put, read or wait throw bad_state after
///   finalize, on a server and on an empty handle. An error that a server or another rank reports
///   ends the session: every later call throws that error. Files are written in the background, so
///   an error in a file may be thrown by any later call.
/// - Threads: a session and the handles obtained from it must be used by one thread at a time; two
///   calls at once are refused (bad_state). A call may use MPI, so the thread must be allowed to
///   call MPI: with MPI_THREAD_SINGLE and MPI_THREAD_FUNNELED the thread that initialised MPI, with
///   MPI_THREAD_SERIALIZED and MPI_THREAD_MULTIPLE any thread, one at a time. Other threads are
///   refused (bad_state) in calls that may use MPI. These are open_session, serve, finalize and the
///   constructor of Output, and on ranks that reach a server over MPI, or with synchronous inline
///   servers, all others. With SERIALIZED, no other thread may call MPI while a thread is in a call
///   of the session, or while the thread that made the session's last call is in a call of an
///   endpoint or a pool. Other threads put through an Endpoint of their own.
/// - Waits: a call waits only if its description says so, and throws timed_out if what it waits for
///   makes no progress within the setting `deadline`. With inline servers in synchronous mode
///   start, open, end_step, records, open_input, get and get_strings also wait for all model ranks.
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
#include "afterbay/export.h"
#include "afterbay/input.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/types.hpp"

namespace afterbay {

/// The role of this process.
enum class AFTERBAY_API Role {
  automatic,  ///< from the configuration: the last `servers` ranks serve
  model,      ///< a model rank
  server      ///< an I/O server
};

/// Whose conventions messages use: C (indices from 0, slowest dimension first) or Fortran.
enum class AFTERBAY_API Language {
  c,       ///< C and C++
  fortran  ///< Fortran
};

/// How a session is opened.
struct AFTERBAY_API SessionOptions {
  std::string name = "afterbay";  ///< appears in messages, segments and reports
  Role role = Role::automatic;    ///< the role of this process
  /// Settings from code, by their dotted names ("servers", "memory.server", ...). Precedence,
  /// lowest first: defaults, these settings, the YAML file, the environment, the command line.
  std::vector<std::pair<std::string, std::string>> settings;
  std::string config_file;             ///< YAML; empty: AFTERBAY_CONFIG, else none
  std::vector<std::string> arguments;  ///< the program's arguments; only --afterbay.* are used
  Language language = Language::c;     ///< for messages
  /// An output description in YAML. It is joined with the files of the setting `output`, as if one
  /// of them included it. Empty: none. All ranks and servers of the session must give the same.
  std::string output_text = {};

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

/// How a collection's files are stored; the configuration can override each option by collection
/// name.
struct AFTERBAY_API CollectionOptions {
  /// Name template; see `FileName`. Empty: {collection} with the ending of the store, such as
  /// "{collection}.nc" or "{collection}.grib2". A template that is given stays as it is.
  std::string file = {};
  std::string directory = {};  ///< prepended to the name; empty: the working directory
  /// Or its name: "netcdf4", "cdf5", "cdf2", "grib2", "pp", "fieldsfile", "memory".
  Choice<Store> store = Store::netcdf4;
  Choice<Existing> existing = Existing::refuse;  ///< or its name: "refuse"
};

/// The name of a file: `name` as it is, or the collection's template with {collection}, {step}
/// ({step:06}), {member} ({member:03}) and {date:%Y%m%d_%H} filled in.
struct AFTERBAY_API FileName {
  std::string name = {};                    ///< the whole name; empty: the template is filled in
  std::optional<std::int64_t> step = {};    ///< for {step}
  std::optional<std::int64_t> member = {};  ///< for {member}: the number of an ensemble member
  /// For {date}, ISO 8601: "2026-11-21", "2026-11-21T06:00:00"; any year, no time zone.
  std::optional<std::string> date = {};
  /// In collections whose files are appended to: this file replaces one that exists.
  bool replace = false;
};

/// A point in the order of the data that this rank has put; see Session::wait.
struct AFTERBAY_API Ticket {
  std::uint64_t number = 0;  ///< tickets of this rank are numbered in order; 0: none
};

class Slot;

/// A file of a collection, open for output on this rank. A handle; copies name the same file.
class AFTERBAY_API OutputFile {
 public:
  /// Puts this rank's part of `variable` for `record`. Returns when the data have been copied and
  /// converted to the type in the file. `data` points to the start of the rank's array with the
  /// layout `memory` (dense by default).
  /// Every model rank calls it, also those that hold nothing; their `data` may be null. A record of
  /// a variable can be put once while the file is open.
  /// Waits only while the server has no room. Throws unknown_name; wrong_type if T does not fit or
  /// a value is out of range of the type in the file; invalid_argument for an invalid record,
  /// layout or null pointer; conflict if the record was put before; bad_state after close. In all
  /// these cases no data were taken.
  template <class T>
  void put(std::string_view variable, std::uint64_t record, const T* data, const MemoryLayout& memory = {}) {
    put_raw(variable, record, data, type_of<T>, memory, true);
  }
  /// The same for a variable without the unlimited dimension.
  template <class T>
  void put(std::string_view variable, const T* data, const MemoryLayout& memory = {}) {
    put_raw(variable, no_record, data, type_of<T>, memory, true);
  }
  /// Puts a section of this rank's part; further calls put the others, in any order, also between
  /// sections of other variables. `data` points to the values of the section, with the layout
  /// `memory`. Not all ranks need to cut their parts alike. The record is complete on this rank
  /// when all of its part has been put; until then end_step is refused. Waits as put does. Throws
  /// as put does; conflict if a value was put before, invalid_argument for a section that leaves
  /// the part.
  template <class T>
  void put_section(std::string_view variable, std::uint64_t record, const Section& section, const T* data,
                   const MemoryLayout& memory = {}) {
    put_raw(variable, record, data, type_of<T>, memory, true, section);
  }
  /// Like put, but returns false instead of waiting if there is no room; no data were taken then.
  /// Needs room for the rank's whole part at once: throws resources if the server's memory is
  /// smaller; no data were taken, and `put` accepts the same record. A try_put that has been
  /// refused for half the deadline waits as `put` does. Otherwise throws as put does.
  template <class T>
  [[nodiscard]] bool try_put(std::string_view variable, std::uint64_t record, const T* data,
                             const MemoryLayout& memory = {}) {
    return put_raw(variable, record, data, type_of<T>, memory, false);
  }
  /// Puts all values of a string variable. Every model rank calls it; the values of the lowest
  /// model rank are written. Waits only on that rank, and only while the server's memory for
  /// strings is full. Throws as put does, and invalid_argument for a wrong number of values.
  void put_strings(std::string_view variable, std::uint64_t record, std::span<const std::string> values);
  /// Lends memory in the server's own buffer, in which the model computes its values, or a private
  /// array; see Slot. Does not wait for room. Throws as put does. From then on the record counts as
  /// put.
  Slot acquire(std::string_view variable, std::uint64_t record, Type type);

  /// Ends this rank's output to the file. The servers publish it when all ranks have closed it. The
  /// ticket is complete when the file is durable under its final name. Does not wait, except for
  /// endpoints. Throws bad_state while a slot of the file is not committed, or sections are
  /// missing: the file stays open; timed_out as Session::flush does. If called again it returns the
  /// same ticket.
  Ticket close();
  /// The final path. Does not wait. Throws bad_state on an empty handle.
  [[nodiscard]] const std::string& path() const;
  /// The number of records in the file when it was opened: 0, or with `append` the next record.
  /// Every model rank calls it. Waits until the server has opened the file. Throws bad_state after
  /// close, unless it was called before.
  [[nodiscard]] std::uint64_t records() const;

  /// Like put, with the type as a value; returns false only if `may_wait` is false and there is no
  /// room.
  bool put_raw(std::string_view variable, std::uint64_t record, const void* data, Type type,
               const MemoryLayout& memory, bool may_wait, const Section& section = {});

  struct State;
  /// Internal: used by the library.
  explicit OutputFile(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// An empty handle: every call throws bad_state.
  OutputFile() = default;
  /// Throws bad_state if the handle is empty.
  [[nodiscard]] State& state() const;

 private:
  std::shared_ptr<State> state_;
};

/// Memory for this rank's part of a variable, to be computed in place. It consists of one or more
/// boxes (large fields are cut into pieces), which together cover the rank's part. commit() puts
/// the data. If a Slot is destroyed without a commit, no data are put and the record stays
/// incomplete.
class AFTERBAY_API Slot {
 public:
  /// A box of the rank's part. Its element (i, j, ...) is at data + i*strides[0] + j*strides[1] +
  /// ... elements.
  struct Part {
    void* data = nullptr;  ///< the first element, of the slot's type
    /// In the global index space of the variable, without the record dimension
    std::vector<std::uint64_t> start;
    std::vector<std::uint64_t> count;   ///< lengths of the box
    std::vector<std::int64_t> strides;  ///< in elements
  };
  /// The boxes to fill; empty if this rank holds nothing. Does not wait.
  [[nodiscard]] const std::vector<Part>& parts() const;
  /// True: the parts lie in the server's buffer. False: in a private array that commit copies (type
  /// or byte order differs from that in the file, the server is on another node, or its memory had
  /// no room for all parts at the time of acquire). Does not wait.
  [[nodiscard]] bool direct() const;
  /// Puts the data in the slot; its parts must not be accessed afterwards. A private array is
  /// copied, which waits as put does; otherwise it does not wait. Throws bad_state if it was
  /// committed before; wrong_type if a value is out of range of the type in the file: the slot
  /// stays uncommitted and can be committed again.
  void commit();

  struct State;
  /// Internal: used by the library.
  explicit Slot(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// Throws bad_state if the handle is empty.
  [[nodiscard]] State& state() const;

 private:
  std::shared_ptr<State> state_;
};

/// A caller of `put` within a model rank, for example one of its threads. Endpoints of a rank hand
/// over their parts at the same time and at their own pace, without a barrier and without gathering
/// anything. See docs/how-to/threads.md.
///
/// Rules:
/// - An endpoint is used by one thread at a time; different endpoints by different threads at once.
///   Any thread may make these calls, whatever the level of MPI_Init_thread: they use MPI only in
///   the thread that made the last call of the session, while it waits.
/// - Every point of the rank's part of a decomposition belongs to one endpoint, or to the session
///   if no endpoint has a part of it.
/// - All endpoints put the same records and variables in the same order. Endpoints that hold no
///   point of a variable need not put it.
/// - Each endpoint ends its steps with end_step. A record of the rank is complete when the session
///   and all of its endpoints have ended the step.
/// - Files are opened and closed by the session. close, flush, epoch and finalize wait until every
///   endpoint has ended the steps that the session has ended. From the first endpoint that a rank
///   opens, its calls of flush and epoch cover these steps and no others, whether it has open
///   endpoints or none.
/// Errors are thrown as Failure and name rank and endpoint. A refused call leaves endpoint and
/// session usable. A handle; copies name the same endpoint. Destroying the last one closes it.
class AFTERBAY_API Endpoint {
 public:
  /// Registers this endpoint's part of a decomposition of the rank: a box inside that of the rank.
  /// Once per decomposition, before the first put of a variable on it. Does not wait. Throws
  /// conflict if it overlaps with that of another open endpoint, invalid_argument if it leaves the
  /// rank's part, unknown_name if there is no such decomposition, wrong_type if it is a map,
  /// bad_state while another thread is in a call of the endpoint.
  void part(const std::string& decomposition, const Block& block);
  /// The same for a list of points that the rank has; `map.global` as in the rank's list. Throws as
  /// for a block; wrong_type if the decomposition is a block.
  void part(const std::string& decomposition, const Map& map);
  /// The same for all of the rank's part, whatever the kind of the decomposition; with an empty
  /// name for all variables without a decomposition.
  void whole(const std::string& decomposition = {});

  /// As OutputFile::put, for this endpoint's part, or a section of it. `data` points to the start
  /// of its array with the layout `memory`. Waits while the server has no room; if the rank shares
  /// no memory with the server, while `memory.endpoints` is full and the thread that uses the
  /// session makes no call. Throws as OutputFile::put does, conflict if a value was put before, and
  /// bad_state if this endpoint has no part of the variable's decomposition or another thread is in
  /// a call of it.
  template <class T>
  void put(const OutputFile& file, std::string_view variable, std::uint64_t record, const T* data,
           const MemoryLayout& memory = {}, const Section& section = {}) {
    put_raw(file, variable, record, data, type_of<T>, memory, true, section);
  }
  /// The same for a variable without the unlimited dimension.
  template <class T>
  void put(const OutputFile& file, std::string_view variable, const T* data,
           const MemoryLayout& memory = {}) {
    put_raw(file, variable, no_record, data, type_of<T>, memory, true, {});
  }
  /// As OutputFile::try_put, for this endpoint's part, or a section of it. Waits as put does only
  /// after half the deadline. Throws as put does, and resources.
  template <class T>
  [[nodiscard]] bool try_put(const OutputFile& file, std::string_view variable, std::uint64_t record,
                             const T* data, const MemoryLayout& memory = {}, const Section& section = {}) {
    return put_raw(file, variable, record, data, type_of<T>, memory, false, section);
  }
  /// As OutputFile::acquire, for this endpoint's part. Waits only if this endpoint is 32 records
  /// ahead of others of its rank. Throws as put does. The slot is used by this endpoint's thread;
  /// any thread may destroy it.
  Slot acquire(const OutputFile& file, std::string_view variable, std::uint64_t record, Type type);
  /// As InputFile::get. `what.decomposition` stands for this endpoint's part of the decomposition.
  /// Waits until the data have been read; if the rank shares no memory with the servers, also until
  /// the thread that uses the session calls it. Throws as InputFile::get does, bad_state if the
  /// endpoint has no part of the decomposition, and with inline servers in synchronous mode.
  template <class T>
  void get(const InputFile& file, std::string_view variable, const Selection& what, T* data,
           const MemoryLayout& memory = {}) {
    get_raw(file, variable, what, data, type_of<T>, memory);
  }
  /// Ends the step for this endpoint, which may go on to the next one at once. Does not wait.
  /// Throws bad_state while a slot is not committed, or if it has put only sections of its part of
  /// a variable; if this was the last endpoint to end the step, and a part of the rank was not put
  /// by any, that error ends the session.
  void end_step();
  /// Ends the use of the endpoint. Its parts can be taken over by others, from the next put on.
  /// Does not wait. Throws bad_state as end_step does. Does nothing if called again.
  void close();
  /// The endpoint's number within its rank, from 1, as in messages. Does not wait. Throws bad_state
  /// on an empty handle.
  [[nodiscard]] std::size_t number() const;

  /// Like put, with the type as a value; returns false only if `may_wait` is false and there is no
  /// room.
  bool put_raw(const OutputFile& file, std::string_view variable, std::uint64_t record, const void* data,
               Type type, const MemoryLayout& memory, bool may_wait, const Section& section);
  /// Like get, with the type as a value.
  void get_raw(const InputFile& file, std::string_view variable, const Selection& what, void* data, Type type,
               const MemoryLayout& memory);

  struct State;
  /// Internal: used by the library.
  explicit Endpoint(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// An empty handle: every call throws bad_state.
  Endpoint() = default;
  /// Throws bad_state if the handle is empty.
  [[nodiscard]] State& state() const;

 private:
  std::shared_ptr<State> state_;
};

/// A kind of file: a schema with its naming and storage. Defined once, opened many times.
class AFTERBAY_API Collection {
 public:
  /// Opens a file of this collection. `changes` apply to this file only; those of the lowest model
  /// rank are applied. Each rank checks those that it gives: give the same ones on all, so that all
  /// refuse. Every model rank calls it. The server creates the file in the background; a later call
  /// reports that the file exists already or cannot be created. Waits as Session::start does if
  /// there are new definitions; with the placement or pool choice `least`, until a server is
  /// chosen; for all model ranks, if the server gets the collection's maps now (setting
  /// `memory.maps`); and, on the lowest model rank, until an older file of the same path is
  /// published, if another server wrote it. Throws conflict if this session has the path open, or
  /// if `changes` contradict how values are rounded or packed for all files of the collection;
  /// invalid_argument, unknown_name and wrong_type for `name` and `changes`. What the server finds
  /// ends the session, and a later call throws it: exists, conflict, io, format.
  OutputFile open(const FileName& name = {}, const SchemaChanges& changes = {});
  /// The same with the whole name.
  template <std::convertible_to<std::string_view> Name>
  OutputFile open(const Name& name, const SchemaChanges& changes = {}) {
    return open(FileName{.name = std::string(std::string_view(name))}, changes);
  }
  /// The collection's name. Does not wait. Throws bad_state on an empty handle or after the session
  /// has been destroyed.
  [[nodiscard]] const std::string& name() const;

  struct State;
  /// Internal: used by the library.
  explicit Collection(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// An empty handle: every call throws bad_state.
  Collection() = default;

 private:
  std::shared_ptr<State> state_;
};

/// The use of Afterbay by one run, from open_session to finalize. Movable. A process may have
/// several.
class AFTERBAY_API Session {
 public:
  /// True: call serve() and nothing else. Does not wait. Throws bad_state on an empty handle.
  [[nodiscard]] bool is_server() const;
  /// Serves until every model rank has finalized; then throws the first error of the session, if
  /// any, or stopped after a signal. Sleeps while there is nothing to do. Throws bad_state on a
  /// model rank, and if the session was served already. For several sessions see serve_all.
  void serve();

  /// The number of this rank among the model ranks, from 0. Does not wait. Throws bad_state on a
  /// server.
  [[nodiscard]] int model_rank() const;
  /// The number of model ranks. Does not wait. Throws bad_state on a server.
  [[nodiscard]] int model_size() const;

  /// Registers this rank's part of a global index space under a name. Overlaps between ranks are
  /// errors, and so are gaps unless allowed; start() reports both with ranks and indices. Does not
  /// wait. Throws conflict if the name is taken, invalid_argument for an empty name or an invalid
  /// box.
  void decomposition(const std::string& name, const Block& block, const Coverage& coverage = {});
  /// The same for a list of points. Any number of variables of any type may use it, in any number
  /// of collections; a variable may have more dimensions (record, levels) before or after those of
  /// the map. Throws conflict also if this rank lists a point twice and repeats are refused.
  void decomposition(const std::string& name, const Map& map,
                     const Coverage& coverage = {.gaps_allowed = true, .repeats = Repeats::refuse});
  /// Defines a kind of file. The schema is copied and checked; all its problems are thrown at once.
  /// Does not wait. Throws conflict if the name is taken, invalid_argument for invalid values in
  /// `options`; for problems of the schema also unknown_name, wrong_type and resources.
  Collection collection(const std::string& name, const Schema& schema, const CollectionOptions& options = {});
  /// Collective: every model rank calls it. Sends new definitions to the servers and waits until
  /// they are ready for the first file. Implied by the first Collection::open after a definition.
  /// Throws conflict for overlaps, gaps and definitions that differ between ranks, resources if
  /// they need more memory than settings allow; these end the session. Does nothing if there are no
  /// new definitions.
  void start();

  /// Opens any netCDF file for input. Every model rank calls it. Waits until the servers have
  /// opened it, and as `options.as_of` requires. Throws io if the file does not exist or cannot be
  /// read, format if it is not a netCDF file; bad_state with AsOf::closed if this session has it
  /// open for output, and with AsOf::epoch if it is not readable or has no epoch yet;
  /// invalid_argument for an empty path. An error in reading leaves the session usable.
  InputFile open_input(const std::string& path, const InputOptions& options = {});

  /// Opens an endpoint: a further caller of `put` in this rank. Any thread may call it. `name`
  /// appears in messages. Ranks may open different numbers of endpoints, or none. Waits only for a
  /// call of the session that is in progress. Throws bad_state while a slot of the session is not
  /// committed, or it has put only sections of a variable.
  Endpoint endpoint(const std::string& name = {});

  /// Does what endpoints leave to the thread that uses the session: if the rank shares no memory
  /// with a server, their data and requests go through it. Other calls do the same; call this one
  /// now and then if the thread makes no other call for a long time. Does not wait for endpoints.
  void progress();

  /// Marks everything put since the last end_step as a complete step. With `inline` servers in
  /// synchronous mode it is collective and returns when the step is written; otherwise it does not
  /// wait. Throws bad_state while a slot is not committed, or sections are missing.
  void end_step();
  /// Returns a ticket that is complete when everything put before is durable or handed to the file
  /// system. Does not wait, except for endpoints. On a rank that has opened an endpoint, it covers
  /// the steps that the session has ended. Throws bad_state while a slot is not committed, or
  /// sections are missing; timed_out, which ends the session, with the endpoints that are late.
  Ticket flush();
  /// Marks an epoch in the output. The ticket is complete when everything that all ranks put
  /// before, in all files, is durable and can be recovered after any later crash; files that are
  /// still open then are recovered by `afterbay recover FILE`. The journal records the epoch with
  /// its name; `afterbay status` shows the last one. Every model rank calls it. Does not wait,
  /// except for endpoints as flush does, and does not delay other ranks. Throws as flush does;
  /// invalid_argument for an empty name.
  Ticket epoch(const std::string& name);
  /// Calls `function` once, in this thread, when the ticket is complete: from within end_step,
  /// wait, is_complete or finalize. It may call the session. Does not wait. Throws invalid_argument
  /// for a ticket that does not belong to this session.
  void on_complete(Ticket ticket, std::function<void()> function);
  /// Waits until a ticket is complete. Throws the error that prevented it, and invalid_argument for
  /// a ticket that does not belong to this session.
  void wait(Ticket ticket);
  /// Whether a ticket is complete. Does not wait. Throws as wait does.
  [[nodiscard]] bool is_complete(Ticket ticket);
  /// Collective: every model rank calls it. Closes all files, waits until everything is published
  /// and prints the report. Throws the error that prevented a publication; bad_state while a slot
  /// is not committed, sections are missing or an Output is not finalized: nothing is closed then.
  /// Does nothing if called again.
  void finalize();

  /// An empty handle: every call throws bad_state.
  Session() noexcept;
  /// Leaves the other handle empty.
  Session(Session&&) noexcept;
  /// Leaves the other handle empty; ends the session that this one had, as the destructor does.
  Session& operator=(Session&&) noexcept;
  /// Without finalize(): tells the servers that this rank gave up; files stay unpublished. Waits
  /// for servers that do not take the message, endpoints that are in a call, and an inline server
  /// of this rank: for each at most the setting `deadline` and a few seconds. On a server without
  /// serve(): tells the model ranks, which takes a few seconds at most. After finalize() or
  /// serve(): waits a few seconds at most for the other ranks to destroy their sessions. Does not
  /// throw.
  ~Session();

  struct State;
  /// Internal: used by the library.
  explicit Session(std::shared_ptr<State> state);
  /// Throws bad_state if the handle is empty.
  [[nodiscard]] State& state() const;

 private:
  std::shared_ptr<State> state_;
};

/// Serves several sessions of this process side by side, in this thread, until all their model
/// ranks have finalized; then throws the first error, if any. For models that use several sessions
/// with dedicated servers at the same time: if they were served one after the other, the second
/// would wait for the first to end. Throws as Session::serve does; invalid_argument for a null
/// pointer.
AFTERBAY_API void serve_all(std::span<Session* const> sessions);

/// Ends the process with exit status 1 because of `error`. The open sessions of the process (those
/// that the calling thread opened or, if it has none, those of other threads) fail with this error
/// as the reason, and all their ranks and servers learn it before the process ends. The error is
/// printed on stderr once per job, with the ranks that stopped, instead of once per rank. Takes a
/// few seconds at most. If several threads call it, the error of the first counts. If a thread that
/// did not open the session must not call MPI although the session needs it (with
/// MPI_THREAD_FUNNELED, and a server on another node or in the ranks), it waits until the session's
/// thread stops as well, because the calls of that thread fail; if it makes none for 2 s, servers
/// only notice that the process has ended. Exit handlers must not wait for a thread that calls
/// stop: this thread waits for the end of the process and, after `deadline` and 8 s, ends the
/// process without further exit handlers.
[[noreturn]] AFTERBAY_API void stop(const Error& error);

}  // namespace afterbay
