// SPDX-License-Identifier: Apache-2.0
#include "server/journal/run_journal.hpp"

#include <utility>

#include "base/own_collections.hpp"
#include "storage/epoch/part_identity.hpp"

namespace afterbay::server {
namespace {

journal::FileFacts facts_of(const OutputFile& file) {
  journal::FileFacts facts;
  facts.path = file.path;
  facts.number = file.id;
  facts.collection = !file.holds_states  ? file.collection->name
                     : file.name.replace ? epoch_state_collection
                                         : state_collection;
  facts.format = name_of(file.collection->format);
  facts.step = file.name.step;
  facts.member = file.name.member;
  facts.date = file.name.date;
  return facts;
}

}  // namespace

bool RunJournal::records(const ServedCollection& collection) const {
  return recorder_ && traits_of(collection.format).publishes;
}

bool RunJournal::records_opening(const OutputFile& file) const {
  return records(*file.collection) && file.role != OutputFile::Role::member;
}

void RunJournal::expect_output() const {
  if (recorder_) recorder_->expect_output();
}

Result<> RunJournal::begin() const { return recorder_ ? recorder_->begin() : Result<>(); }

Result<> RunJournal::opened(const OutputFile& file) const {
  if (!recorder_) return {};
  const storage::PartIdentity part = storage::identity_of_part(storage::part_path(file.path));
  return recorder_->opened(facts_of(file), part.inode, part.born_ns);
}

Result<> RunJournal::settle() const { return recorder_ ? recorder_->settle() : Result<>(); }

journal::FilePublished RunJournal::line_of(const OutputFile& file, const storage::Published& published,
                                           std::vector<std::string> triggers) {
  journal::FilePublished line{
      facts_of(file), published.size_bytes, published.records, published.checksum, {}};
  if (file.records_dropped > 0) line.dropped = file.records_dropped;
  line.triggers = std::move(triggers);
  model::LargestErrors errors = file.errors;
  model::merge(errors, published.cost.errors);
  for (const model::LargestError& it : errors)
    line.largest_errors[file.collection->schema.variables[it.variable].name] = it.value;
  if (published.files) {
    line.file_count = published.files->size();
    line.files = *published.files;
  }
  return line;
}

Result<> RunJournal::ready(std::vector<journal::FileReady> files) const {
  return recorder_ ? recorder_->ready(std::move(files)) : Result<>();
}

Result<> RunJournal::published(std::vector<journal::FilePublished> files) const {
  for (journal::FilePublished& it : files) it.files.clear();  // they are in the line of `ready`
  return recorder_ ? recorder_->published(std::move(files)) : Result<>();
}

void RunJournal::given_up(const OutputFile& file, std::string why) const {
  if (records_opening(file)) recorder_->given_up(facts_of(file), std::move(why));
}

Result<> RunJournal::epoch_completed(journal::EpochCompleted line) const {
  return recorder_ ? recorder_->epoch_completed(std::move(line)) : Result<>();
}

void RunJournal::triggered(journal::TriggerRan line) const {
  if (recorder_) recorder_->triggered(std::move(line));
}

void RunJournal::warned(std::string text) const {
  if (recorder_) recorder_->warned(std::move(text));
}

void RunJournal::failed(const Error& error) const {
  if (recorder_) recorder_->failed(error);
}

Result<> RunJournal::ended(bool ok) const { return recorder_ ? recorder_->ended(ok) : Result<>(); }

}  // namespace afterbay::server
