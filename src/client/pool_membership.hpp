// SPDX-License-Identifier: Apache-2.0
// PoolMembership: a collection among the servers of one of its pools: which of them write its
// files, and which server writes which file or part. Every rank makes the same choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "config/config.hpp"
#include "model/format.hpp"
#include "model/frame_owners.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

/// Servers are numbered as in the session.
class PoolMembership {
 public:
  /// How the files of a collection are written.
  struct Files {
    config::Placement placement = config::Placement::collection;
    Format format = Format::netcdf4;
    config::Existing existing = config::Existing::refuse;
  };

  /// In no pool.
  PoolMembership() = default;
  /// `servers`: those of the pool, ascending. `session_servers`: number of servers in the session.
  /// `number`: the collection's, among those of the pool.
  PoolMembership(std::vector<std::size_t> servers, std::size_t session_servers, std::size_t number,
                 const Files& files);

  /// The servers of the pool; only these write files of the collection.
  [[nodiscard]] const std::vector<std::size_t>& servers() const noexcept { return servers_; }
  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  /// Whether the server may write files of the collection.
  [[nodiscard]] bool serves(std::size_t server) const noexcept;
  /// Whether all servers of the pool write each file, and how they divide it.
  [[nodiscard]] bool is_split() const noexcept { return split_ != model::Split::none; }
  [[nodiscard]] model::Split split() const noexcept { return split_; }
  /// Whether each file may go to another server.
  [[nodiscard]] bool takes_turns() const noexcept {
    return placement_ == config::Placement::file || placement_ == config::Placement::least;
  }
  /// Whether each file goes to the least loaded server of the pool.
  [[nodiscard]] bool takes_least_loaded() const noexcept {
    return placement_ == config::Placement::least && servers_.size() > 1;
  }

  /// The server of the collection's next file with a new name (with placement `file`, servers take
  /// turns). If several servers write the file, this is its leader.
  [[nodiscard]] std::size_t server_of(std::uint64_t nth_file) const noexcept;
  /// Adds the servers that may write the next file, for a choice by load. `files`: number of files
  /// in this pool so far.
  void add_candidates(std::vector<wire::Candidate>& candidates, std::uint64_t files) const;

  /// Slabs: the first server of the pool gets the first part. Otherwise, with fewer frames than
  /// servers, collections begin with different ones, so that all get some.
  void begin_with_first() noexcept { begins_with_first_ = true; }
  /// The server with the first part of split files. Slabs begin with the first server of the pool,
  /// whose servers are in the order of their ranks, and so of their nodes: if ranks are too, parts
  /// lie near.
  [[nodiscard]] std::size_t first_owner() const noexcept {
    return begins_with_first_ ? servers_.front() : server_of(0);
  }
  /// The server that has all frames of one owner, if the collection is split: the same for all
  /// files, so that each server needs to know its own frames only.
  [[nodiscard]] std::size_t server_of_owner(std::uint16_t owner) const noexcept {
    return servers_[(places_[first_owner()] + owner) % servers_.size()];
  }

 private:
  std::vector<std::size_t> servers_;
  std::vector<std::size_t> places_;  ///< per server of the session: its index in servers_, or none
  std::size_t number_ = 0;           ///< the collection's number among the pool's collections
  config::Placement placement_ = config::Placement::collection;
  model::Split split_ = model::Split::none;
  bool begins_with_first_ = false;
};

}  // namespace afterbay::client
