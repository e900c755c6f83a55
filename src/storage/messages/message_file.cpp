// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/message_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>

#include "base/caller_terms.hpp"
#include "storage/fill.hpp"
#include "storage/messages/writer_bytes.hpp"
#include "storage/record_reach.hpp"
#include "storage/stopwatch.hpp"

namespace afterbay::storage {
namespace {

/// Messages that get their offsets together are written in steps of about this size.
constexpr std::uint64_t most_bytes_of_turns = 64u << 20;

}  // namespace

MessageFile::MessageFile(const FileRequest& request, OpenPart opened, std::unique_ptr<MessageEncoder> encoder)
    : schema_(request.schema),
      layout_(request.layout),
      part_(std::move(opened.part)),
      writer_(std::move(opened.writer)),
      striping_(std::move(opened.striping)),
      disk_(part_.shared_disk()),
      encoder_(std::move(encoder)),
      waiting_(part_.part_path(), part_.shared_disk(),
               request.chunk_memory ? request.chunk_memory
                                    : std::make_shared<ByteAllowance>(default_chunk_memory_bytes)) {
  number_messages();
}

void MessageFile::number_messages() {
  std::uint32_t fixed = 0;
  for (std::size_t v = 0; v < layout_->variables.size(); ++v) {
    const model::VariableLayout& variable = layout_->variables[v];
    std::uint32_t& next = variable.record ? per_record_ : fixed;
    first_number_.push_back(next);
    if (layout_->stored[v].slab.size != 0) next += messages_of(v);
  }
}

std::uint32_t MessageFile::messages_of(std::size_t variable) const {
  const std::uint64_t slab = layout_->stored[variable].slab.product();
  return slab == 0 ? 0 : static_cast<std::uint32_t>(layout_->variables[variable].shape.product() / slab);
}

Result<> MessageFile::begin() {
  {
    const MutexLock lock(mutex_);
    order_.emplace(per_record_, encoder_->front().end_bytes);
    AFTERBAY_TRY_ASSIGN(times_, RecordTimes::make(schema_));
  }
  return encode_constants();
}

void MessageFile::count_message(WriteCost& cost, std::uint32_t variable, const Message& encoded) {
  cost.unpacked_messages += encoded.unpacked ? 1 : 0;
  if (encoded.largest_error >= 0)
    model::merge(cost.errors, std::array{model::LargestError{variable, encoded.largest_error}});
}

/// The caller reports what the fields with constant values have cost; later calls have none of it.
void MessageFile::take_constants(WriteCost& cost) {
  const MutexLock lock(mutex_);
  const WriteCost taken = std::exchange(constants_, {});
  cost.unpacked_messages += taken.unpacked_messages;
  model::merge(cost.errors, taken.errors);
}

/// Fields with constant values wait with those without records, until the file has a time.
Result<> MessageFile::encode_constants() {
  for (std::uint32_t v = 0; v < schema_.variables.size(); ++v) {
    const Values& values = schema_.variables[v].constant;
    if (values.empty() || layout_->stored[v].slab.size == 0) continue;
    const std::uint32_t count = messages_of(v);
    const std::size_t slab_bytes = values.bytes.size() / std::max<std::size_t>(1, count);
    for (std::uint32_t slab = 0; slab < count; ++slab) {
      const auto bytes = std::span(values.bytes).subspan(slab * slab_bytes, slab_bytes);
      AFTERBAY_TRY_ASSIGN(Message encoded, encoder_->encode({v, slab, 0, bytes}));
      const MutexLock lock(mutex_);
      count_message(constants_, v, encoded);
      MessageOrder::Waiting message{v, 0, {}, false, true};
      AFTERBAY_TRY_ASSIGN(message.kept, waiting_.keep(std::move(encoded.bytes)));
      (void)order_->add({no_record, first_number_[v] + slab}, std::move(message));
    }
  }
  return {};
}

void MessageFile::discard() noexcept {
  writer_.reset();
  part_.discard();
}

void MessageFile::abandon() noexcept {
  writer_.reset();
  part_.close();
}

void MessageFile::reach(std::uint64_t records) {
  const MutexLock lock(mutex_);
  records_ = std::max(records_, records);
}

Result<WriteCost> MessageFile::write_strings(std::uint32_t variable, std::uint64_t,
                                             std::span<const std::string> values) {
  AFTERBAY_TRY(check_strings(*layout_, schema_, variable, values.size()));
  return fail(make_error(ErrorCode::wrong_type, "{} files cannot hold strings", name_of(layout_->format))
                  .in_file(part_.path()));
}

Result<WriteCost> MessageFile::write(std::span<const PieceWrite> pieces) {
  if (!writer_) return fail(closed_error(part_.path()));
  return in_file(write_pieces(pieces), part_.path());
}

Result<WriteCost> MessageFile::write_pieces(std::span<const PieceWrite> pieces) {
  AFTERBAY_TRY(check_pieces(*layout_, schema_, pieces));
  WriteCost cost;
  for (const PieceWrite& write : pieces) {
    cost.bytes_in += write.bytes.size();
    AFTERBAY_TRY(check_record(write));
    if (layout_->stored[write.piece.variable].slab.size != 0) {
      AFTERBAY_TRY(encode(write, cost));
      continue;
    }
    const std::vector<std::byte> values = native(write);
    const MutexLock lock(mutex_);
    if (times_->takes(write.piece.variable))
      AFTERBAY_TRY(times_->add(write.piece.variable, write.record, values));
  }
  const std::shared_lock<std::shared_mutex> writing(writes_);
  AFTERBAY_TRY(write_ready(Gaps::wait, cost));
  take_constants(cost);
  return cost;
}

/// Skipped records take no space in a file of messages.
Result<> MessageFile::check_record(const PieceWrite& write) {
  if (!layout_->variables[write.piece.variable].record) return {};
  const MutexLock lock(mutex_);
  AFTERBAY_TRY(check_reach(schema_, *layout_, write.piece.variable, write.record, records_));
  records_ = std::max(records_, write.record + 1);
  return {};
}

std::vector<std::byte> MessageFile::native(const PieceWrite& write) const {
  std::vector<std::byte> values(write.bytes.begin(), write.bytes.end());
  to_file_order(values, size_of(schema_.variables[write.piece.variable].type), layout_->big_endian);
  return values;
}

Result<> MessageFile::encode(const PieceWrite& write, WriteCost& cost) {
  const std::uint32_t variable = write.piece.variable;
  const bool has_records = layout_->variables[variable].record;
  MessageOrder::Waiting message{variable, write.epochs, {}, false, false};
  Message encoded;
  {
    const Stopwatch watch(cost.encode_ns);
    const bool swap = layout_->big_endian != (std::endian::native == std::endian::big);
    const std::vector<std::byte> swapped = swap ? native(write) : std::vector<std::byte>();
    const std::span<const std::byte> values = swap ? swapped : write.bytes;
    AFTERBAY_TRY_ASSIGN(encoded, encoder_->encode({variable, write.piece.number, write.record, values}));
  }
  count_message(cost, variable, encoded);
  const MessageKey key{has_records ? write.record : no_record, first_number_[variable] + write.piece.number};
  const MutexLock lock(mutex_);
  AFTERBAY_TRY_ASSIGN(message.kept, waiting_.keep(std::move(encoded.bytes)));
  if (order_->add(key, std::move(message))) return {};
  const std::string& name = schema_.variables[variable].name;
  return fail(make_error(ErrorCode::conflict, "record {} of variable '{}' was already written",
                         said_index(write.record), name)
                  .in_variable(name));
}

std::optional<MessageTime> MessageFile::time_of(const MessageKey& key) const {
  return key.record == no_record ? times_->of_fixed() : times_->of(key.record);
}

Error MessageFile::no_time(std::uint64_t record, std::uint32_t variable) const {
  const std::string& name = schema_.variables[variable].name;
  const std::string which =
      record == no_record ? std::string("the file") : fmt::format("record {}", said_index(record));
  return make_error(ErrorCode::bad_state,
                    "variable '{}' was put, but {} has no time, which each of its messages contains: put {} "
                    "in every record",
                    name, which, times_->names())
      .in_variable(name);
}

/// Messages whose turn it is, with their offsets.
Result<std::vector<MessageFile::Job>> MessageFile::ready(Gaps gaps) {
  std::vector<Job> jobs;
  std::uint64_t bytes = 0;
  const MutexLock lock(mutex_);
  while (!order_->waiting().empty() && bytes < most_bytes_of_turns) {
    if (gaps == Gaps::wait && !order_->next()) break;
    const auto& [key, message] = *order_->waiting().begin();
    const std::optional<MessageTime> time = time_of(key);
    if (!time && gaps == Gaps::wait) break;
    if (!time && message.constant) {  // nothing was put
      order_->waiting().erase(order_->waiting().begin());
      continue;
    }
    if (!time) return fail(no_time(key.record, message.variable));
    Job job{order_->place_first(), {}, *time};
    AFTERBAY_TRY_ASSIGN(job.bytes, waiting_.take(std::move(job.turn.message.kept)));
    bytes += job.bytes.size();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<> MessageFile::write_ready(Gaps gaps, WriteCost& cost) {
  while (true) {
    AFTERBAY_TRY_ASSIGN(std::vector<Job> jobs, ready(gaps));
    if (jobs.empty()) return {};
    std::vector<Extent> extents;
    for (Job& job : jobs) {
      AFTERBAY_TRY(encoder_->stamp(job.bytes, job.turn.message.variable, job.time));
      extents.push_back({job.turn.place.offset, job.bytes});
    }
    AFTERBAY_TRY(writer_->write(extents, cost));
  }
}

Result<Published> MessageFile::finish() {
  if (!writer_) return fail(closed_error(part_.path()));
  auto published = in_file(complete(), part_.path());
  writer_.reset();
  if (!published) part_.close();
  return published;
}

Result<Published> MessageFile::complete() {
  Published published;
  AFTERBAY_TRY(write_ready(Gaps::skip, published.cost));
  if (published.cost.bytes_out > 0) take_constants(published.cost);
  {
    const MutexLock lock(mutex_);
    published.records = records_;
    published.size_bytes = order_->end_bytes();
  }
  AFTERBAY_TRY(writer_->truncate(published.size_bytes));
  if (const auto seal = traits_of(layout_->format).messages->seal) {
    AFTERBAY_TRY(writer_->write_structure(0, encoder_->front().bytes));
    WriterBytes bytes(*writer_);
    AFTERBAY_TRY_ASSIGN(published.size_bytes, seal(bytes, published.size_bytes));
  }
  AFTERBAY_TRY_ASSIGN(published.checksum, writer_->finish_checksum());
  return published;
}

}  // namespace afterbay::storage
