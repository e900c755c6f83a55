// SPDX-License-Identifier: Apache-2.0
#include "storage/publication.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/caller_terms.hpp"
#include "storage/artifact.hpp"
#include "storage/epoch/part_identity.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {
namespace {

/// Calls `task` with each number below `count`, in this thread and in others that end before it
/// returns. If the system has no more threads, there are fewer.
template <class Task>
void in_threads(std::size_t threads, std::size_t count, const Task& task) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t n = next++; n < count; n = next++) task(n);
  };
  std::vector<std::jthread> others;
  try {
    while (others.size() + 1 < threads) others.emplace_back(in_terms_of_caller(work));
  } catch (const std::system_error&) {  // those that have started, and this one, do it
  }
  work();
}

constexpr std::size_t files_per_thread = 2;  ///< at least; fewer are not worth a thread

/// Artifacts that are being published; those that fail are removed.
class Batch {
 public:
  explicit Batch(std::span<File* const> files) : files_(files) {
    for (File* const file : files) {
      results_.push_back(file->finish());
      if (Artifact* const part = part_of(results_.size() - 1)) part->start_write_back();
    }
  }

  /// File systems join the commits of syncs that run at the same time.
  void make_durable(std::size_t syncs) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (part_of(i) != nullptr) open.push_back(i);
    std::vector<Result<>> done(files_.size());
    in_threads(std::min(syncs, open.size() / files_per_thread), open.size(), [&](std::size_t n) {
      const std::size_t i = open[n];
      done[i] = make_durable(*part_of(i), *results_[i]);
    });
    for (const std::size_t i : open)
      if (!done[i]) lose(i, std::move(done[i]).error());
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
      if (auto done = in_file(step(*part, *results_[i]), part->path()); !done)
        lose(i, std::move(done).error());
    }
  }

  static Result<> make_durable(Artifact& part, Published& published) {
    const PartIdentity identity = identity_of_part(part.descriptor());
    published.inode = identity.inode;
    published.born_ns = identity.born_ns;
    return in_file(part.make_durable(published), part.path());
  }

  void lose(std::size_t i, Error error) {
    Artifact* const part = part_of(i);
    results_[i] = tl::unexpected(std::move(error));
    part->close();
  }

  std::span<File* const> files_;
  std::vector<Result<Published>> results_;
};

}  // namespace

std::vector<Result<Published>> publish_together(std::span<File* const> files, const BeforeNames& before_names,
                                                std::size_t syncs) {
  Batch batch(files);
  batch.make_durable(syncs);
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
