// SPDX-License-Identifier: Apache-2.0
// JointRank: the parts with which several callers of one model rank put into a file, joined as a
// session joins them, but without one. The links are those of the thread transport; the test plays
// the servers. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/part_endpoint.hpp"
#include "client/pools.hpp"
#include "transport/thread/hub.hpp"

namespace afterbay::test {

/// Rank 3 of the session, the only model rank. It holds the decompositions "line", all of `cells`
/// points, and "odd points", the odd ones of them.
class JointRank {
 public:
  struct Options {
    /// With one server, a record of the file has the variables v (float64, on the line, 4 pieces),
    /// k (int16, on the line, one piece), m (float64, on the odd points, 4 pieces) and mark
    /// (float64, one value, without a decomposition), and fixed (float64, on the line) is without
    /// records. Several servers share the file in slabs, and it has the variable v only.
    std::size_t servers = 1;
    bool one_thread = false;     ///< threads share nothing of the links, as over MPI
    std::uint64_t blocks = 128;  ///< blocks in a server's memory: a frame, here a piece, takes one
    std::chrono::milliseconds deadline{20000};
    std::uint64_t memory_bytes = 64u << 20;  ///< see JointPuts::Limits
  };
  static constexpr std::uint64_t cells = 8192;
  static constexpr std::uint64_t piece_cells = 2048;  ///< cells in a piece of v
  static constexpr int session_rank = 3;

  explicit JointRank(const Options& options);
  ~JointRank();

  [[nodiscard]] client::SessionCore& core() { return *core_; }
  [[nodiscard]] client::JointPuts& joint() { return *joint_; }
  [[nodiscard]] observe::Profile& profile() { return profile_; }
  [[nodiscard]] const client::Decomposition& line() const { return decompositions_[0]; }
  [[nodiscard]] const client::Decomposition& odd_points() const { return decompositions_[1]; }
  /// "c.nc", open.
  [[nodiscard]] const std::shared_ptr<client::File>& file() const { return file_; }
  /// Another file of the same collection.
  [[nodiscard]] std::shared_ptr<client::File> another_file(const std::string& path);
  [[nodiscard]] std::uint32_t variable(std::string_view name) const {
    return file_->collection->index_of(name).value();
  }
  [[nodiscard]] transport::ServerPort& port(std::size_t server) { return *ports_[server]; }
  /// Called with messages of servers.
  std::function<Result<>(std::size_t server, std::span<const std::byte> message)> handle;

  // ---- callers

  /// JointPuts::start without records.
  void start();
  [[nodiscard]] std::shared_ptr<client::Member> session() {
    return joint_->in_team([](client::Team& team) { return team.session(); });
  }
  [[nodiscard]] std::shared_ptr<client::Member> join(const std::string& name) {
    return joint_->in_team([&](client::Team& team) { return team.join(name); });
  }
  /// With the part [first, first + count) of the line; unless count is 0.
  std::unique_ptr<client::PartEndpoint> endpoint(const std::string& name, std::uint64_t first = 0,
                                                 std::uint64_t count = 0);
  /// Runs `task` as a call of the session in this thread, which then may do the session's work.
  template <class Task>
  auto in_session(const char* call, Task task) {
    const char* other = nullptr;
    client::SessionLock& lock = joint_->links().lock();
    const bool entered = lock.enter(call, other);
    EXPECT_TRUE(entered) << other;
    auto result = task();
    lock.leave();
    return result;
  }
  /// The session ends its step, as ModelSession::end_step.
  Result<> end_session_step();
  /// What the session's thread does now and then.
  Result<> tend() {
    return in_session("progress", [this] { return joint_->tend(); });
  }

  // ---- servers

  /// What a server got since the last call, in order: "begin record 3 as 0", "begin fixed as 1",
  /// "v[2] of 0" (a complete piece, which is a frame), "put v of 0", "end before 1 in step 1",
  /// with "(within it)" after that for records of a step that goes on.
  std::vector<std::string> received(std::size_t server = 0);
  /// Where the rank said last that it is in its order of puts, as transport::shm::order_of.
  [[nodiscard]] std::uint64_t order_at(std::size_t server) const;
  /// The number of a piece's frame at its server.
  [[nodiscard]] std::uint32_t frame_of(std::string_view variable, std::uint32_t piece);
  /// The server has written the piece of the record with this running number: there is room again.
  void write(std::string_view variable, std::uint32_t piece, std::uint64_t seq);
  /// The values of a variable in the servers' memory, in the order of the file. Those of pieces
  /// that are not there are missing.
  template <class T>
  [[nodiscard]] std::vector<T> values(std::string_view variable, std::uint64_t seq) {
    std::vector<T> all;
    for (std::uint32_t p = 0; p < pieces_of(variable); ++p)
      for (const T value : piece_values<T>(variable, p, seq)) all.push_back(value);
    return all;
  }
  template <class T>
  [[nodiscard]] std::vector<T> piece_values(std::string_view variable, std::uint32_t piece,
                                            std::uint64_t seq) {
    const std::span<const std::byte> bytes = piece_bytes(variable, piece, seq);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  [[nodiscard]] std::uint32_t pieces_of(std::string_view name) const {
    return file_->collection->layout().variables[variable(name)].piece_count;
  }

 private:
  struct Place {
    std::size_t server = 0;
    model::Frame frame;
    std::uint32_t number = 0;  ///< the frame's number at its server
    model::Piece piece;
  };
  [[nodiscard]] Place place_of(std::string_view variable, std::uint32_t piece) const;
  [[nodiscard]] std::span<const std::byte> piece_bytes(std::string_view variable, std::uint32_t piece,
                                                       std::uint64_t seq);
  void make_collection(std::size_t servers);
  void declare_frames();
  [[nodiscard]] std::string text_of(std::size_t server, std::span<const std::byte> message) const;
  [[nodiscard]] std::string piece_text(std::size_t server, std::uint32_t number) const;

  config::Config config_;
  observe::Profile profile_;
  std::vector<std::unique_ptr<transport::ServerPort>> ports_;
  std::vector<client::Decomposition> decompositions_;
  std::optional<client::Pools> pools_;
  std::unique_ptr<client::Collection> collection_;
  std::shared_ptr<client::File> file_;
  std::uint64_t next_file_ = 0;
  std::optional<client::SessionCore> core_;
  std::optional<client::RankPuts> rank_puts_;
  std::optional<client::DirectPuts> rank_;
  std::optional<client::SharedLinks> links_;
  std::optional<client::JointPuts> joint_;
};

}  // namespace afterbay::test
