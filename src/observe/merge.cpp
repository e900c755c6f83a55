// SPDX-License-Identifier: Apache-2.0
// Joins the timers and counters of many ranks by name.
#include <algorithm>
#include <limits>

#include "observe/report.hpp"

namespace afterbay::observe {
namespace {

constexpr double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }
constexpr std::string_view wait_prefix = "wait: ";

/// The inclusive and exclusive times of one rank, derived from the measurements.
struct Times {
  std::vector<std::uint64_t> inclusive_ns;
  std::vector<std::uint64_t> children_ns;
  std::uint64_t roots_ns = 0;

  explicit Times(const RankProfile& profile)
      : inclusive_ns(profile.timers.size()), children_ns(inclusive_ns) {
    for (std::size_t i = profile.timers.size(); i-- > 0;) {  // children come after their parents
      const TimerRecord& timer = profile.timers[i];
      // Never run itself: the sum of its children. A wait in it is part of its siblings'
      // measurements.
      inclusive_ns[i] = timer.count > 0 ? timer.inclusive_ns : children_ns[i];
      if (timer.parent < 0) {
        roots_ns += inclusive_ns[i] / std::max<std::uint32_t>(timer.threads, 1);
      } else {
        const auto parent = static_cast<std::size_t>(timer.parent);
        const bool of_neighbours = profile.timers[parent].count == 0 && timer.name.starts_with(wait_prefix);
        if (!of_neighbours) children_ns[parent] += inclusive_ns[i];
      }
    }
  }
  /// Threads below a timer may together take longer than the timer.
  [[nodiscard]] std::uint64_t exclusive_ns(std::size_t i) const {
    return inclusive_ns[i] > children_ns[i] ? inclusive_ns[i] - children_ns[i] : 0;
  }
};

}  // namespace

namespace merging {

/// A row while ranks are added to it; `children` are indices of nodes in the order in which they
/// were first seen.
struct Node {
  Row row;
  std::uint64_t inclusive_ns = 0;
  std::uint64_t exclusive_ns = 0;
  bool seen = false;
  std::vector<std::size_t> children;

  void add(std::int32_t rank, std::uint64_t inclusive, std::uint64_t exclusive) {
    inclusive_ns += inclusive;
    exclusive_ns += exclusive;
    const double here = seconds_of(exclusive);
    if (!seen || here > row.max_exclusive) {
      row.max_exclusive = here;
      row.max_rank = rank;
    }
    if (!seen || here < row.min_exclusive) {
      row.min_exclusive = here;
      row.min_rank = rank;
    }
    seen = true;
  }
};

/// All ranks of one role. Node 0 is the role itself: the elapsed time.
class RoleMerge {
 public:
  explicit RoleMerge(std::string role) {
    report_.role = role;
    nodes_.emplace_back().row.name = std::move(role);
  }

  [[nodiscard]] const std::string& role() const { return report_.role; }

  void add(const RankProfile& profile) {
    ++report_.ranks;
    report_.elapsed = std::max(report_.elapsed, seconds_of(profile.elapsed_ns));
    if (profile.memory_high_water_bytes > report_.memory_high_water_bytes || report_.ranks == 1) {
      report_.memory_high_water_bytes = profile.memory_high_water_bytes;
      report_.memory_high_water_rank = profile.rank;
    }
    add_timers(profile);
    for (const CounterRecord& counter : profile.counters) add_counter(profile.rank, counter);
  }

  RoleReport finish() {
    finish_rows(0, 0);
    return std::move(report_);
  }

 private:
  void add_timers(const RankProfile& profile) {
    const Times times(profile);
    const std::uint64_t elapsed = profile.elapsed_ns;
    nodes_[0].add(profile.rank, elapsed, elapsed > times.roots_ns ? elapsed - times.roots_ns : 0);
    nodes_[0].row.count += 1;
    inside_ns_ += times.roots_ns;
    std::vector<std::size_t> node_of(profile.timers.size());
    for (std::size_t i = 0; i < profile.timers.size(); ++i) {
      const TimerRecord& timer = profile.timers[i];
      node_of[i] = child(timer.parent < 0 ? 0 : node_of[static_cast<std::size_t>(timer.parent)], timer.name);
      Node& node = nodes_[node_of[i]];
      node.add(profile.rank, times.inclusive_ns[i], times.exclusive_ns(i));
      node.row.count += timer.count;
      node.row.bytes += timer.bytes;
      node.row.threads = std::max(node.row.threads, timer.threads);
    }
  }

  std::size_t child(std::size_t parent, const std::string& name) {
    for (const std::size_t index : nodes_[parent].children)
      if (nodes_[index].row.name == name) return index;
    const std::size_t index = nodes_.size();
    nodes_[parent].children.push_back(index);
    nodes_.emplace_back().row.name = name;
    return index;
  }

  void add_counter(std::int32_t rank, const CounterRecord& counter) {
    auto row = std::find_if(report_.counters.begin(), report_.counters.end(),
                            [&](const CounterRow& have) { return have.name == counter.name; });
    if (row == report_.counters.end())
      row = report_.counters.insert(row, {counter.name, counter.kind, 0, counter.value, rank});
    row->total =
        counter.kind == CounterKind::sum ? row->total + counter.value : std::max(row->total, counter.value);
    if (counter.value > row->largest) {
      row->largest = counter.value;
      row->largest_rank = rank;
    }
  }

  void finish_rows(std::size_t index, std::uint32_t depth) {
    Node& node = nodes_[index];
    const double ranks = report_.ranks;
    const double whole = std::max(1e-9, seconds_of(nodes_[0].inclusive_ns) / ranks);
    node.row.depth = depth;
    node.row.inclusive = seconds_of(node.inclusive_ns) / ranks;
    node.row.exclusive = seconds_of(node.exclusive_ns) / ranks;
    node.row.inclusive_percent = 100 * node.row.inclusive / (whole * node.row.threads);
    node.row.exclusive_percent = 100 * node.row.exclusive / (whole * node.row.threads);
    report_.inside = seconds_of(inside_ns_) / ranks;
    report_.rows.push_back(node.row);
    for (const std::size_t next : node.children) finish_rows(next, depth + 1);
  }

  RoleReport report_;
  std::vector<Node> nodes_;
  std::uint64_t inside_ns_ = 0;
};

}  // namespace merging

using merging::RoleMerge;

void merge(std::vector<ErrorRecord>& all, const std::vector<ErrorRecord>& more) {
  for (const ErrorRecord& it : more) {
    const auto known = std::ranges::find_if(all, [&](const ErrorRecord& other) {
      return other.collection == it.collection && other.variable == it.variable;
    });
    if (known == all.end())
      all.push_back(it);
    else
      known->value = std::max(known->value, it.value);
  }
}

std::uint32_t workers_of(const RoleReport& role) {
  std::uint32_t workers = 1;
  for (const Row& row : role.rows) workers = std::max(workers, row.threads);
  return workers;
}

struct Merger::Roles {
  std::vector<RoleMerge> list;
};

Merger::Merger() : roles_(std::make_unique<Roles>()) {}
Merger::~Merger() = default;

void Merger::add(const RankProfile& profile) {
  auto role = std::ranges::find(roles_->list, profile.role, &RoleMerge::role);
  if (role == roles_->list.end()) role = roles_->list.insert(role, RoleMerge(profile.role));
  role->add(profile);
}

Report Merger::finish() {
  std::ranges::stable_sort(roles_->list, {}, [](const RoleMerge& it) {
    return it.role() == "model" ? 0 : it.role() == "server" ? 1 : 2;
  });
  Report report;
  for (RoleMerge& role : roles_->list) report.roles.push_back(role.finish());
  return report;
}

Report merge(std::span<const RankProfile> profiles) {
  Merger merger;
  for (const RankProfile& profile : profiles) merger.add(profile);
  return merger.finish();
}

}  // namespace afterbay::observe
