// SPDX-License-Identifier: Apache-2.0
#include "session/obstacles.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "base/units.hpp"
#include "transport/link.hpp"

namespace afterbay::session {
namespace {

constexpr std::uint64_t own_files = 64;    ///< for MPI, libraries and logs
constexpr std::uint64_t files_a_file = 3;  ///< open per output file
/// Created at the same time, if no more collections are named.
constexpr std::uint64_t files_in_making = 16;

/// A rounded size for messages, for example "1.5 TiB".
std::string about(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(units); ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 1, units[unit]);
}

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
    for (const auto& override_ : config.overrides) names.insert(override_.pattern);
    for (const std::string& name : names) collections_.emplace_back(name, config.settings_for(name));
  }

  void directories() {
    std::set<std::string> seen;
    for (const auto& [name, settings] : collections_)
      if (settings.directory) writable(*settings.directory, "collections." + name + ".directory", seen);
    if (!config_.journal.directory.empty()) writable(config_.journal.directory, "journal.directory", seen);
    if (config_.when_full == config::WhenFull::spill)
      writable(config_.spill.directory, "spill.directory", seen);
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
    if (config_.when_full != config::WhenFull::spill) return;
    const std::string directory = existing(config_.spill.directory);
    const std::uint64_t most = config_.spill.quota_bytes * static_cast<std::uint64_t>(load_.servers);
    if (const auto room = system_.room(directory); room && room->free_bytes < most)
      add(make_error(ErrorCode::no_space,
                     "{}: {} are free, and {} I/O servers may spill {} there (spill.quota {} each): lower "
                     "spill.quota, or choose another spill.directory",
                     directory, about(room->free_bytes), load_.servers, about(most),
                     print_bytes(config_.spill.quota_bytes)));
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
          add(make_error(
              ErrorCode::no_space, "{}: {} are free{}, and the collections {} are declared to write {}: {}",
              demand.directory, about(*free_bytes), what, demand.whose, about(demand.bytes), advice));
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
                         about(*most), name, print_bytes(*settings.expected_bytes)));
    const std::uint64_t files = own_files + static_cast<std::uint64_t>(load_.ranks) +
                                files_a_file * std::max<std::uint64_t>(files_in_making, collections_.size());
    if (const auto most = system_.most_open_files(); most && *most < files)
      add(make_error(
          ErrorCode::resources,
          "a process may have {} files open (ulimit -n), and a server needs up to {}: raise the limit", *most,
          files));
    const std::uint64_t link_bytes =
        config_.memory.link_bytes * static_cast<std::uint64_t>(load_.ranks - load_.servers) +
        config_.memory.receive_bytes * static_cast<std::uint64_t>(load_.servers);
    if (const auto most = system_.locked_memory(); most && *most < link_bytes)
      add(make_error(ErrorCode::resources,
                     "a process may lock {} of memory (ulimit -l), and the network of this node may need {} "
                     "locked: raise the limit",
                     about(*most), about(link_bytes)));
  }

  /// Compares the free memory with the memory of servers and frontends. It is shared memory outside
  /// /dev/shm, so the size of /dev/shm does not matter.
  void memory() {
    const config::Memory& each = config_.memory;
    const bool reads =
        // Otherwise input memory may never be used.
        config_.origin("memory.input").source != config::Source::fallback;
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(load_.servers) *
        (each.server_bytes + each.phase_bytes() + each.server_bytes / transport::LinkSizes::places_share +
         each.chunks_bytes + (reads ? each.input_bytes : 0) + (load_.network ? each.receive_bytes : 0));
    const auto free = system_.free_memory();
    if (free && bytes > *free)
      add(make_error(
          ErrorCode::resources,
          "{} of memory are free on this node, and its {} I/O servers take {} (memory.server {}{}{} and "
          "memory.chunks {} each): lower memory.server, or spread the servers over more nodes",
          about(*free), load_.servers, about(bytes), print_bytes(each.server_bytes),
          reads ? fmt::format(", memory.input {}", print_bytes(each.input_bytes)) : "",
          load_.network ? fmt::format(", memory.receive {}", print_bytes(each.receive_bytes)) : "",
          print_bytes(each.chunks_bytes)));
    if (free && config_.topology == config::Topology::tiered && each.frontend_bytes > *free)
      add(make_error(
          ErrorCode::resources,
          "{} of memory are free on this node, and a frontend takes {} (memory.frontend): lower it",
          about(*free), print_bytes(each.frontend_bytes)));
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
  finder.directories();
  finder.space();
  finder.spilling();
  finder.limits();
  finder.memory();
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
