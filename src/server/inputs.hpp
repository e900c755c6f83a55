// SPDX-License-Identifier: Apache-2.0
// Inputs: files that are read. Workers read pieces of variables, with priority over writing, into a
// memory of fixed size, where they stay until the room is needed. Ranks on this node copy their
// parts out of it. To other ranks the parts are sent: directly out of this memory if they consist
// of long runs, otherwise packed. Used by the ingest thread.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "model/input_cut.hpp"
#include "observe/profile.hpp"
#include "server/catalog.hpp"
#include "server/input_room.hpp"
#include "server/read_cells.hpp"
#include "server/reply_queue.hpp"
#include "server/thread_functions.hpp"
#include "server/workers.hpp"
#include "storage/input/stored_file.hpp"
#include "transport/buffer_pool.hpp"
#include "transport/link.hpp"
#include "transport/shm/mapping.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::server {

class Inputs {
 public:
  /// The parts of the server that it uses. `back` calls a function in the ingest thread; it is
  /// called by workers.
  struct Host {
    const config::Config& config;
    transport::ServerPort& port;
    Catalog& catalog;
    Workers& workers;
    observe::Profile& profile;
    AnyThreadFunction<void(IngestFunction<void()>)> back;
  };
  explicit Inputs(Host host);

  // Messages from model rank `peer`. Errors of a file are sent to the rank; these calls fail only
  // if a message is invalid.
  Result<> open(std::size_t peer, const wire::OpenInput& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> get(std::size_t peer, wire::GetInput message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> taken(std::size_t peer, const wire::InputTaken& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> strings(std::size_t peer, const wire::GetInputStrings& message) AFTERBAY_REQUIRES(ingest_thread);
  Result<> close(std::size_t peer, const wire::CloseInput& message) AFTERBAY_REQUIRES(ingest_thread);
  /// The rank requests nothing more.
  void forget(std::size_t peer) AFTERBAY_REQUIRES(ingest_thread);

  /// Continues with pieces that wait for room and replies that wait for others to arrive; returns
  /// true if it did any work.
  bool advance() AFTERBAY_REQUIRES(ingest_thread);
  /// The points of a map by which a rank reads.
  Result<> add_cells(std::size_t peer, wire::InputCells message) AFTERBAY_REQUIRES(ingest_thread) {
    return cells_.add(peer, std::move(message));
  }

 private:
  struct File {
    std::uint64_t id = 0;
    std::string path;
    std::unique_ptr<storage::StoredFile> file;  ///< once it is open
    std::optional<Error> error;                 ///< the reason if it could not be opened
    bool opening = true;
    std::vector<std::size_t> to_answer;
    std::vector<bool> users;            ///< by model rank: whether it has the file open
    std::size_t reading = 0;            ///< number of tasks of workers
    std::vector<model::InputCut> cuts;  ///< one per variable
  };
  struct Key {
    std::uint64_t input = 0;
    std::uint32_t variable = 0;
    std::uint64_t record = 0;
    std::uint64_t piece = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Waiter {
    std::size_t peer = 0;
    std::uint64_t request = 0;
    std::shared_ptr<const wire::InputPart> part;  ///< for ranks on other nodes
  };
  struct Entry {
    enum class State { waiting, reading, ready } state = State::waiting;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::vector<Waiter> waiters;  ///< to be notified when it is ready
    /// Number of ranks that were notified and are copying, and of replies that wait or are sent out
    /// of this memory.
    std::size_t pins = 0;
    std::size_t taken = 0;   ///< number of ranks that have taken it
    std::uint64_t used = 0;  ///< time of the last use, as a running number
  };
  struct Reply {
    Key key;
    Waiter waiter;
  };
  /// A rank that is copying a piece out of the memory.
  struct Told {
    std::size_t peer = 0;
    std::uint64_t request = 0;
    std::uint64_t piece = 0;
    auto operator<=>(const Told&) const = default;
  };
  using Entries = std::map<Key, Entry>;

  void opened(std::uint64_t id, Result<std::unique_ptr<storage::StoredFile>> file)
      AFTERBAY_REQUIRES(ingest_thread);
  void answer_open(const File& file, std::size_t peer) AFTERBAY_REQUIRES(ingest_thread);
  bool start_reading(const Key& key, Entry& entry) AFTERBAY_REQUIRES(ingest_thread);
  std::optional<std::uint64_t> make_room(std::uint64_t bytes, bool demanded) AFTERBAY_REQUIRES(ingest_thread);
  void read(const Key& key, Entry& entry, File& file) AFTERBAY_REQUIRES(ingest_thread);
  void ready(const Key& key, Result<storage::ReadCost> cost) AFTERBAY_REQUIRES(ingest_thread);
  void failed(const Key& key, const Error& error) AFTERBAY_REQUIRES(ingest_thread);
  void tell(const Key& key, Entry& entry, const Waiter& waiter) AFTERBAY_REQUIRES(ingest_thread);
  /// A rank's part of a piece, to be sent.
  struct FarPart {
    transport::OutgoingData data;
    std::uint64_t bytes = 0;
    bool is_copy = false;  ///< the piece is no longer needed for it
  };
  void tell_far(const Reply& reply) AFTERBAY_REQUIRES(ingest_thread);
  Result<FarPart> far_part(const Reply& reply) AFTERBAY_REQUIRES(ingest_thread);
  Result<FarPart> part_of_box(const Reply& reply, const File& file) AFTERBAY_REQUIRES(ingest_thread);
  Result<FarPart> part_of_map(const Reply& reply, const File& file) AFTERBAY_REQUIRES(ingest_thread);
  /// Memory for `bytes` that are packed, and where they go.
  FarPart copy_of(std::uint64_t bytes, std::byte*& to) AFTERBAY_REQUIRES(ingest_thread);
  void unpin(const Key& key) AFTERBAY_REQUIRES(ingest_thread);
  void close_if_unused(std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread);
  Result<> lend_memory() AFTERBAY_REQUIRES(ingest_thread);
  /// Allocates the memory up to `bytes`.
  Result<> allocate(std::uint64_t bytes) AFTERBAY_REQUIRES(ingest_thread);

  Host host_;
  model::InputSizes sizes_;
  InputRoom room_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::shared_ptr<transport::shm::SharedMemory> memory_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// The part of the memory from its beginning that is allocated.
  std::uint64_t allocated_bytes_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  /// By model rank: whether it was told the memory's address.
  std::vector<bool> has_memory_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::map<std::uint64_t, File> files_ AFTERBAY_GUARDED_BY(ingest_thread);
  Entries entries_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// Requests that wait for room, in order.
  std::deque<Key> demanded_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// Reads ahead that wait for room: served only if nothing is demanded.
  std::deque<Key> ahead_ AFTERBAY_GUARDED_BY(ingest_thread);
  ReplyQueue<Reply> replies_ AFTERBAY_GUARDED_BY(ingest_thread);
  transport::BufferPool packed_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::map<Told, Key> out_ AFTERBAY_GUARDED_BY(ingest_thread);
  ReadCells cells_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t uses_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  struct {
    observe::Timer *open, *read, *decode, *library, *disk;
    observe::Counter *bytes, *pieces, *replied, *peak_replies;
  } observed_{};
};

}  // namespace afterbay::server
