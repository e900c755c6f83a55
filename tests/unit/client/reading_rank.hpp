// SPDX-License-Identifier: Apache-2.0
// ReadingRank: a model rank's Reader without a session; the test plays the servers. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/reader.hpp"
#include "unit/client/scripted_servers.hpp"

namespace afterbay::test {

/// Model rank 1 of 2 (rank 5 of the session) with servers 0, 1 and 2, of which 1 and 2 read. A file
/// has the variable "t" (float64) with eight records of three pieces, "big" (float64) and the
/// strings "name" without records, and "label" with strings in records.
class ReadingRank : public ::testing::Test {
 protected:
  static constexpr std::uint64_t points = 12;
  static constexpr std::uint64_t piece_points = 4;
  static constexpr std::uint64_t piece_bytes = piece_points * sizeof(double);

  void make(const std::string& deadline = "5s") {
    config_ = config_of({{"servers", "3"}, {"deadline", deadline}});
    ScriptedServers servers(3);
    links_ = servers.ends;
    core_.emplace(
        client::RankIdentity{.session_rank = 5, .model_rank = 1, .model_size = 2, .pool_of_server = {}},
        config_, std::move(servers.links),
        client::SessionCore::Host{
            .handle = [this](std::size_t server,
                             std::span<const std::byte> message) { return handle(server, message); },
            .add_work = [](Error&) {}});
    reader_.emplace(
        *core_, std::vector<std::size_t>{1, 2}, model::InputSizes{piece_bytes, 1 << 20}, profile_,
        client::Reader::Host{.decomposition = [this](const std::string& name) { return decomposition(name); },
                             .part_as_of_epoch =
                                 [this](const std::string& path) {
                                   asked_host_.push_back("epoch " + path);
                                   return part_;
                                 },
                             .wait_for_output =
                                 [this](const std::string& path) {
                                   asked_host_.push_back("output " + path);
                                   return output_;
                                 }});
  }

  Result<> handle(std::size_t server, std::span<const std::byte> message) {
    const auto kind = wire::kind_of(message);
    if (kind == wire::InputOpened::kind) reader_->answer(wire::decode<wire::InputOpened>(message).value());
    if (kind == wire::InputStrings::kind) reader_->answer(wire::decode<wire::InputStrings>(message).value());
    if (kind == wire::InputMemory::kind)
      return reader_->map_memory(server, wire::decode<wire::InputMemory>(message).value());
    if (kind == wire::InputPiece::kind)
      return reader_->answer(server, wire::decode<wire::InputPiece>(message).value());
    return {};
  }
  Result<const client::Decomposition*> decomposition(const std::string& name) {
    for (const client::Decomposition& known : decompositions_)
      if (known.name == name) return &known;
    return fail(ErrorCode::unknown_name, "there is no decomposition '{}'", name);
  }

  static wire::InputOpened description(std::uint64_t input) {
    wire::InputOpened answer;
    answer.input = input;
    answer.records = 8;
    answer.schema.dimension("time", unlimited).dimension("x", points);
    answer.schema.variable("t", Type::float64, {"time", "x"});
    answer.schema.variable("big", Type::float64, {"x"});
    answer.schema.variable("name", Type::string, {});
    answer.schema.variable("label", Type::string, {"time"});
    answer.unreadable = {"group/hidden"};
    answer.reasons = {"it lies in a group"};
    return answer;
  }
  /// Opens "in.nc", and forgets the messages for that. The home of this rank is server 2.
  std::shared_ptr<client::Input> open(std::uint64_t id = 0) {
    links_[2]->answer(description(id));
    const auto input = reader_->open_input("in.nc", {.as_of = AsOf::published});
    EXPECT_TRUE(input) << input.error().text();
    for (ScriptedLink* const link : links_) link->sent.clear();
    return input.value_or(nullptr);
  }
  /// The value of a point in a record of t.
  static double value_in_file(std::uint64_t record, std::uint64_t point) {
    return static_cast<double>(100 * record + point);
  }
  /// Both servers keep the same in their memory: all records of t.
  void share_memory() {
    memory_ = transport::shm::Mapping::create(std::uint64_t{8} * points * sizeof(double)).value();
    ASSERT_TRUE(memory_.mapping.allocate({{0, memory_.mapping.size()}}));
    for (std::uint64_t record = 0; record < 8; ++record)
      for (std::uint64_t point = 0; point < points; ++point) {
        const double value = value_in_file(record, point);
        std::memcpy(memory_.mapping.data() + (record * points + point) * sizeof(double), &value,
                    sizeof value);
      }
    for (const std::size_t s : {1U, 2U})
      links_[s]->answer(wire::InputMemory{memory_.door.address(), memory_.mapping.size()});
  }
  [[nodiscard]] static std::uint64_t offset_of(std::uint64_t record, std::uint64_t piece) {
    return record * points * sizeof(double) + piece * piece_bytes;
  }
  /// The server of a piece has it in its memory.
  void answer_piece(std::size_t server, std::uint64_t request, std::uint64_t record, std::uint64_t piece) {
    links_[server]->answer(wire::InputPiece{request, piece, offset_of(record, piece), {}});
  }
  /// All pieces of a record of t of file 0.
  void answer_record(std::uint64_t request, std::uint64_t record) {
    answer_piece(1, request, record, 0);
    answer_piece(2, request, record, 1);
    answer_piece(1, request, record, 2);
  }
  [[nodiscard]] std::vector<wire::GetInput> requests_to(std::size_t server) const {
    return links_[server]->all_sent<wire::GetInput>();
  }
  /// Records that are asked for at server 1, in order; those that are only read ahead are negative.
  [[nodiscard]] std::vector<std::int64_t> records_asked() const {
    std::vector<std::int64_t> records;
    for (const wire::GetInput& it : requests_to(1))
      records.push_back(it.ahead ? -static_cast<std::int64_t>(it.record)
                                 : static_cast<std::int64_t>(it.record));
    return records;
  }
  Error refused(const std::shared_ptr<client::Input>& input, const std::string& variable,
                const Selection& what, void* data, Type type = Type::float64,
                const MemoryLayout& memory = {}) {
    const auto got = reader_->get(input, variable, what, data, type, memory);
    if (got) return Error(ErrorCode::internal, "nothing was refused");
    EXPECT_EQ(got.error().file, "in.nc") << got.error().text();
    EXPECT_EQ(got.error().variable, variable);
    EXPECT_EQ(got.error().rank, 5);
    return got.error();
  }

  config::Config config_;
  observe::Profile profile_;
  std::vector<ScriptedLink*> links_;
  std::vector<client::Decomposition> decompositions_;
  std::optional<client::SessionCore> core_;
  std::optional<client::Reader> reader_;
  transport::shm::SharedMemory memory_;
  std::vector<std::string> asked_host_;
  Result<std::optional<std::string>> part_ = std::optional<std::string>();  ///< the part file of an output
  Result<> output_;
};

}  // namespace afterbay::test
