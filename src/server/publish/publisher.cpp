// SPDX-License-Identifier: Apache-2.0
#include "server/publish/publisher.hpp"

#include <span>
#include <utility>

#include "storage/publication.hpp"

namespace afterbay::server {
namespace {

constexpr std::size_t most_syncs = 8;  ///< at the same time, by one worker

/// The bytes that the ranks handed over, which approximate the bytes that are written.
std::uint64_t bytes_of(const OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) {
  std::uint64_t bytes = 0;
  for (const model::VariableLayout& variable : file.collection->layout->variables)
    bytes += variable.slab_bytes * (variable.record ? file.records_taken : 1);
  return bytes;
}

}  // namespace

Publisher::Publisher(const RunJournal& journal, std::size_t workers, Host host)
    : journal_(journal), host_(std::move(host)), queue_(workers), syncs_(workers > 0 ? most_syncs : 1) {}

void Publisher::publish(OutputFile& file, observe::Timer* timer, int priority) {
  queue_.add({&file, timer, priority, bytes_of(file)});
  host_.submit([this] { publish_together(queue_.take()); }, priority);
}

/// The task of a worker. `batch`: the files that were complete when it began; may be empty.
void Publisher::publish_together(const std::vector<PublicationQueue::Waiting>& batch) {
  const std::uint64_t begin_ns = now_ns();
  std::vector<PublicationEnded> ends(batch.size());
  std::vector<std::size_t> whole;  ///< indices in the batch of files that can be published
  std::vector<storage::File*> files;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    OutputFile& file = *batch[i].file;
    ends[i].file = file.id;
    if (auto completed = complete(file); !completed) {
      ends[i].error = std::move(completed).error();
      continue;
    }
    whole.push_back(i);
    files.push_back(file.file.get());
  }
  const auto results = storage::publish_together(
      files,
      [&](std::span<const storage::Durable> durable) {
        std::vector<journal::FileReady> lines;
        for (const storage::Durable& it : durable) {
          const storage::Published& published = *it.published;
          lines.push_back(
              {line_of(*batch[whole[it.index]].file, published), published.inode, published.born_ns});
        }
        return journal_.ready(std::move(lines));
      },
      syncs_);
  std::vector<journal::FilePublished> lines;
  std::vector<std::size_t> named;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const OutputFile& file = *batch[whole[i]].file;
    PublicationEnded& end = ends[whole[i]];
    if (!results[i]) {
      end.error = results[i].error();
      continue;
    }
    host_.wrote(results[i]->cost.bytes_out);
    end.bytes = results[i]->size_bytes;
    end.checksum = results[i]->checksum;
    end.errors = results[i]->cost.errors;
    if (!journal_.records(*file.collection)) continue;
    lines.push_back(line_of(file, *results[i]));
    named.push_back(whole[i]);
  }
  if (!lines.empty())
    if (const auto noted = journal_.published(std::move(lines)); !noted)
      for (const std::size_t i : named) ends[i].error = noted.error();
  std::vector<std::string> warnings = storage::remove_replaced(files);
  for (std::size_t i = 0; i < warnings.size(); ++i) ends[whole[i]].warning = std::move(warnings[i]);
  const std::uint64_t each_ns = batch.empty() ? 0 : (now_ns() - begin_ns) / batch.size();
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (batch[i].timer != nullptr) batch[i].timer->add(begin_ns + i * each_ns, begin_ns + (i + 1) * each_ns);
  for (PublicationEnded& it : ends) host_.done(std::move(it));
}

/// Adds the parts that other servers of the file wrote, and records that no rank put.
Result<> Publisher::complete(OutputFile& file) {
  AFTERBAY_TRY(host_.check_wanted(file));
  for (const storage::MemberEpoch& whole : file.parts.handed) AFTERBAY_TRY(file.file->take(whole.account));
  file.file->reach(file.records_put);
  if (!file.errors.empty()) AFTERBAY_TRY(file.file->note_errors(file.errors));
  return {};
}

journal::FilePublished Publisher::line_of(const OutputFile& file, const storage::Published& published) const {
  return RunJournal::line_of(file, published, host_.triggers(file));
}

}  // namespace afterbay::server
