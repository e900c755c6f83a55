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
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/input.hpp"
#include "base/result.hpp"
#include "client/decomposition.hpp"
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
  Result<> get(Input& input, std::string_view variable, const Selection& what, void* data, Type type,
               const MemoryLayout& memory);
  Result<> prefetch(Input& input, std::string_view variable, const Selection& what);
  Result<std::vector<std::string>> get_strings(Input& input, std::string_view variable, std::uint64_t record);
  Result<> close_input(Input& input);
  Result<> close_all();

  // Answers of servers.
  void answer(wire::InputOpened message);
  void answer(std::size_t server, wire::InputPiece message);
  void answer(wire::InputStrings message);
  Result<> map_memory(std::size_t server, const wire::InputMemory& message);

 private:
  /// The pieces of one record for which a rank waits in a `get`.
  struct Fetch {
    std::uint64_t number = 0;
    std::size_t missing = 0;  ///< number of pieces
    /// With the server that sent each.
    std::deque<std::pair<std::size_t, wire::InputPiece>> arrived;
    std::optional<Error> error;
    std::uint64_t out_of_range = 0;
  };

  tl::unexpected<Error> report(Error error, const Input& input, std::string_view variable);
  Result<ReadPlan> plan_read(const Input& input, std::string_view variable, Selection& what, Type type,
                             const MemoryLayout& memory);
  Result<> ask_for(const Input& input, const ReadPlan& plan, std::uint64_t record, std::uint64_t request,
                   bool ahead);
  Result<> fetch(const Input& input, const ReadPlan& plan, std::uint64_t record, std::byte* data,
                 std::uint64_t& out_of_range);
  Result<> take(const ReadPlan& plan, Fetch& fetch, std::byte* data);
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
  std::map<std::uint64_t, Fetch*> fetches_;  ///< incomplete fetches, by number
  std::map<std::uint64_t, std::optional<wire::InputStrings>> strings_fetches_;
  std::uint64_t next_input_ = 0;
  std::uint64_t last_fetch_ = 0;
  struct {
    observe::Timer *open_input, *get, *prefetch;
    observe::Counter* read_bytes;
  } observed_;
};

}  // namespace afterbay::client
