// SPDX-License-Identifier: Apache-2.0
// The result that a worker posts to the ingest thread when a task on an output file has ended: one
// type per kind of task, with an error if the task failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "server/reduce/frame_order.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

/// The file was created by its only server or its leader, or joined by a member.
struct FileCreated {
  std::uint64_t file = 0;
  std::unique_ptr<storage::File> created{};       ///< null after an error
  std::optional<std::vector<std::byte>> share{};  ///< leader: for the members
  std::optional<Error> error{};
};

/// The journal has the line that the file was opened.
struct OpeningNoted {
  std::uint64_t file = 0;
  std::optional<Error> error{};
};

/// A frame is in its file, or, of samples, in its state.
struct FrameWritten {
  std::uint64_t file = 0;  ///< wire::no_file for samples
  std::uint32_t collection = 0;
  std::uint64_t seq = 0;  ///< number of the record
  std::optional<Error> error{};
  std::optional<FrameOrder::Frame> turn{};  ///< for samples and results: the frame whose turn it was
  model::LargestErrors errors{};            ///< see storage::WriteCost
};

struct StringsWritten {
  std::uint64_t file = 0;
  std::uint64_t number = 0;  ///< number returned by StringQueue::add
  std::optional<Error> error{};
};

/// The state of the file at the epoch can be recovered.
struct EpochMarked {
  std::uint64_t file = 0;
  std::uint64_t epoch = 0;
  std::optional<storage::MemberEpoch> part{};  ///< member: for the leader
  std::optional<Error> error{};
};

/// Everything that this member wrote of the file is durable.
struct PartHandedOver {
  std::uint64_t file = 0;
  std::vector<std::byte> account{};  ///< result of storage::File::hand_over
  std::optional<Error> error{};
};

/// The file has its final name and is recorded in the journal; or, because of `error`, it never
/// will be.
struct PublicationEnded {
  std::uint64_t file = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> checksum{};
  model::LargestErrors errors{};  ///< errors of fields that were packed when the file was completed
  std::string warning{};          ///< warning that the older artifact remains; empty: none
  std::optional<Error> error{};
};

/// The result of any of these tasks.
using FileTaskResult = std::variant<FileCreated, OpeningNoted, FrameWritten, StringsWritten, EpochMarked,
                                    PartHandedOver, PublicationEnded>;

}  // namespace afterbay::server
