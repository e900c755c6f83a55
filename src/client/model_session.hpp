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
#include "client/input.hpp"
#include "client/pools.hpp"
#include "config/config.hpp"
#include "model/record_set.hpp"
#include "observe/profile.hpp"
#include "transport/link.hpp"
#include "transport/shm/mapping.hpp"

namespace afterbay::client {

/// A file as this rank sees it.
struct File {
  std::uint64_t id = 0;
  Collection* collection = nullptr;
  std::size_t server = 0;            ///< that makes it; the only one unless the collection is split
  std::vector<std::size_t> servers;  ///< all that write it, the maker first
  std::string path;
  bool closed = false;
  std::uint64_t close_ticket = 0;
  std::uint64_t opened_after_ticket = 0;  ///< the last one that was given out before
  std::optional<std::uint64_t> records;   ///< that it held when it was opened, once the server has told
  std::vector<model::RecordSet> put;      ///< one a variable: the records handed over

  /// Refuses a second put of a record: its bytes may be on their way to the file already.
  [[nodiscard]] Result<> check_not_put(std::uint32_t variable, std::uint64_t record) const;
  void mark_put(std::uint32_t variable, std::uint64_t record);
};

/// One variable of one record, about to be handed over.
struct Handover {
  File* file = nullptr;
  std::uint32_t variable = 0;  ///< index in the schema
  const PutPlan* plan = nullptr;
  std::uint64_t record = 0;
  std::uint64_t seq = 0;
  std::uint64_t position = 0;
};

class ModelSession {
 public:
  struct Place {
    int session_rank = 0;  ///< in the session's communicator, for messages
    int model_rank = 0;
    int model_size = 1;
    std::vector<std::size_t> pool_of_server;  ///< one a server; empty: there is one pool
    Terms terms = Terms::c;                   ///< of the caller, for messages
  };
  using Links = std::vector<std::unique_ptr<transport::ClientLink>>;

  ModelSession(Place place, const config::Config& config, Links links, observe::Profile& profile,
               Logger logger);

  [[nodiscard]] const Place& place() const noexcept { return place_; }
  /// The collections as the report tells of them; the same on every rank.
  [[nodiscard]] std::vector<observe::CollectionRecord> account() const;
  [[nodiscard]] std::size_t servers() const noexcept { return links_.size(); }
  /// Neither failed nor finalized: after a call that was refused the session goes on.
  [[nodiscard]] bool is_usable() const noexcept { return !failure_ && !finalized_; }
  /// Why the session cannot go on, if so.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }
  /// Called while this rank waits; see ClientLink::set_idle.
  void set_idle(std::function<bool()> idle);
  /// Inline topology, synchronous: end_step waits until the step is written, on all ranks: one that hosts a
  /// server must not leave for the model's own messages while another still waits for it. `arrive` tells the
  /// others that this rank has its answers; what it returns tells whether all have.
  using Arrive = std::function<Result<std::function<Result<bool>()>>()>;
  void set_synchronous(Arrive arrive) { arrive_ = std::move(arrive); }

  Result<> decomposition(const std::string& name, const Block& block, const Coverage& coverage);
  Result<> decomposition(const std::string& name, const Map& map, const Coverage& coverage);
  Result<Collection*> collection(const std::string& name, const Schema& schema,
                                 const CollectionOptions& options);
  Result<> start();

  Result<std::shared_ptr<File>> open(Collection& collection, const FileName& name,
                                     const SchemaChanges& changes);
  /// False: there was no room and may_wait is false.
  Result<bool> put(File& file, std::string_view variable, std::uint64_t record, const void* data, Type type,
                   const MemoryLayout& memory, bool may_wait);
  /// Records that the file held when it was opened. Waits for the server to open it.
  Result<std::uint64_t> records(File& file);
  Result<> put_strings(File& file, std::string_view variable, std::uint64_t record,
                       std::span<const std::string> values);

  /// A put that was begun by acquire and ends with commit. Its record is numbered by acquire, wherever the
  /// data lie, so that ranks on other nodes number it alike.
  struct Acquired {
    Handover handover;
    std::uint64_t number = 0;  ///< of the slot
    /// This rank's pieces as places in the server's frames, if data of the type can be computed there as they
    /// are, and all of them had room: per piece of the plan, where the frame's data begin. Else the caller
    /// commits from a buffer.
    std::optional<std::vector<std::byte*>> frames;
  };
  /// Never waits for room.
  Result<Acquired> acquire(File& file, std::string_view variable, std::uint64_t record, Type type);
  /// `buffer`: the rank's part, dense, unless the slot lies in the server's frames. After a refusal because
  /// of values out of range the slot is still out.
  Result<> commit(const Acquired& slot, const void* buffer);
  /// The slot will not be written to any more, nor committed.
  void forget(const Acquired& slot) noexcept;
  /// Neither committed nor forgotten.
  [[nodiscard]] bool is_out(const Acquired& slot) const { return slots_out_.contains(slot.number); }

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
  void abandon(const std::string& reason, const Error* cause = nullptr, bool reports = false) noexcept;
  /// After `abandon`: waits until a server has answered that the session has failed, which it has then
  /// reported on stderr. False: none has within `limit`.
  bool await_failure(transport::Millis limit) noexcept;
  /// Destroys the links; from then on every call fails.
  void release_links() noexcept;

 private:
  Result<> check_usable() const;
  Result<> check_open(const File& file) const;
  Result<> check_new_decomposition(const std::string& name) const;
  Result<> send_decomposition(std::size_t server, const Decomposition& decomposition);
  void warn_of_unknown_collections() const;
  /// Reads what servers sent; fails with the session's error if one of them failed.
  Result<> poll();
  Result<> handle(std::size_t server, std::span<const std::byte> message);
  /// After a link's call failed: the server's own account of it, if it sent one.
  Error explain(std::size_t server, Error error);
  Error remember(Error error);
  /// An error that this rank's caller is about to see: if the rank gives up, the others learn it.
  tl::unexpected<Error> told(Error error);
  template <class Message>
  Result<> send(std::size_t server, const Message& message, transport::Wake wake) {
    wire::encode(message, encoded_);
    return send_encoded(server, wake);
  }
  Result<> send_encoded(std::size_t server, transport::Wake wake);
  /// What does not depend on what was put before.
  template <class Message>
  Result<> send_ahead(std::size_t server, const Message& message) {
    wire::encode(message, encoded_);
    if (auto sent = links_[server]->send_ahead(encoded_); !sent)
      return fail(explain(server, std::move(sent).error()));
    return {};
  }

  Result<Handover> begin(File& file, std::string_view variable, std::uint64_t record, Type type,
                         const MemoryLayout& memory);
  Result<std::uint64_t> begin_record(File& file, std::uint64_t record, bool fixed);
  Result<> drop_oldest_record(File& file);
  Result<> check_oldest_not_lent(const File& file) const;
  /// Gives the put its place in the rank's order of puts, which all ranks number alike: nothing may refuse
  /// the put afterwards that other ranks accept.
  void take_position(Handover& handover);
  /// Says on all links of the file that the put asks for no frame before `frame` of the layout.
  void advance_to(const Handover& handover, std::uint32_t frame);
  Result<> check_range(const Handover& handover, const void* data);
  [[nodiscard]] std::size_t owner(const Handover& handover, const PiecePlan& piece) const;
  transport::FrameSlot slot(const Handover& handover, const PiecePlan& piece) const;
  void remember_put(const File& file, std::uint32_t variable, std::uint64_t record);
  /// What a put asks of one server.
  struct Share {
    std::size_t server = 0;
    std::vector<transport::FrameSlot> slots;
    std::uint64_t packed_bytes = 0;
  };
  [[nodiscard]] std::vector<Share> shares(const Handover& handover) const;
  Result<> check_fits(const Handover& handover) const;
  Result<bool> has_room(const Handover& handover, transport::RoomFor use);
  bool waited_too_long_for_room(const Handover& handover);
  [[nodiscard]] bool lies_in_frames(const Handover& handover) const;
  Result<std::optional<std::vector<std::byte*>>> lend_frames(const Handover& handover);
  Result<> copy_pieces(const Handover& handover, const void* data);
  Result<> copy_piece(const Handover& handover, const PiecePlan& part, const void* data);
  Result<> finish(const Handover& handover);
  [[nodiscard]] std::uint64_t waited_for_room_ns(const File& file) const;
  void account_for_room(std::uint64_t waited_ns);
  Result<> check_no_slot_out(const char* call, const File* file = nullptr);
  Result<> end_records(std::size_t server, std::uint64_t step);
  Result<> wait_until(const std::function<bool()>& reached, const std::string& what,
                      transport::Millis slice = transport::Millis(50));
  Result<> wait_for_all(const std::string& what);
  /// Those that a wait is about, by number.
  [[nodiscard]] std::set<std::size_t> awaited_servers() const;
  [[nodiscard]] std::uint64_t progress() const;
  std::string only_never_heard(std::set<std::size_t>& servers);
  Error stalled(const std::string& what, std::uint64_t limit_ns);
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
  Error with_work(Error error) const;

  Place place_;
  const config::Config& config_;
  Links links_;
  Pools pools_;
  observe::Profile& profile_;
  Logger logger_;
  Arrive arrive_;                     ///< synchronous if there is one
  std::vector<bool> lost_;            ///< one per server: its link failed, nothing more is sent there
  std::vector<bool> never_answered_;  ///< one per server: this rank has waited for it in vain

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
  struct SlotOut {
    std::uint64_t file = 0;
    const Collection* collection = nullptr;
    std::size_t server = 0;  ///< that leads the file
    std::uint64_t seq = 0;
    std::string what;
  };
  std::map<std::uint64_t, SlotOut> slots_out_;  ///< acquired, neither committed nor forgotten, by number
  std::uint64_t next_slot_ = 0;
  struct {
    std::uint64_t position = 0;
    std::uint64_t seq = 0;
    std::uint64_t since_ns = 0;
  } refused_;                             ///< the try_put that had no room last
  std::vector<std::byte> range_scratch_;  ///< for check_range; its memory is kept
  std::vector<std::byte> encoded_;        ///< of the message being sent; its memory is kept
  wire::EndRecords ended_;                ///< likewise
  std::uint64_t next_file_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t next_ticket_ = 0;
  std::uint64_t waited_for_files_ns_ = 0;
  std::uint64_t room_accounted_ns_ = 0;  ///< of waits for room: what is in the profile
  struct Pending {
    std::size_t servers = 0;  ///< that have not answered
    std::string file;         ///< the first that it waits for
    std::size_t more = 0;     ///< files
    [[nodiscard]] std::string text() const;
  };
  std::map<std::uint64_t, Pending> pending_;            ///< by ticket
  std::map<std::uint64_t, std::set<std::size_t>> owe_;  ///< by ticket: servers that have not answered
  std::uint64_t awaited_ticket_ = 0;                    ///< that a wait is about; 0: it is about all servers
  std::map<std::uint64_t, std::vector<std::function<void()>>> on_complete_;  ///< by ticket
  std::uint64_t next_epoch_ = 0;
  std::uint64_t last_epoch_ticket_ = 0;
  Destinations destinations_;
  OutputDirectories output_directories_;
  std::vector<std::uint64_t> strings_put_;  ///< one a server
  struct {
    const Collection* collection = nullptr;
    std::uint64_t file = ~std::uint64_t{0};
    std::string path;
    std::uint32_t variable = 0;
    std::uint64_t record = 0;
  } last_put_;
  std::string awaited_;  ///< the file that a wait is about
  std::vector<bool> bye_;
  bool finalized_ = false;
  bool told_by_server_ = false;      ///< that the session has failed
  bool reported_ = false;            ///< the failure, on stderr, by whoever found it
  std::optional<Error> failure_;     ///< the session cannot go on
  std::optional<Error> last_error_;  ///< of a call; the session may go on
  std::function<bool()> idle_;
  bool inside_call_ = false;  ///< see observe::TimedCall

  struct {
    observe::Timer *put, *define, *end_step, *close, *flush, *epoch, *wait, *finalize, *open_input, *get,
        *prefetch;
    observe::Counter *bytes, *messages, *read_bytes;
  } observed_{};
};

}  // namespace afterbay::client
