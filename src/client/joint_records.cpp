// SPDX-License-Identifier: Apache-2.0
#include "client/joint_records.hpp"

#include <algorithm>
#include <utility>

namespace afterbay::client {
namespace {

constexpr std::size_t most_remembered = 64;
constexpr std::size_t most_files_remembered = 16;

}  // namespace

void JointRecords::start(std::vector<Open> open, std::map<const File*, std::uint64_t> ended,
                         std::uint64_t step) {
  open_ = std::move(open);
  ended_ = std::move(ended);
  ended_steps_ = step;
}

std::optional<std::uint64_t> JointRecords::seq_of(std::size_t caller, File& file, std::uint64_t record,
                                                  std::uint64_t step, bool fixed,
                                                  const std::function<bool(const Open&)>& may_end) {
  for (const Open& open : open_)
    if (open.file == &file && open.record == record && open.step == step && open.fixed == fixed)
      return open.seq;
  CollectionRecords& records = file.collection->records();
  if (records.is_full(file.server)) {
    const auto oldest = std::ranges::find_if(open_, [&](const Open& open) {
      return open.file->collection == file.collection && open.file->server == file.server;
    });
    if (oldest == open_.end() || !may_end(*oldest)) return std::nullopt;
    Messages messages;
    end(*oldest, messages);
    open_.erase(oldest);
    post(std::move(messages));
  }
  const std::uint64_t seq = records.next_seq(file.server);
  for (const std::size_t s : file.servers) {
    records.begin(s, {file.id, record, fixed, seq});
    links_.add(s, file.message(seq, record, fixed));
  }
  open_.push_back({&file, record, fixed, step, seq});
  if (last_begun_.size() == most_remembered) last_begun_.pop_front();
  last_begun_.push_back({file.id, record, fixed, step, caller});
  if (std::ranges::find(known_files_, file.id, &KnownFile::id) == known_files_.end()) {
    if (known_files_.size() == most_files_remembered) known_files_.pop_front();
    known_files_.push_back({file.id, file.path, file.collection});
  }
  return seq;
}

const JointRecords::KnownFile* JointRecords::known_file(const std::string& path) const {
  for (auto it = known_files_.rbegin(); it != known_files_.rend(); ++it)
    if (it->path == path) return &*it;
  return nullptr;
}

std::uint64_t JointRecords::oldest_step(const File& file) const {
  const auto oldest = std::ranges::find_if(open_, [&](const Open& open) {
    return open.file->collection == file.collection && open.file->server == file.server;
  });
  return oldest == open_.end() ? 0 : oldest->step;
}

const JointRecords::Open* JointRecords::begun_later(const File& file, std::uint64_t record,
                                                    std::uint64_t step, bool fixed) const {
  const Open* last = nullptr;
  for (const Open& open : open_) {
    if (open.file == &file && open.record == record && open.step == step && open.fixed == fixed)
      return nullptr;
    if (open.file->collection == file.collection && open.file->server == file.server) last = &open;
  }
  return last != nullptr && last->step > step ? last : nullptr;
}

/// Ends records in the order of their numbers: one that is still open keeps those after it open.
void JointRecords::end_steps(std::uint64_t steps) {
  ended_steps_ = std::max(ended_steps_, steps);
  Messages messages;
  std::vector<std::pair<const Collection*, std::size_t>> stopped;
  std::erase_if(open_, [&](const Open& open) {
    const std::pair<const Collection*, std::size_t> group{open.file->collection, open.file->server};
    if (std::ranges::find(stopped, group) != stopped.end()) return false;
    if (open.step >= steps) {
      stopped.push_back(group);
      return false;
    }
    end(open, messages);
    return true;
  });
  post(std::move(messages));
}

void JointRecords::end(const Open& record, Messages& messages) {
  Collection& collection = *record.file->collection;
  for (const std::size_t server : record.file->servers) {
    const std::uint64_t bound = collection.records().end_up_to(server, record.seq);
    auto& bounds = messages[server].bounds;
    const auto known = std::ranges::find(bounds, collection.id(), &wire::EndRecords::Bound::collection);
    if (known == bounds.end())
      bounds.push_back({collection.id(), bound});
    else
      known->next_seq = std::max(known->next_seq, bound);
  }
  std::uint64_t& ended = ended_[record.file];
  if (!record.fixed) ended = std::max(ended, record.record + 1);
}

void JointRecords::post(Messages messages, bool within_step) {
  for (auto& [server, message] : messages) {
    message.step = ended_steps_;
    message.within_step = within_step ? 1 : 0;
    links_.add(server, std::move(message));
  }
}

bool JointRecords::has_before(std::uint64_t steps) const {
  return std::ranges::any_of(open_, [&](const Open& open) { return open.step < steps; });
}

std::uint64_t JointRecords::ended(const File& file) const {
  const auto known = ended_.find(&file);
  return known == ended_.end() ? 0 : known->second;
}

void JointRecords::end_all(bool within_step) {
  Messages messages;
  for (const Open& open : open_) end(open, messages);
  open_.clear();
  post(std::move(messages), within_step);
}

void JointRecords::end_file(const File& file) {
  for (const std::size_t server : file.servers) file.collection->records().end_file(server, file.id);
  std::erase_if(open_, [&](const Open& open) { return open.file == &file; });
  ended_.erase(&file);
}

}  // namespace afterbay::client
