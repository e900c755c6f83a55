// SPDX-License-Identifier: Apache-2.0
#include "storage/publication.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "storage/artifact.hpp"
#include "storage/epoch/part_identity.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {
namespace {

/// Artifacts that are being published; those that fail are removed.
class Batch {
 public:
  explicit Batch(std::span<File* const> files) : files_(files) {
    for (File* const file : files) {
      results_.push_back(file->finish());
      if (Artifact* const part = part_of(results_.size() - 1)) part->start_write_back();
    }
  }

  void make_durable() {
    each([](Artifact& part, Published& published) {
      const PartIdentity identity = identity_of_part(part.descriptor());
      published.inode = identity.inode;
      published.born_ns = identity.born_ns;
      return part.make_durable(published);
    });
  }

  void tell(const BeforeNames& before_names) {
    std::vector<Durable> durable;
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (part_of(i) != nullptr) durable.push_back({i, &*results_[i]});
    if (durable.empty() || !before_names) return;
    if (const auto told = before_names(durable); !told)
      for (const Durable& it : durable) results_[it.index] = tl::unexpected(told.error());
  }

  void take_names() {
    each([](Artifact& part, Published&) { return part.take_name(); });
  }

  /// fsync of each directory.
  void make_names_durable() {
    std::map<std::string, Result<>> synced;
    each([&](Artifact& part, Published&) {
      const std::string directory = part.directory();
      if (!synced.contains(directory))
        synced.emplace(directory, sync_directory_of(*part.shared_disk(), part.path()));
      return synced.at(directory);
    });
    each([](Artifact& part, Published&) {
      part.end_publication();
      return Result<>();
    });
  }

  std::vector<Result<Published>> results() && { return std::move(results_); }

 private:
  /// Null if there is nothing to do for this file, or nothing more.
  Artifact* part_of(std::size_t i) { return results_[i] ? files_[i]->part() : nullptr; }

  template <class Step>
  void each(const Step& step) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      Artifact* const part = part_of(i);
      if (part == nullptr) continue;
      if (auto done = in_file(step(*part, *results_[i]), part->path()); !done) {
        results_[i] = tl::unexpected(std::move(done).error());
        part->close();
      }
    }
  }

  std::span<File* const> files_;
  std::vector<Result<Published>> results_;
};

}  // namespace

std::vector<Result<Published>> publish_together(std::span<File* const> files,
                                                const BeforeNames& before_names) {
  Batch batch(files);
  batch.make_durable();
  batch.tell(before_names);
  batch.take_names();
  batch.make_names_durable();
  return std::move(batch).results();
}

std::vector<std::string> remove_replaced(std::span<File* const> files) {
  std::vector<std::string> warnings;
  for (File* const file : files) {
    Artifact* const part = file->part();
    const Result<> removed = part != nullptr ? part->remove_replaced() : Result<>();
    warnings.push_back(removed ? std::string() : removed.error().text());
  }
  return warnings;
}

Result<Published> File::publish(const BeforeName& before_name) {
  File* const alone[] = {this};
  auto published = std::move(publish_together(alone, [&](std::span<const Durable> durable) {
                               return before_name ? before_name(*durable.front().published) : Result<>();
                             }).front());
  if (published) published->warning = std::move(remove_replaced(alone).front());
  return published;
}

}  // namespace afterbay::storage
