// SPDX-License-Identifier: Apache-2.0
// Epochs of a file of messages. The log of an epoch has the length of the file up to which all
// messages belong to the epoch, and every later message of the epoch: recovery cuts the file there
// and appends these. That of the first epoch also has the front of the file, which the file itself
// gets at its end.
#include <algorithm>
#include <mutex>
#include <utility>

#include "storage/messages/message_file.hpp"
#include "storage/stopwatch.hpp"

namespace afterbay::storage {
namespace {

/// A rank may be ahead of the others, and put data after the epoch before these call it.
bool belongs(const Epoch& epoch, const MessageKey& key, std::uint64_t epochs) {
  return epochs < epoch.number && (key.record == no_record || key.record < epoch.records);
}

}  // namespace

Result<WriteCost> MessageFile::mark_epoch(const Epoch& epoch, std::span<const MemberEpoch>) {
  if (!writer_) return fail(closed_error(part_.path()));
  return in_file(mark(epoch), part_.path());
}

Result<WriteCost> MessageFile::mark(const Epoch& epoch) {
  WriteCost cost;
  LoggedEpoch marked;
  if (!log_) {
    AFTERBAY_TRY_ASSIGN(log_, EpochLog::create(part_.part_path(), std::nullopt, disk_, part_.descriptor()));
    if (const MessageFront front = encoder_->front(); !front.bytes.empty())
      AFTERBAY_TRY(log_->add_structure(0, front.bytes));
  }
  {
    const std::unique_lock<std::shared_mutex> alone(writes_);
    const MutexLock lock(mutex_);
    AFTERBAY_TRY_ASSIGN(marked, log_messages(epoch));
  }
  const Stopwatch watch(cost.write_ns);
  AFTERBAY_TRY(writer_->sync());
  AFTERBAY_TRY(log_->commit(std::move(marked)));
  return cost;
}

Result<LoggedEpoch> MessageFile::log_messages(const Epoch& epoch) {
  records_ = std::max(records_, epoch.records);
  MessageKey from = order_->after_placed();
  LoggedEpoch marked;
  marked.size_bytes = order_->end_bytes();
  const auto foreign = std::ranges::find_if(
      order_->placed(), [&](const MessageOrder::Placed& it) { return !belongs(epoch, it.key, it.epochs); });
  if (foreign != order_->placed().end()) {
    from = foreign->key;
    marked.size_bytes = foreign->offset;
  }
  AFTERBAY_TRY(log_placed(epoch, from));
  AFTERBAY_TRY(log_waiting(epoch));
  order_->forget_before(from);
  marked.cut = log_->end();
  marked.epoch = epoch;
  marked.format = layout_->format;
  marked.with_records = {from.record, from.number};
  return marked;
}

/// Messages of the epoch after a message that does not belong to it: the log gets a copy.
Result<> MessageFile::log_placed(const Epoch& epoch, const MessageKey& from) {
  for (MessageOrder::Placed& it : order_->placed()) {
    if (it.logged || it.key < from || !belongs(epoch, it.key, it.epochs)) continue;
    std::vector<std::byte> bytes(it.size_bytes);
    AFTERBAY_TRY(writer_->read(it.offset, bytes));
    AFTERBAY_TRY(log_message(it.key, bytes));
    it.logged = true;
  }
  return {};
}

Result<> MessageFile::log_waiting(const Epoch& epoch) {
  for (auto& [key, message] : order_->waiting()) {
    if (message.logged || !belongs(epoch, key, message.epochs)) continue;
    const std::optional<MessageTime> time = time_of(key);
    // Fields without records have the time of the first record: a later epoch has them.
    if (!time && key.record == no_record) continue;
    if (!time) return fail(no_time(key.record, message.variable));
    AFTERBAY_TRY_ASSIGN(std::vector<std::byte> bytes, waiting_.copy(message.kept));
    AFTERBAY_TRY(encoder_->stamp(bytes, message.variable, *time));
    AFTERBAY_TRY(log_message(key, bytes));
    message.logged = true;
  }
  return {};
}

Result<> MessageFile::log_message(const MessageKey& key, std::span<const std::byte> bytes) {
  LoggedChunk chunk;
  chunk.first_element = {key.record, key.number};
  return log_->add(chunk, bytes);
}

}  // namespace afterbay::storage
