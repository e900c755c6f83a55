// SPDX-License-Identifier: Apache-2.0
// MessageFile: one unfinished file of messages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "base/thread_safety.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/messages/message_encoder.hpp"
#include "storage/messages/message_order.hpp"
#include "storage/messages/record_times.hpp"
#include "storage/messages/waiting_messages.hpp"
#include "storage/open_part.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// The threads that write encode their messages concurrently; under a lock, messages get their
/// offsets in order; then the thread that completed a sequence writes all of it. So a message waits
/// in memory until the earlier ones are encoded, and until the time of its record is put. Slabs
/// that are never put have no message.
class MessageFile : public File {
 public:
  MessageFile(const FileRequest& request, OpenPart opened, std::unique_ptr<MessageEncoder> encoder);
  MessageFile(const MessageFile&) = delete;
  MessageFile& operator=(const MessageFile&) = delete;

  /// Prepares the times of records. Fails with the variable's name.
  Result<> begin();
  /// Removes a file that could not be begun.
  void discard() noexcept;

  [[nodiscard]] std::uint64_t records() const override { return 0; }
  Result<WriteCost> write(std::span<const PieceWrite> pieces) override;
  Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                  std::span<const std::string> values) override;
  void reach(std::uint64_t records) override;
  Result<WriteCost> mark_epoch(const Epoch& epoch, std::span<const MemberEpoch> members) override;
  Result<Published> finish() override;
  PartFile* part() noexcept override { return &part_; }
  void give_back_space() noexcept override { part_.give_back_space(); }
  void abandon() noexcept override;
  [[nodiscard]] std::string engine() const override { return "buffered"; }
  [[nodiscard]] Striping striping() const override { return striping_; }

 private:
  using Turn = MessageOrder::Turn;
  /// A message with its offset and its time.
  struct Job {
    Turn turn;
    std::vector<std::byte> bytes;
    MessageTime time;
  };
  enum class Gaps { wait, skip };

  void number_messages();
  [[nodiscard]] std::uint32_t messages_of(std::size_t variable) const;
  Result<WriteCost> write_pieces(std::span<const PieceWrite> pieces);
  Result<> encode(const PieceWrite& write, WriteCost& cost);
  Result<> encode_constants();
  static void count_message(WriteCost& cost, std::uint32_t variable, const Message& encoded);
  void take_constants(WriteCost& cost);
  [[nodiscard]] Result<> check_record(const PieceWrite& write);
  [[nodiscard]] std::vector<std::byte> native(const PieceWrite& write) const;
  Result<> write_ready(Gaps gaps, WriteCost& cost);
  Result<std::vector<Job>> ready(Gaps gaps);
  [[nodiscard]] std::optional<MessageTime> time_of(const MessageKey& key) const AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] Error no_time(std::uint64_t record, std::uint32_t variable) const AFTERBAY_REQUIRES(mutex_);
  // Epochs.
  Result<WriteCost> mark(const Epoch& epoch);
  Result<LoggedEpoch> log_messages(const Epoch& epoch) AFTERBAY_REQUIRES(mutex_);
  Result<> log_placed(const Epoch& epoch, const MessageKey& from) AFTERBAY_REQUIRES(mutex_);
  Result<> log_waiting(const Epoch& epoch) AFTERBAY_REQUIRES(mutex_);
  Result<> log_message(const MessageKey& key, std::span<const std::byte> bytes);
  Result<Published> complete();

  Schema schema_;
  std::shared_ptr<const model::FileLayout> layout_;
  PartFile part_;
  std::unique_ptr<BlockWriter> writer_;
  Striping striping_;
  std::shared_ptr<Disk> disk_;
  std::unique_ptr<MessageEncoder> encoder_;
  /// By variable: the number of its first message, in the record or among those without records.
  std::vector<std::uint32_t> first_number_;
  std::uint32_t per_record_ = 0;
  /// Shared while messages get offsets and are written, exclusive while an epoch is read:
  /// everything that has an offset is written then.
  std::shared_mutex writes_;
  std::unique_ptr<EpochLog> log_;  ///< set at the first epoch
  mutable Mutex mutex_;
  std::optional<MessageOrder> order_ AFTERBAY_GUARDED_BY(mutex_);
  std::optional<RecordTimes> times_ AFTERBAY_GUARDED_BY(mutex_);
  WaitingMessages waiting_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t records_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  WriteCost constants_ AFTERBAY_GUARDED_BY(mutex_);  ///< cost of fields with constant values, to be reported
};

}  // namespace afterbay::storage
