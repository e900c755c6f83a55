// SPDX-License-Identifier: Apache-2.0
// Reader: files that a model rank reads. The rank requests the pieces of a record that it needs
// from the servers, and copies its part out of each piece as it arrives, from the server's memory
// or from the message. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/input.hpp"
#include "base/result.hpp"
#include "client/decomposition.hpp"
#include "client/described_cells.hpp"
#include "client/input.hpp"
#include "client/session_core.hpp"
#include "observe/profile.hpp"
#include "transport/shm/mapping.hpp"

namespace afterbay::client {

class Reader {
 public:
  /// Functions that the session provides.
  struct Host {
    /// A decomposition by name, once the servers know it.
    std::function<Result<const Decomposition*>(const std::string& name)> decomposition;
    /// The part file of the output that is open under that name, once the last epoch is complete;
    /// nullopt if it is not open.
    std::function<Result<std::optional<std::string>>(const std::string& path)> part_as_of_epoch;
    /// Waits until output that was closed under that name is published.
    std::function<Result<>(const std::string& path)> wait_for_output;
  };

  /// `readers`: the servers that read files.
  Reader(SessionCore& core, std::vector<std::size_t> readers, model::InputSizes sizes,
         observe::Profile& profile, Host host);

  Result<std::shared_ptr<Input>> open_input(const std::string& path, const InputOptions& options);
  Result<> get(const std::shared_ptr<Input>& input, std::string_view variable, const Selection& what,
               void* data, Type type, const MemoryLayout& memory);
  Result<> prefetch(Input& input, std::string_view variable, const Selection& what);
  Result<std::vector<std::string>> get_strings(Input& input, std::string_view variable, std::uint64_t record);
  Result<> close_input(Input& input);
  Result<> close_all();

  // ---- reading without waiting, for endpoints

  class Job;
  /// Begins to read into `data`, which must stay valid until the job has ended. `part`: the
  /// decomposition that `what` names, or a part of it; null: none.
  Result<std::unique_ptr<Job>> begin(const std::shared_ptr<Input>& input, std::string_view variable,
                                     const Selection& what, const Decomposition* part, void* data, Type type,
                                     const MemoryLayout& memory);
  /// Goes on as far as the servers' answers allow; returns whether the job has ended. Its result is
  /// the error.
  Result<bool> advance(Job& job);
  /// Takes no more answers for it.
  void end(Job& job);
  [[nodiscard]] bool is_synchronous() const noexcept { return core_.is_synchronous(); }

  // Answers of servers.
  void answer(wire::InputOpened message);
  /// Copies this rank's part out of the piece at once, while it is in the cache.
  Result<> answer(std::size_t server, const wire::InputPiece& piece);
  void answer(wire::InputStrings message);
  Result<> map_memory(std::size_t server, const wire::InputMemory& message);

 private:
  /// The pieces of one record for which a rank waits.
  struct Fetch {
    const ReadPlan* plan = nullptr;
    std::uint64_t number = 0;
    std::uint64_t record = 0;
    std::byte* to = nullptr;  ///< the record's place in the caller's array
    std::size_t missing = 0;  ///< number of pieces
    std::optional<Error> error;
    std::uint64_t out_of_range = 0;
  };

  tl::unexpected<Error> report(Error error, const Input& input, std::string_view variable);
  Result<ReadPlan> plan_read(const Input& input, std::string_view variable, Selection& what,
                             const Decomposition* part, Type type, const MemoryLayout& memory);
  /// The decomposition that the selection names; null: none.
  Result<const Decomposition*> named_by(const Selection& what);
  Result<> describe_cells(std::size_t server, const ReadPlan& plan, std::span<const ReadPiece* const> pieces);
  Result<> ask_for(const Input& input, const ReadPlan& plan, std::uint64_t record, std::uint64_t request,
                   bool ahead);
  /// Requests the pieces that `fetch` describes. It must stay in place until it has ended.
  Result<> begin(const Input& input, Fetch& fetch);
  /// Requests what is to be requested next.
  Result<> ask(Job& job);
  /// Takes the oldest record, all of whose pieces are in the caller's array.
  void take_record(Job& job);
  /// The server that reads a piece.
  [[nodiscard]] std::size_t reader_of(const Input& input, std::uint32_t variable, std::uint64_t piece) const {
    return readers_[(input.id + variable + piece) % readers_.size()];
  }

  SessionCore& core_;
  std::vector<std::size_t> readers_;
  model::InputSizes sizes_;
  Host host_;
  std::vector<std::shared_ptr<Input>> inputs_;  ///< open inputs
  /// One per server: its input memory, if shared.
  std::vector<transport::shm::Mapping> input_memory_;
  DescribedCells described_;
  std::map<std::uint64_t, Fetch*> fetches_;  ///< incomplete fetches, by number
  std::map<std::uint64_t, std::optional<wire::InputStrings>> strings_fetches_;
  std::uint64_t next_input_ = 0;
  std::uint64_t last_fetch_ = 0;
  struct {
    observe::Timer *open_input, *get, *prefetch;
    observe::Counter* read_bytes;
  } observed_;
};

/// Some records of a variable that are being read. The next record is requested before the last one
/// has arrived. After an error, what was requested still has to be taken: servers keep it until
/// then.
class Reader::Job {
 public:
  Job(std::shared_ptr<Input> from, ReadPlan how, const Selection& selection, std::byte* to, Type as)
      : input(std::move(from)), plan(std::move(how)), what(selection), data(to), type(as) {}

  std::shared_ptr<Input> input;
  ReadPlan plan;
  Selection what;
  std::byte* data;
  Type type;  ///< type of the array
  std::deque<Fetch> under_way;
  std::uint64_t asked = 0;
  std::uint64_t ahead = 0;
  std::uint64_t taken = 0;
  std::uint64_t out_of_range = 0;
  Result<> result;

  /// Whether a record has arrived, or nothing is under way.
  [[nodiscard]] bool can_advance() const { return under_way.empty() || under_way.front().missing == 0; }
  [[nodiscard]] bool ended() const { return under_way.empty() && (!result || asked == what.records); }
  /// For errors.
  [[nodiscard]] std::string text() const;
};

}  // namespace afterbay::client
