// SPDX-License-Identifier: Apache-2.0
#include "config/contradictions.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "base/glob.hpp"
#include "base/suggest.hpp"
#include "base/units.hpp"
#include "codec/codec.hpp"
#include "config/settings.hpp"

namespace afterbay::config {

namespace {

class Finder {
 public:
  Finder(const Config& config, Problems& problems) : config_(config), problems_(problems) {}

  void memory() {
    const Memory& memory = config_.memory;
    const std::uint64_t large = memory.frame_bytes() - memory.small_class_bytes();
    if (memory.blocks() < 2) {
      conflict(
          {"memory.block", "memory.server", "memory.small_share"},
          fmt::format("{} leaves {} for large blocks, since {}{}; that must hold at least two, but {}; raise "
                      "memory.server to {} or lower memory.block",
                      said("memory.server"), print_bytes(large), said("memory.small_share"), stages(),
                      said("memory.block"), print_bytes(enough_for_two_blocks())));
    }
    if (memory.small_block_bytes >= memory.block_bytes) {
      conflict({"memory.small_block", "memory.block"},
               fmt::format("{}, but {}; small blocks must be smaller", said("memory.small_block"),
                           said("memory.block")));
    } else if (memory.small_share > 0 && memory.small_blocks() < 2) {
      conflict({"memory.small_block", "memory.server", "memory.small_share"},
               fmt::format("{} and {} leave {} for small blocks; that must hold at least two, but {}; raise "
                           "memory.server or memory.small_share, or set memory.small_share to 0 for none",
                           said("memory.server"), said("memory.small_share"),
                           print_bytes(memory.small_class_bytes()), said("memory.small_block")));
    }
  }

  void network() {
    const Memory& memory = config_.memory;
    const auto at_least = [&](const char* name, std::uint64_t bytes, std::uint64_t least,
                              const std::string& what) {
      if (bytes >= least) return;
      conflict({name, "memory.block"},
               fmt::format("{}, but {}; it must hold at least {}: raise {} to {} or lower memory.block",
                           said(name), said("memory.block"), what, name, print_bytes(least)));
    };
    const std::uint64_t blocks = 2 * memory.block_bytes;
    at_least("memory.link", memory.link_bytes, blocks, "two blocks");
    at_least("memory.receive", memory.receive_bytes, memory.least_receive_bytes(),
             "two blocks and " + print_bytes(memory.least_receive_bytes() - blocks));
  }

  void spill() {
    if (config_.writing.when_full != WhenFull::spill ||
        config_.writing.spill.quota_bytes >= config_.memory.block_bytes)
      return;
    conflict({"spill.quota", "memory.block"},
             fmt::format("{}, but {}; at least one block must fit in the quota", said("spill.quota"),
                         said("memory.block")));
  }

  void chunk() {
    if (config_.writing.chunk_bytes <= config_.memory.block_bytes) return;
    conflict({"chunk", "memory.block"},
             fmt::format("{}, but {}; a chunk must fit in a block", said("chunk"), said("memory.block")));
  }

  void topology() {
    if (config_.servers.topology == Topology::inline_) {
      for (const std::string_view name : settings_of_servers)
        unused(name,
               fmt::format("with the inline topology the model's own processes write; remove {}", name));
    } else {
      unused(
          "inline.mode",
          fmt::format("with the {} topology it has no effect; remove inline.mode or set topology to inline",
                      config_.servers.topology == Topology::tiered ? "tiered" : "dedicated"));
    }
  }

  void pools() {
    const std::vector<std::string> names = config_.pools();
    for (const CollectionOverride& item : config_.overrides.collections)
      if (item.setting == "pool" && item.variable.empty()) collection_pools(item, names);
    if (!config_.servers.input_pool.empty())
      must_exist(config_.servers.input_pool, names, "input_pool", config_.origin("input_pool").place);
    if (config_.overrides.pools.empty()) return;
    if (config_.servers.topology == Topology::inline_) {
      problems_.add(ErrorCode::conflict, config_.overrides.pools.front().origin.place,
                    fmt::format("{} is set, but {}: with the inline topology there are no pools; remove them",
                                config_.overrides.pools.front().full_name(), said("topology")));
      return;
    }
    std::uint64_t least = ~std::uint64_t{0};
    for (const std::string& name : names) {
      const Config pool = config_.of_pool(name);
      least = std::min(least, pool.servers.collections_from_bytes);
      if (has_own_memory(name)) Finder(pool, problems_).memory();
      Finder(pool, problems_).frontends();
    }
    if (least > 0)
      problems_.add(
          ErrorCode::conflict, config_.overrides.pools.front().origin.place,
          fmt::format("every pool has collections_from, {} at least: no pool would take collections of "
                      "smaller files; leave it out for one of them",
                      print_bytes(least)));
  }

  /// With nodes reserved for servers, the other ranks of these nodes are frontends.
  void frontends() {
    if (config_.servers.layout.frontends_per_node == 0 || config_.servers.topology == Topology::inline_)
      return;
    if (config_.servers.topology != Topology::tiered)
      conflict({"frontends_per_node", "topology"},
               fmt::format("{}, but {}: only the tiered topology has frontends; remove frontends_per_node",
                           said("frontends_per_node"), said("topology")));
    else if (config_.servers.layout.isolate)
      conflict({"frontends_per_node", "isolate_nodes"},
               fmt::format(
                   "{}, but {}: all ranks of a server's node that are not servers are its frontends; remove "
                   "frontends_per_node",
                   said("frontends_per_node"), said("isolate_nodes")));
  }

  void transport() {
    const auto& nodes = config_.network.nodes;
    const bool several = std::adjacent_find(nodes.begin(), nodes.end(), std::not_equal_to<>()) != nodes.end();
    if (config_.network.transport != Transport::shm || !several) return;
    conflict({"transport", "nodes"},
             fmt::format(
                 "{}, but {} declares ranks on different nodes, which share no memory; set transport to auto "
                 "or mpi",
                 said("transport"), said("nodes")));
  }

  void report() {
    const Report& report = config_.report;
    const std::pair<const char*, const std::string*> files[] = {{"report.json", &report.json},
                                                                {"report.trace", &report.trace},
                                                                {"report.html", &report.html},
                                                                {"report.prometheus", &report.prometheus}};
    for (const auto& [name, path] : files)
      for (const auto& [other, same] : files)
        if (std::string_view(name) < other && !path->empty() && *path == *same)
          conflict({name, other},
                   fmt::format("{} and {}: both would write the same file", said(name), said(other)));
  }

  /// Triggers without an effect.
  void triggers() {
    for (const triggers::Trigger& it : config_.triggers.all) {
      const std::string name = "triggers." + it.name;
      if (!it.command.empty() || !it.touch.empty() || problems_.concerns(name + ".touch") ||
          problems_.concerns(name + ".command"))
        continue;
      const auto origin = config_.origins.lower_bound(name + ".");
      const bool known = origin != config_.origins.end() && origin->first.starts_with(name + ".");
      problems_.add(ErrorCode::conflict, known ? origin->second.place : name,
                    fmt::format("{} has no effect; set its command or touch", name));
    }
  }

  /// Filters that the store does not have.
  void collections() {
    for (const CollectionOverride& store : config_.overrides.collections) {
      if (store.setting != "store" || traits_of(*format_of(store.value)).filters != FilterRule::refused)
        continue;
      for (const CollectionOverride& filter : config_.overrides.collections) {
        if ((is_filter(filter) || chooses_filters(filter)) && both_hold(store, filter))
          refuse_filter(store, filter);
      }
    }
  }

  /// Filters beside `compress`, which chooses them.
  void compress() {
    for (const CollectionOverride& compress : config_.overrides.collections) {
      if (!chooses_filters(compress)) continue;
      for (const CollectionOverride& filter : config_.overrides.collections) {
        if (!is_filter(filter) || !both_hold(compress, filter)) continue;
        if (codec::find_codec(filter.setting)->kind == codec::FilterKind::checksum) continue;
        problems_.add(
            ErrorCode::conflict, later_of(compress, filter).place,
            fmt::format("{} is {} ({}), but {} is {} ({}), which chooses the filters; remove one of "
                        "them",
                        filter.full_name(), filter.value, filter.origin.place, compress.full_name(),
                        compress.value, compress.origin.place));
      }
    }
  }

  /// Options that files written by several servers cannot have.
  void shared_files() {
    for (const CollectionOverride& item : config_.overrides.collections) {
      if ((item.setting != "readable" && item.setting != "droppable") || item.value != "on") continue;
      const CollectionSettings settings = config_.settings_for(item.pattern);
      const std::vector<std::string> pools = settings.pools.value_or(std::vector<std::string>{""});
      const auto shared_in = std::ranges::find_if(pools, [&](const std::string& name) {
        const Config pool = config_.of_pool(name);
        return is_shared(settings.placement.value_or(pool.servers.placement)) && pool.servers.number > 1;
      });
      if (shared_in == pools.end() || !effective(item.pattern, item)) continue;
      const Placement placement = settings.placement.value_or(config_.of_pool(*shared_in).servers.placement);
      problems_.add(
          ErrorCode::conflict, item.origin.place, item.full_name(),
          fmt::format("{} is on, but with the placement {} several servers write each file, and such "
                      "a file cannot be {}; set collections.{}.placement to collection or file",
                      item.full_name(), placement == Placement::slab ? "slab" : "variable", item.setting,
                      item.pattern));
    }
  }

 private:
  /// The pools that `collections.PATTERN.pool` names must all exist, and each must be named once.
  void collection_pools(const CollectionOverride& item, const std::vector<std::string>& names) {
    CollectionSettings given;
    (void)find_setting(collection_settings(), item.setting)->assign(given, item.value);
    std::set<std::string> seen;
    for (const std::string& name : *given.pools) {
      must_exist(name, names, item.full_name(), item.origin.place);
      if (!seen.insert(name).second)
        problems_.add(ErrorCode::invalid_argument, item.origin.place, item.full_name(),
                      fmt::format("the pool \"{}\" is named twice; name each pool once", name));
    }
  }

  void must_exist(const std::string& name, const std::vector<std::string>& names, const std::string& setting,
                  const std::string& place) {
    if (std::ranges::find(names, name) != names.end()) return;
    const bool any = names.front() != "";
    problems_.add(
        ErrorCode::unknown_name, place, setting,
        any ? fmt::format("there is no pool \"{}\"{}; expected {}", name, did_you_mean(name, names),
                          one_of(names))
            : fmt::format("there is no pool \"{}\": none is configured, see pools.NAME.servers", name));
  }

  [[nodiscard]] bool has_own_memory(const std::string& pool) const {
    return std::ranges::any_of(config_.overrides.pools, [&](const PoolOverride& item) {
      return item.pool == pool && (item.setting.starts_with("memory.") || item.setting == "writers");
    });
  }

  static bool is_shared(Placement placement) {
    return placement == Placement::slab || placement == Placement::variable;
  }

  static bool is_filter(const CollectionOverride& item) {
    if (codec::find_codec(item.setting) == nullptr) return false;
    VariableSettings given;
    (void)find_setting(variable_settings(), item.setting)->assign(given, item.value);
    return given.filters.begin()->second.has_value();
  }

  static bool chooses_filters(const CollectionOverride& item) {
    return item.setting == "compress" && item.value != "off";
  }

  static const Origin& later_of(const CollectionOverride& a, const CollectionOverride& b) {
    return std::max(a.origin, b.origin, [](const Origin& x, const Origin& y) { return x.source < y.source; });
  }

  /// Whether some named collection or pattern gets both settings.
  [[nodiscard]] bool both_hold(const CollectionOverride& store, const CollectionOverride& filter) const {
    return std::any_of(config_.overrides.collections.begin(), config_.overrides.collections.end(),
                       [&](const CollectionOverride& named) {
                         return effective(named.pattern, store) && effective(named.pattern, filter);
                       });
  }

  /// Whether `item` is the effective value of its setting for `collection`.
  [[nodiscard]] bool effective(const std::string& collection, const CollectionOverride& item) const {
    const CollectionOverride* last = nullptr;
    for (const CollectionOverride& other : config_.overrides.collections) {
      if (other.setting == item.setting && other.variable == item.variable &&
          glob_match(other.pattern, collection)) {
        last = &other;
      }
    }
    return last == &item;
  }

  void refuse_filter(const CollectionOverride& store, const CollectionOverride& filter) {
    problems_.add(
        ErrorCode::conflict, later_of(filter, store).place,
        fmt::format("{} is {} ({}), but {} is {} ({}), a format without filters; remove {} or use the "
                    "store {}",
                    filter.full_name(), filter.value, filter.origin.place, store.full_name(), store.value,
                    store.origin.place, filter.setting,
                    formats_with([](const FormatTraits& it) { return it.filters == FilterRule::applied; })));
  }

  /// `name` has no effect: a contradiction, unless the setting that disables it comes from a source
  /// of higher precedence (a flag may select the inline topology although a file configures
  /// servers).
  void unused(std::string_view name, std::string_view why) {
    const Origin& origin = config_.origin(name);
    if (origin.source == Source::fallback || origin.source < config_.origin("topology").source) return;
    conflict({name, "topology"}, fmt::format("{}, but {}: {}", said(name), said("topology"), why));
  }

  /// "memory.block is 4MiB (run.yaml:3:5)".
  [[nodiscard]] std::string said(std::string_view name) const {
    const auto* setting = find_setting(session_settings(), name);
    return fmt::format("{} is {} ({})", name, setting->print(config_), config_.origin(name).place);
  }

  /// " and the writers have 2 buffers of a block and a page each, for stages of variables or
  /// spilled data"; empty if they have none.
  [[nodiscard]] std::string stages() const {
    const Memory& memory = config_.memory;
    if (memory.writer_buffers == 0) return "";
    return fmt::format(
        " and the writers have {} buffer{} of a block and a page each, for stages of variables or spilled "
        "data",
        memory.writer_buffers, memory.writer_buffers == 1 ? "" : "s");
  }

  [[nodiscard]] std::uint64_t enough_for_two_blocks() const {
    const double share = 1.0 - config_.memory.small_share;
    const auto bytes =
        static_cast<std::uint64_t>(2.0 * static_cast<double>(config_.memory.block_bytes) / share) +
        config_.memory.writer_bytes();
    constexpr std::uint64_t unit = std::uint64_t{1} << 20;
    return (bytes / unit + 1) * unit;
  }

  /// Located at the setting with the highest precedence, which is most likely the one to change.
  void conflict(std::initializer_list<std::string_view> names, const std::string& text) {
    const Origin* last = nullptr;
    for (const std::string_view name : names) {
      if (problems_.concerns(name)) return;
      const Origin& origin = config_.origin(name);
      if (last == nullptr || origin.source > last->source) last = &origin;
    }
    problems_.add(ErrorCode::conflict, last->place, text);
  }

  const Config& config_;
  Problems& problems_;
};

}  // namespace

void find_contradictions(const Config& config, Problems& problems) {
  Finder finder(config, problems);
  finder.topology();
  finder.frontends();
  finder.pools();
  finder.transport();
  finder.memory();
  finder.network();
  finder.spill();
  finder.chunk();
  finder.report();
  finder.collections();
  finder.compress();
  finder.shared_files();
  finder.triggers();
}

}  // namespace afterbay::config
