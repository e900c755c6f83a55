// SPDX-License-Identifier: Apache-2.0
#include "session/obstacles.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "base/rounding.hpp"
#include "base/units.hpp"
#include "session/fewer_connections.hpp"
#include "transport/mpi/footprint.hpp"

namespace afterbay::session {
namespace {

/// The directory itself, or its nearest existing parent, in which it would be created.
std::string existing(const std::string& directory) {
  std::error_code wrong;
  std::filesystem::path at =
      std::filesystem::absolute(directory.empty() ? "." : directory, wrong).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  while (!std::filesystem::exists(at, wrong) && at != at.parent_path()) at = at.parent_path();
  return at.string();
}

/// Existing files may belong to an earlier run, and may be replaced.
std::uint64_t files_in(const std::string& directory) {
  std::error_code wrong;
  const std::filesystem::directory_iterator entries(directory, wrong);
  return wrong ? 0 : static_cast<std::uint64_t>(std::distance(begin(entries), end(entries)));
}

class Finder {
 public:
  Finder(const config::Config& config, const NodeLoad& load, const SystemFacts& system)
      : config_(config), load_(load), system_(system) {
    std::set<std::string> names;
    for (const auto& override_ : config.overrides.collections) names.insert(override_.pattern);
    for (const std::string& name : names) collections_.emplace_back(name, config.settings_for(name));
  }

  void directories() {
    std::set<std::string> seen;
    for (const auto& [name, settings] : collections_)
      if (settings.directory) writable(*settings.directory, "collections." + name + ".directory", seen);
    if (!config_.journal.directory.empty()) writable(config_.journal.directory, "journal.directory", seen);
    if (config_.writing.when_full == config::WhenFull::spill)
      writable(config_.writing.spill.directory, "spill.directory", seen);
    if (const std::string pages = config_.statistics_directory(); !pages.empty())
      writable(pages, "statistics.directory", seen);
    const std::pair<const char*, const std::string*> reports[] = {
        {"report.json", &config_.report.json},
        {"report.trace", &config_.report.trace},
        {"report.html", &config_.report.html},
        {"report.prometheus", &config_.report.prometheus}};
    for (const auto& [setting, path] : reports)
      if (!path->empty()) writable(std::filesystem::path(*path).parent_path().string(), setting, seen);
  }

  void spilling() {
    if (config_.writing.when_full != config::WhenFull::spill) return;
    const std::string directory = existing(config_.writing.spill.directory);
    const std::uint64_t most = config_.writing.spill.quota_bytes * static_cast<std::uint64_t>(load_.servers);
    if (const auto room = system_.room(directory); room && room->free_bytes < most)
      add(make_error(ErrorCode::no_space,
                     "{}: {} are free, and {} I/O servers may spill {} there (spill.quota {} each): lower "
                     "spill.quota, or choose another spill.directory",
                     directory, print_about(room->free_bytes), load_.servers, print_about(most),
                     print_bytes(config_.writing.spill.quota_bytes)));
  }

  /// Compares the space of each file system with the declared volume of all collections that write
  /// to it.
  void space() {
    struct Demand {
      std::string directory;
      std::uint64_t bytes = 0;
      std::uint64_t files = 0;
      std::string whose;
      std::string whose_files;
    };
    std::map<std::uint64_t, Demand> demands;
    for (const auto& [name, settings] : collections_) {
      const std::uint64_t bytes = volume(settings);
      const auto files = static_cast<std::uint64_t>(settings.expected_files.value_or(0));
      if (bytes == 0 && files == 0) continue;
      const std::string directory = existing(settings.directory.value_or("."));
      const auto room = system_.room(directory);
      if (!room) continue;
      Demand& demand = demands[room->file_system];
      demand.directory = directory;
      demand.bytes = bytes > ~demand.bytes ? ~std::uint64_t{0} : demand.bytes + bytes;
      demand.files += files;
      if (files > 0) demand.whose_files += (demand.whose_files.empty() ? "" : ", ") + name;
      demand.whose += (demand.whose.empty() ? "" : ", ") + name;
    }
    for (const auto& entry : demands) {
      const Demand& demand = entry.second;
      const auto compare = [&](std::optional<std::uint64_t> free_bytes,
                               std::optional<std::uint64_t> free_files, const std::string& what,
                               const char* advice) {
        if (free_bytes && demand.bytes > *free_bytes)
          add(make_error(ErrorCode::no_space,
                         "{}: {} are free{}, and the collections {} are declared to write {}: {}",
                         demand.directory, print_about(*free_bytes), what, demand.whose,
                         print_about(demand.bytes), advice));
        if (free_files && demand.files > *free_files &&
            demand.files > *free_files + files_in(demand.directory))
          add(make_error(ErrorCode::no_space,
                         "{}: {} files (inodes) are free{}, and the collections {} are declared to write {}: "
                         "{}",
                         demand.directory, *free_files, what, demand.whose_files, demand.files, advice));
      };
      const auto room = system_.room(demand.directory);
      compare(room->free_bytes, room->free_files, "",
              "free space, write elsewhere, or correct expected_volume or expected_files");
      for (const auto& quota : system_.quotas(demand.directory))
        compare(quota.free_bytes, quota.free_files, " of the quota of " + quota.whose,
                "ask for more, or remove files");
    }
  }

  void limits() {
    if (const auto most = system_.largest_file())
      for (const auto& [name, settings] : collections_)
        if (settings.expected_bytes.value_or(0) > *most)
          add(make_error(ErrorCode::resources,
                         "files may have {} here (ulimit -f), and collections.{}.expected_size is {}: raise "
                         "the limit",
                         print_about(*most), name, print_bytes(*settings.expected_bytes)));
  }

  /// Compares what the processes of this node need with what the system gives them. Shared memory
  /// is outside /dev/shm, so the size of /dev/shm does not matter.
  void processes() {
    const auto demand = demand_of(config_, load_);
    if (!demand) return add(demand.error());
    memory(*demand);
    locked(*demand);
    descriptors(*demand);
    if (const auto most = system_.most_tag(); demand->tags > 0 && most)
      if (auto tags = transport::check_tags(load_.job.models, load_.job.servers, *most); !tags)
        add(std::move(tags).error());
  }

  [[nodiscard]] std::vector<Error> finish() && { return std::move(found_); }

 private:
  static std::uint64_t volume(const config::CollectionSettings& settings) {
    if (settings.expected_volume) return *settings.expected_volume;
    if (!settings.expected_files) return 0;  // the size alone is used for chunks and stripes only
    const auto files = static_cast<std::uint64_t>(*settings.expected_files);
    const std::uint64_t bytes = settings.expected_bytes.value_or(0);
    return bytes > ~std::uint64_t{0} / files ? ~std::uint64_t{0} : bytes * files;
  }

  void writable(const std::string& directory, const std::string& setting, std::set<std::string>& seen) {
    if (!seen.insert(directory).second) return;
    const std::string there = existing(directory);
    const int number = system_.write_error(there);
    if (number != 0)
      add(make_error(ErrorCode::io, "no files can be created in {} ({}): {}: {}", directory, setting, there,
                     std::strerror(number))
              .with_native(number));
  }

  void memory(const JobDemand& demand) {
    const auto free = system_.free_memory();
    const std::uint64_t bytes = memory_of(demand);
    if (!free || bytes <= *free) return;
    std::string settings = advice(*free, memory_of);
    if (!settings.empty()) settings += ", or ";
    add(make_error(ErrorCode::resources,
                   "{} of memory are free on this node, and the session's processes there take up to {} "
                   "({}): {}start fewer of them per node",
                   print_about(*free), print_about(bytes), memory_text(demand), settings));
  }

  /// "set memory.server: 100MiB, memory.link: 8MiB": the settings with which the processes need at
  /// most `bytes`, and a little is left; empty: there are none.
  [[nodiscard]] std::string advice(std::uint64_t bytes, Measure measure) const {
    constexpr std::uint64_t left_share = 20;
    std::string text;
    for (const auto& [name, value] : settings_that_fit(config_, load_, bytes - bytes / left_share, measure))
      text += fmt::format("{}{}: {}", text.empty() ? "set " : ", ", name, print_bytes(value));
    return text;
  }

  /// The limit is one of each process.
  void locked(const JobDemand& demand) {
    const auto most = system_.locked_memory();
    if (!most || !load_.network || demand.processes.empty()) return;
    const auto bytes = [](const DemandOfAlike& it) { return it.each.network_bytes(); };
    const DemandOfAlike& needs_most = *std::ranges::max_element(demand.processes, {}, bytes);
    if (bytes(needs_most) <= *most) return;
    std::string settings = advice(*most, network_of);
    if (!settings.empty()) settings.insert(0, ", or ");
    add(make_error(ErrorCode::resources,
                   "a process may lock {} of memory (ulimit -l), and the network may need up to {} locked "
                   "by one process here ({}: {}): raise the limit to {}{}",
                   print_about(*most), print_about(bytes(needs_most)), needs_most.name(),
                   needs_most.each.network_text(), print_bytes(rounded_up(bytes(needs_most), MiB)),
                   settings));
  }

  void for_report(const JobDemand& demand, std::uint64_t most) {
    std::uint64_t files = 0;
    for (const DemandOfAlike& it : demand.processes) files = std::max(files, it.each.descriptors);
    const std::uint64_t all = files + demand.report_connections;
    if (demand.report_connections == 0 || all <= most || !system_.by_sockets()) return;
    add(make_error(ErrorCode::resources,
                   "a process may have {} files open (ulimit -n), and at the end, when all ranks send their "
                   "figures to the first one{}, that needs up to {}: {} sockets and {} files: raise the "
                   "limit to {}, or {}",
                   most, config_.report.is_wanted() ? " for the report" : "", all, demand.report_connections,
                   files, all, without_joint_figures(config_)));
  }

  /// Compares, of each kind of process, the one that needs most.
  void descriptors(const JobDemand& demand) {
    const auto most = system_.most_open_files();
    if (!most) return;
    for (const auto& [kind, name] :
         {std::pair{"I/O server", "a server"}, {"frontend", "a frontend"}, {"model rank", "a model rank"}}) {
      const DemandOfAlike* needs_most = nullptr;
      for (const DemandOfAlike& it : demand.processes)
        if (std::string_view(it.kind) == kind && it.count > 0 &&
            (needs_most == nullptr || it.each.connected() > needs_most->each.connected()))
          needs_most = &it;
      if (needs_most == nullptr) continue;
      const std::string& pool = needs_most->pool;
      descriptors(*needs_most, pool.empty() ? name : fmt::format("{} of pool '{}'", name, pool), *most);
    }
    for_report(demand, *most);
  }

  void descriptors(const DemandOfAlike& process, const std::string& name, std::uint64_t most) {
    const ProcessDemand& each = process.each;
    if (each.descriptors > most) {
      add(make_error(ErrorCode::resources,
                     "a process may have {} files open (ulimit -n), and {} needs up to {} for files and "
                     "shared memory: "
                     "raise the limit to {}",
                     most, name, each.descriptors,
                     system_.by_sockets() ? each.connected() : each.descriptors));
    } else if (each.connected() > most && system_.by_sockets()) {
      add(make_error(
          ErrorCode::resources,
          "a process may have {} files open (ulimit -n), and {} needs up to {}: {} sockets, one for each "
          "process on other nodes that it talks to ({}), and {} files: raise the limit to {}{}",
          most, name, each.connected(), each.far.all(), each.far.text(), each.descriptors, each.connected(),
          fewer_connections(config_, load_, process, most, system_.most_tag())));
    }
  }

  void add(Error error) { found_.push_back(std::move(error)); }

  const config::Config& config_;
  const NodeLoad& load_;
  const SystemFacts& system_;
  std::vector<std::pair<std::string, config::CollectionSettings>> collections_;
  std::vector<Error> found_;
};

}  // namespace

std::vector<Error> find_obstacles(const config::Config& config, const NodeLoad& load,
                                  const SystemFacts& system) {
  Finder finder(config, load, system);
  if (load.servers > 0) {
    finder.directories();
    finder.space();
    finder.spilling();
    finder.limits();
  }
  finder.processes();
  return std::move(finder).finish();
}

std::optional<Error> join_obstacles(const std::vector<Error>& found) {
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found.front();
  Error all = make_error(found.front().code, "{} problems would end this run:", found.size());
  for (const Error& one : found) all.message += "\n  - " + one.message;
  return all;
}

}  // namespace afterbay::session
