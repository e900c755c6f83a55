// SPDX-License-Identifier: Apache-2.0
// ModelSession: a model rank's side of a session, over links to every server. It knows nothing of MPI
// and runs as well over the thread transport. Used by one thread.
//
// Order on every link: definitions, then per file OpenFile, per (file, record) BeginRecord, pieces,
// Put; EndRecords at end_step; CloseFile; Finalize. All ranks do the same calls in the same order, so that
// the running numbers (file, seq, position) agree without a message between ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/session.hpp"
#include "base/caller_terms.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "client/collection.hpp"
#include "client/destinations.hpp"
#include "client/endpoint.hpp"
#include "client/file.hpp"
#include "client/input.hpp"
#include "client/pools.hpp"
#include "client/session_core.hpp"
#include "client/tickets.hpp"
#include "config/config.hpp"
#include "observe/profile.hpp"
#include "transport/link.hpp"
#include "transport/shm/mapping.hpp"

namespace afterbay::client {

class ModelSession {
 public:
  using Links = SessionCore::Links;

  ModelSession(RankIdentity identity, const config::Config& config, Links links, observe::Profile& profile,
               Logger logger);

  [[nodiscard]] const RankIdentity& identity() const noexcept { return core_.identity(); }
  /// The collections, for the report; the same on every rank.
  [[nodiscard]] std::vector<observe::CollectionRecord> collection_records() const;
  /// Neither failed nor finalized. A refused call does not end the session.
  [[nodiscard]] bool is_usable() const noexcept { return core_.is_usable(); }
  /// Why the session cannot continue, if so.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return core_.failure(); }
  /// Called while this rank waits; see ClientLink::set_idle.
  void set_idle(std::function<bool()> idle) { core_.set_idle(std::move(idle)); }
  /// Inline topology, synchronous: end_step waits until the step is written, on all ranks: one that hosts a
  /// server must not leave for the model's own messages while another still waits for it. `arrive` tells the
  /// others that this rank has its answers; its result tells whether all have.
  void set_synchronous(SessionCore::Arrive arrive) { core_.set_synchronous(std::move(arrive)); }

  Result<> decomposition(const std::string& name, const Block& block, const Coverage& coverage);
  Result<> decomposition(const std::string& name, const Map& map, const Coverage& coverage);
  Result<Collection*> collection(const std::string& name, const Schema& schema,
                                 const CollectionOptions& options);
  Result<> start();

  Result<std::shared_ptr<File>> open(Collection& collection, const FileName& name,
                                     const SchemaChanges& changes);
  /// Records that the file held when it was opened. Waits for the server to open it.
  Result<std::uint64_t> records(File& file);
  /// Of this rank: put, acquire.
  [[nodiscard]] Endpoint& endpoint() noexcept { return endpoint_; }

  Result<std::shared_ptr<Input>> open_input(const std::string& path, const InputOptions& options);
  Result<> get(Input& input, std::string_view variable, const Selection& what, void* data, Type type,
               const MemoryLayout& memory);
  Result<> prefetch(Input& input, std::string_view variable, const Selection& what);
  Result<std::vector<std::string>> get_strings(Input& input, std::string_view variable, std::uint64_t record);
  Result<> close_input(Input& input);

  Result<> end_step();
  Result<Ticket> flush();
  Result<Ticket> epoch(const std::string& name);
  /// `function` is called by the first `call_back` after the ticket is complete.
  Result<> on_complete(Ticket ticket, std::function<void()> function);
  void call_back();
  Result<Ticket> close(File& file);
  Result<bool> is_complete(Ticket ticket);
  Result<> wait(Ticket ticket);
  /// Closes what is open, waits until all is published and every server has said so.
  Result<> finalize();
  /// Tells the servers that this rank ends early, and the error that made it do so, if any. Never fails,
  /// never waits long. From then on every call fails. `reports`: if no server answers, the ranks report it.
  void abandon(const std::string& reason, const Error* cause = nullptr, bool reports = false) noexcept {
    core_.abandon(reason, cause, reports);
  }
  /// After `abandon`: waits until a server has answered that the session has failed, which it has then
  /// reported on stderr. False: none has within `limit`.
  bool await_failure(transport::Millis limit) noexcept { return core_.await_failure(limit); }
  /// Destroys the links; from then on every call fails.
  void release_links() noexcept { core_.release_links(); }

 private:
  Result<> check_new_decomposition(const std::string& name) const;
  Result<> send_decomposition(std::size_t server, const Decomposition& decomposition);
  void warn_of_unknown_collections() const;
  Result<> handle(std::size_t server, std::span<const std::byte> message);

  Result<> end_records(std::size_t server, std::uint64_t step);
  Result<bool> choose_server(File& file);
  Result<std::size_t> least_loaded(Collection& collection, std::uint64_t nth);
  Result<> ask_server(Collection& collection, std::uint64_t nth);
  Result<> wait_for_older(const File& file);
  /// Of the last close of a file of that path; 0: there was none, or it is published.
  [[nodiscard]] std::uint64_t closing_ticket(const std::string& path) const;
  void note_directory(const std::string& path);

  // Reading: see model_session_input.cpp.
  /// What a rank waits for in one `get`: pieces of one record.
  struct Fetch {
    std::uint64_t number = 0;
    std::size_t missing = 0;                                       ///< pieces
    std::deque<std::pair<std::size_t, wire::InputPiece>> arrived;  ///< with the server that sent it
    std::optional<Error> error;
    std::uint64_t out_of_range = 0;
  };
  Result<ReadPlan> plan_read(const Input& input, std::string_view variable, Selection& what, Type type,
                             const MemoryLayout& memory);
  Result<> ask_for(const Input& input, const ReadPlan& plan, std::uint64_t record, std::uint64_t request,
                   bool ahead);
  Result<> fetch(const Input& input, const ReadPlan& plan, std::uint64_t record, std::byte* data,
                 std::uint64_t& out_of_range);
  Result<> take(const ReadPlan& plan, Fetch& fetch, std::byte* data);
  std::vector<std::string> output_names_of(const std::string& path);
  Result<std::optional<std::string>> part_as_of_epoch(const std::string& path);
  Result<> wait_for_output(const std::string& path);
  [[nodiscard]] std::size_t reader(const Input& input, std::uint32_t variable, std::uint64_t piece) const {
    const std::vector<std::size_t>& readers = pools_.readers();
    return readers[(input.id + variable + piece) % readers.size()];
  }
  [[nodiscard]] Error in_input(Error error, const Input& input, std::string_view variable) const;

  /// Adds to an error which file and variable this rank was busy with.
  void add_work(Error& error) const;

  struct Observed {
    explicit Observed(observe::Profile& profile);
    observe::Timer *define, *put, *end_step, *close, *flush, *epoch, *wait, *finalize, *open_input, *get,
        *prefetch;
    observe::Counter *read_bytes, *bytes, *messages;
  };

  const config::Config& config_;
  SessionCore core_;
  Pools pools_;
  Observed observed_;
  Endpoint endpoint_;
  Logger logger_;

  std::vector<Decomposition> decompositions_;
  std::size_t decompositions_sent_ = 0;
  std::vector<std::unique_ptr<Collection>> collections_;
  std::size_t collections_sent_ = 0;
  std::uint64_t define_serial_ = 0;
  std::vector<std::uint64_t> defined_;  ///< one a server: last serial acknowledged

  std::vector<std::shared_ptr<Input>> inputs_;  ///< open
  std::vector<transport::shm::Mapping>
      input_memory_;                         ///< one a server: what it read, if it lets this rank look
  std::map<std::uint64_t, Fetch*> fetches_;  ///< under way, by number
  std::map<std::uint64_t, std::optional<wire::InputStrings>> strings_fetches_;
  std::uint64_t next_input_ = 0;
  std::uint64_t next_fetch_ = 0;

  std::vector<std::shared_ptr<File>> open_files_;
  wire::EndRecords ended_;  ///< the message being sent; its memory is kept
  std::uint64_t next_file_ = 0;
  std::uint64_t waited_for_files_ns_ = 0;
  Tickets tickets_;
  std::uint64_t next_epoch_ = 0;
  std::uint64_t last_epoch_ticket_ = 0;
  Destinations destinations_;
  OutputDirectories output_directories_;
  bool inside_call_ = false;  ///< see observe::TimedCall
};

}  // namespace afterbay::client
