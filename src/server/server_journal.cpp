// SPDX-License-Identifier: Apache-2.0
// Entries of the server in the journal. Files in memory are not recorded: only tests use them.
#include "server/server.hpp"
#include "storage/epoch/part_identity.hpp"

namespace afterbay::server {
namespace {

journal::FileFacts facts_of(const OutputFile& file) {
  journal::FileFacts facts;
  facts.path = file.path;
  facts.number = file.id;
  facts.collection = file.collection->name;
  facts.format = name_of(file.collection->format);
  facts.step = file.name.step;
  facts.member = file.name.member;
  facts.date = file.name.date;
  return facts;
}

}  // namespace

Result<> Server::note_opened(const OutputFile& file) {
  const storage::PartIdentity part = storage::identity_of_part(storage::part_path(file.path));
  return journal_->opened(facts_of(file), part.inode, part.born_ns);
}

/// The leader records a file that several servers write.
bool Server::notes_opening(const OutputFile& file) const {
  return journal_ && traits_of(file.collection->format).publishes && file.role != OutputFile::Role::member;
}

/// The journal records a file before it is published, and before an epoch records that it is
/// incomplete. The first line of a journal waits for the disk several times: another worker writes
/// meanwhile.
void Server::submit_opened_note(OutputFile& file) {
  if (!notes_opening(file)) return;
  files_.submit(file, [this, &file, id = file.id] {
    OpeningNoted result{.file = id};
    if (auto noted = note_opened(file); !noted) result.error = std::move(noted).error();
    post(std::move(result));
  });
}

journal::FilePublished Server::line_of(const OutputFile& file, const storage::Published& published) const {
  journal::FilePublished line{
      facts_of(file), published.size_bytes, published.records, published.checksum, {}};
  if (file.records_dropped > 0) line.dropped = file.records_dropped;
  line.triggers = triggers_.due_for_file(file.collection->name);
  if (published.files) {
    line.file_count = published.files->size();
    line.files = *published.files;
  }
  return line;
}

void Server::note_not_published(const OutputFile& file, std::string why) {
  if (notes_opening(file)) journal_->given_up(facts_of(file), std::move(why));
}

void Server::note_warning(std::string text) {
  if (journal_) journal_->warned(std::move(text));
}

TriggerRunner::Host Server::trigger_host() {
  return {[this](journal::TriggerRan line) {
            if (journal_) journal_->triggered(std::move(line));
          },
          [this](std::uint64_t number, const std::string& name) AFTERBAY_REQUIRES(ingest_thread) {
            if (auto sent = fellows_.send(0, wire::EpochComplete{number}); !sent)
              fail(std::move(sent).error().add(
                  fmt::format("while it reported that epoch '{}' is complete", name)));
          },
          [this] { executor_.post([] {}); }};
}

/// Files in memory fire no triggers: only tests use them.
void Server::fire_published(const OutputFile& file) {
  if (!traits_of(file.collection->format).publishes) return;
  triggers_.file_published({file.path, file.collection->name, file.published_bytes, file.records_taken,
                            file.published_checksum, file.name.step, file.name.member,
                            file.name.date.value_or("")});
}

}  // namespace afterbay::server
