// SPDX-License-Identifier: Apache-2.0
// ModelSession: a model rank's side of a session, with links to every server over any transport:
// definitions, files, steps, epochs and the end. `puts` puts, `reader` reads. Used by one thread
// at a time, under `puts().joint().links().lock()` if endpoints may be open.
//
// Order on every link: definitions, then per file OpenFile, per (file, record) BeginRecord, pieces,
// Put; EndRecords at end_step; CloseFile; Finalize. All ranks make the same calls in the same
// order, so that the running numbers (file, seq, position) agree without messages between ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "client/collection.hpp"
#include "client/definitions.hpp"
#include "client/destinations.hpp"
#include "client/direct_puts.hpp"
#include "client/endpoint_reads.hpp"
#include "client/file.hpp"
#include "client/rank_puts.hpp"
#include "client/reader.hpp"
#include "client/server_choice.hpp"
#include "client/session_core.hpp"
#include "client/session_puts.hpp"
#include "client/tickets.hpp"
#include "client/waits.hpp"
#include "config/config.hpp"
#include "observe/profile.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

class ModelSession {
 public:
  using Links = SessionCore::Links;

  ModelSession(RankIdentity identity, const config::Config& config, Links links, observe::Profile& profile,
               Logger logger);

  [[nodiscard]] const RankIdentity& identity() const noexcept { return core_.identity(); }
  /// What the model has defined; the same on every rank.
  [[nodiscard]] const Definitions& definitions() const noexcept { return definitions_; }
  /// Whether it has neither failed nor been finalized. A refused call does not end the session.
  [[nodiscard]] bool is_usable() const noexcept { return core_.is_usable(); }
  /// The error after which the session cannot continue, if there was one.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return core_.failure(); }
  [[nodiscard]] Waits& waits() noexcept { return waits_; }
  /// Inline topology, synchronous: end_step waits until the step is written on all ranks, because a
  /// rank that hosts a server must not leave for the model's own messages while another rank still
  /// waits for it. `arrive` tells the others that this rank has its answers; the function that it
  /// returns tells whether all ranks have theirs.
  void set_synchronous(SessionCore::Arrive arrive) { core_.set_synchronous(std::move(arrive)); }

  Result<> decomposition(const std::string& name, const Block& block, const Coverage& coverage) {
    return definitions_.add_decomposition(name, block, coverage);
  }
  Result<> decomposition(const std::string& name, const Map& map, const Coverage& coverage) {
    return definitions_.add_decomposition(name, map, coverage);
  }
  /// `reductions`: servers compute these variables from samples, if they can: see
  /// server::ServedCollection::reduces.
  Result<Collection*> collection(const std::string& name, const Schema& schema,
                                 const CollectionOptions& options,
                                 std::vector<AskedReduction> reductions = {});
  Result<> start();

  /// `holds_states`: put_reduced of a record writes that plane of the variable's state.
  Result<std::shared_ptr<File>> open(Collection& collection, const FileName& name,
                                     const SchemaChanges& changes, bool holds_states = false);
  /// Number of records in the file when it was opened. Waits for the server to open it.
  Result<std::uint64_t> records(File& file);
  [[nodiscard]] SessionPuts& puts() noexcept { return puts_; }
  [[nodiscard]] Reader& reader() noexcept { return reader_; }
  /// Any thread.
  [[nodiscard]] EndpointReads& endpoint_reads() noexcept { return endpoint_reads_; }
  /// Does what endpoints left to the session's thread. Does not wait for them.
  Result<> progress();

  Result<> end_step();
  Result<Ticket> flush();
  Result<Ticket> epoch(const std::string& name);
  /// `function` is returned by the first `take_due` after the ticket is complete.
  Result<> on_complete(Ticket ticket, std::function<void()> function);
  /// The functions that are due, to be called outside of calls of the session, which they may make.
  [[nodiscard]] std::vector<std::function<void()>> take_due() { return tickets_.take_due(); }
  Result<Ticket> close(File& file);
  Result<bool> is_complete(Ticket ticket);
  Result<> wait(Ticket ticket);
  /// Closes all open files, and waits until everything is published and every server has confirmed
  /// it.
  Result<> finalize();
  /// Tells the servers that this rank ends early, and the error that caused it, if any. Never fails
  /// and never waits long. All later calls fail. `reports`: if no server answers, the ranks report
  /// it. `for_all`: the error concerns the session, which fails with it on all ranks.
  void abandon(const std::string& reason, const Error* cause = nullptr, bool reports = false,
               bool for_all = false) noexcept AFTERBAY_NO_THREAD_SAFETY_ANALYSIS;
  /// After `abandon`: waits until a server has answered that the session has failed, which that
  /// server has then reported on stderr. Returns false if no server has answered within `limit`.
  bool await_failure(transport::Millis limit) noexcept { return core_.await_failure(limit); }
  /// Destroys the links. All later calls fail.
  void release_links() noexcept;

 private:
  /// Handles messages, and does what endpoints left. `tend`: without looking for messages; returns
  /// whether there are endpoints.
  Result<> work();
  Result<bool> tend();
  /// Endpoints get the session's error, or that it has been finalized.
  void stop_endpoints() noexcept;
  /// Handles a message from a server; see message_handlers.cpp.
  Result<> handle(std::size_t server, std::span<const std::byte> message);
  /// Tells the server that everything put so far has been handed over.
  /// `within_step`: by flush or epoch, before the step has ended.
  Result<> end_records(std::size_t server, bool within_step = false);
  Result<> wait_for_older(const File& file);
  /// The ticket of the last close of a file of that path; 0 if there was none, or if the file is
  /// published.
  [[nodiscard]] std::uint64_t closing_ticket(const std::string& path) const;
  void note_directory(const std::string& path);
  // See Reader::Host.
  Result<std::optional<std::string>> part_as_of_epoch(const std::string& path);
  Result<> wait_for_output(const std::string& path);

  /// Adds the file and variable that this rank was working on to an error.
  void add_work(Error& error) const;

  struct Observed {
    explicit Observed(observe::Profile& profile);
    observe::Timer *define, *end_step, *close, *flush, *epoch, *wait, *finalize;
    observe::Counter* messages;
  };

  const config::Config& config_;
  SessionCore core_;
  Waits waits_{core_};
  Observed observed_;
  Definitions definitions_;
  ServerChoice server_choice_;
  RankPuts rank_puts_;
  std::vector<std::shared_ptr<File>> open_files_;
  SessionPuts puts_;
  Reader reader_;
  EndpointReads endpoint_reads_;
  wire::EndRecords ended_;  ///< the message being sent; kept to reuse its memory
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
