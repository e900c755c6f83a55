// SPDX-License-Identifier: Apache-2.0
// Inputs: files that are read. Pieces of variables are read by workers, ahead of what is to be written, into
// a memory of fixed size, and stay there until the room is needed: ranks on this node copy their parts out of
// it, for the others they are packed. Used by the ingest thread.
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
  /// What it uses of its server. `back` has the ingest thread call something, from a worker.
  struct Host {
    const config::Config& config;
    transport::ServerPort& port;
    Catalog& catalog;
    Workers& workers;
    observe::Profile& profile;
    std::function<void(std::function<void()>)> back;
  };
  explicit Inputs(Host host);

  // From model rank `peer`. What is wrong with a file is told to the rank; these fail only when a message
  // makes no sense.
  Result<> open(std::size_t peer, const wire::OpenInput& message);
  Result<> get(std::size_t peer, wire::GetInput message);
  Result<> taken(std::size_t peer, const wire::InputTaken& message);
  Result<> strings(std::size_t peer, const wire::GetInputStrings& message);
  Result<> close(std::size_t peer, const wire::CloseInput& message);
  /// The rank asks for nothing more.
  void forget(std::size_t peer);

  /// Goes on with what waits for room or for a rank to take its messages; true: did something.
  bool advance();

 private:
  struct File {
    std::uint64_t id = 0;
    std::string path;
    std::unique_ptr<storage::InputFile> file;  ///< once it is open
    std::optional<Error> error;                ///< why it is not
    bool opening = true;
    std::vector<std::size_t> to_answer;
    std::vector<bool> users;            ///< by model rank: opened and not closed
    std::size_t reading = 0;            ///< tasks of workers
    std::vector<model::InputCut> cuts;  ///< one a variable
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
    std::shared_ptr<const wire::InputPart> part;  ///< far ranks
  };
  struct Entry {
    enum class State { waiting, reading, ready } state = State::waiting;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::vector<Waiter> waiters;  ///< to be told when it is ready
    std::size_t pins = 0;         ///< ranks that were told and copy now, and messages that wait to be packed
    std::size_t taken = 0;        ///< by ranks, so far
    std::uint64_t used = 0;       ///< when last, as a running number
  };
  struct Reply {
    Key key;
    Waiter waiter;
  };
  /// A rank that copies a piece out of the memory now.
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
  std::uint64_t allocated_bytes_ = 0;  ///< of it, from its beginning
  std::vector<bool> has_memory_;       ///< by model rank: was told where it is
  std::map<std::uint64_t, File> files_;
  Entries entries_;
  std::deque<Key> demanded_;  ///< wait for room, in the order of the questions
  std::deque<Key> ahead_;     ///< likewise, prefetched: when nothing is demanded
  std::deque<Reply> replies_;
  std::map<Told, Key> out_;
  std::uint64_t uses_ = 0;
  struct {
    observe::Timer *open, *read, *decode, *library, *disk;
    observe::Counter *bytes, *pieces;
  } observed_{};
};

}  // namespace afterbay::server
