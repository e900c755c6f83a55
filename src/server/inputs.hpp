// SPDX-License-Identifier: Apache-2.0
// Inputs: files that are read. Workers read pieces of variables, with priority over writing, into a
// memory of fixed size, where they stay until the room is needed. Ranks on this node copy their
// parts out of it; for other ranks the parts are packed. Used by the ingest thread.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "model/input_cut.hpp"
#include "observe/profile.hpp"
#include "server/catalog.hpp"
#include "server/input_room.hpp"
#include "server/workers.hpp"
#include "storage/input/input_file.hpp"
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
    std::function<void(std::function<void()>)> back;
  };
  explicit Inputs(Host host);

  // Messages from model rank `peer`. Errors of a file are sent to the rank; these calls fail only
  // if a message is invalid.
  Result<> open(std::size_t peer, const wire::OpenInput& message);
  Result<> get(std::size_t peer, wire::GetInput message);
  Result<> taken(std::size_t peer, const wire::InputTaken& message);
  Result<> strings(std::size_t peer, const wire::GetInputStrings& message);
  Result<> close(std::size_t peer, const wire::CloseInput& message);
  /// The rank requests nothing more.
  void forget(std::size_t peer);

  /// Continues with pieces that wait for room and messages that a rank could not receive; returns
  /// true if it did any work.
  bool advance();

 private:
  struct File {
    std::uint64_t id = 0;
    std::string path;
    std::unique_ptr<storage::InputFile> file;  ///< once it is open
    std::optional<Error> error;                ///< the reason if it could not be opened
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
    /// Number of ranks that were notified and are copying, and of messages that wait to be packed.
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

  void opened(std::uint64_t id, Result<std::unique_ptr<storage::InputFile>> file);
  void answer_open(const File& file, std::size_t peer);
  bool start_reading(const Key& key, Entry& entry);
  std::optional<std::uint64_t> make_room(std::uint64_t bytes, bool demanded);
  void read(const Key& key, Entry& entry, File& file);
  void ready(const Key& key, Result<storage::ReadCost> cost);
  void failed(const Key& key, const Error& error);
  void tell(const Key& key, Entry& entry, const Waiter& waiter);
  void tell_far(const Reply& reply);
  Result<std::vector<std::byte>> packed(const Key& key, const Entry& entry, const Waiter& waiter);
  void close_if_unused(std::uint64_t id);
  Result<> lend_memory();
  /// Allocates the memory up to `bytes`.
  Result<> allocate(std::uint64_t bytes);

  Host host_;
  model::InputSizes sizes_;
  InputRoom room_;
  std::optional<transport::shm::SharedMemory> memory_;
  /// The part of the memory from its beginning that is allocated.
  std::uint64_t allocated_bytes_ = 0;
  std::vector<bool> has_memory_;  ///< by model rank: whether it was told the memory's address
  std::map<std::uint64_t, File> files_;
  Entries entries_;
  std::deque<Key> demanded_;  ///< wait for room, in the order of the requests
  std::deque<Key> ahead_;     ///< likewise, read ahead: only if nothing is demanded
  std::deque<Reply> replies_;
  std::map<Told, Key> out_;
  std::uint64_t uses_ = 0;
  struct {
    observe::Timer *open, *read, *decode, *library, *disk;
    observe::Counter *bytes, *pieces;
  } observed_{};
};

}  // namespace afterbay::server
