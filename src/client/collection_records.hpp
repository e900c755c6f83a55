// SPDX-License-Identifier: Apache-2.0
// CollectionRecords: the records of one collection that this rank has begun, as numbered on each
// server.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transport/link.hpp"

namespace afterbay::client {

/// A record is a (file, record) pair with a running number, `seq`, which is the same on all servers
/// of the file. Every rank begins the same records in the same order.
class CollectionRecords {
 public:
  /// Largest number of open records per server: half of the instances of a frame that may be in
  /// memory.
  static constexpr std::size_t most_open = transport::LinkSizes::least_instances / 2;

  struct Record {
    std::uint64_t file = 0;
    std::uint64_t record = 0;
    bool fixed = false;  ///< the record of the variables without the record dimension
    std::uint64_t seq = 0;
  };

  explicit CollectionRecords(std::size_t servers) : servers_(servers) {}

  /// The number of the collection's first frame in the server's table.
  [[nodiscard]] std::uint32_t first_frame(std::size_t server) const { return servers_[server].first_frame; }
  void set_first_frame(std::size_t server, std::uint32_t frame) { servers_[server].first_frame = frame; }

  /// The seq of an open record.
  [[nodiscard]] std::optional<std::uint64_t> find(std::size_t server, std::uint64_t file,
                                                  std::uint64_t record, bool fixed) const {
    const std::vector<Record>& open = servers_[server].open;
    for (auto it = open.rbegin(); it != open.rend(); ++it)
      if (it->file == file && it->record == record && it->fixed == fixed) return it->seq;
    return std::nullopt;
  }
  [[nodiscard]] bool is_full(std::size_t server) const { return servers_[server].open.size() >= most_open; }
  [[nodiscard]] std::uint64_t next_seq(std::size_t server) const { return servers_[server].next_seq; }
  void begin(std::size_t server, const Record& record) {
    servers_[server].next_seq = record.seq + 1;
    servers_[server].open.push_back(record);
  }
  /// The seq of the oldest open record. Requires an open record.
  [[nodiscard]] std::uint64_t oldest(std::size_t server) const { return servers_[server].open.front().seq; }
  /// Ends the oldest open record. All records below the returned seq have ended.
  std::uint64_t end_oldest(std::size_t server) {
    Server& it = servers_[server];
    it.ended_seq = it.open.front().seq + 1;
    it.open.erase(it.open.begin());
    return it.ended_seq;
  }
  /// Ends the open records up to `seq`. All records below the returned seq have ended.
  std::uint64_t end_up_to(std::size_t server, std::uint64_t seq) {
    Server& it = servers_[server];
    std::erase_if(it.open, [&](const Record& record) { return record.seq <= seq; });
    return it.ended_seq = std::max(it.ended_seq, seq + 1);
  }
  /// The open records, in order of seq.
  [[nodiscard]] const std::vector<Record>& open(std::size_t server) const { return servers_[server].open; }
  /// Ends all records. All records below the returned seq have ended; nullopt if none has ended
  /// since the last call.
  std::optional<std::uint64_t> end_all(std::size_t server) {
    Server& it = servers_[server];
    it.open.clear();
    if (it.ended_seq == it.next_seq) return std::nullopt;
    return it.ended_seq = it.next_seq;
  }
  /// Removes the open records of a closed file.
  void end_file(std::size_t server, std::uint64_t file) {
    std::erase_if(servers_[server].open, [&](const Record& record) { return record.file == file; });
  }

 private:
  struct Server {
    std::uint32_t first_frame = 0;
    std::uint64_t next_seq = 0;
    std::uint64_t ended_seq = 0;  ///< the server has been told that all records below have ended
    std::vector<Record> open;     ///< in order of seq
  };
  std::vector<Server> servers_;
};

}  // namespace afterbay::client
