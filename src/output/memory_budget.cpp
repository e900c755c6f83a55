// SPDX-License-Identifier: Apache-2.0
#include "output/memory_budget.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/units.hpp"
#include "output/agreement.hpp"
#include "output/refuse.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

std::string on_grid(const Space& space) {
  return space.is_subset() ? fmt::format(" on the grid '{}'", space.name) : std::string();
}

std::string largest_of(std::vector<MemoryUse> uses) {
  constexpr std::size_t named = 5;
  std::ranges::stable_sort(uses, std::ranges::greater(), &MemoryUse::bytes);
  std::string text;
  for (std::size_t i = 0; i < std::min(named, uses.size()); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", uses[i].what, print_about(uses[i].bytes));
  return text;
}

/// The memory that a rank needs.
struct Need {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::memory_need);
  std::uint64_t bytes = 0;
  std::int32_t rank = 0;
  std::string largest;
  template <class A>
  void fields(A& a) {
    a(bytes, rank, largest);
  }
};

struct Nothing {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::memory_answer);
  template <class A>
  void fields(A&) {}
};

[[noreturn]] void refuse_need(std::uint64_t limit, const Need& need) {
  refuse(
      ErrorCode::resources,
      "described output needs {} of memory on model rank {}, but output.memory allows {}. The largest parts "
      "are: {}. Raise output.memory, distribute the model over more ranks, or describe less",
      print_about(need.bytes), need.rank, print_bytes(limit), need.largest);
}

}  // namespace

std::vector<MemoryUse> memory_of(const Plan& plan, std::size_t waiting) {
  std::map<std::string, std::size_t> sums;  // parts of a cycle have statistics of their own
  for (const auto& it : plan.statistics)
    sums[fmt::format("statistics of '{}' over {}{}", it->of().name(), it->schedule().every().text(),
                     on_grid(it->of().space()))] += it->state_bytes() + it->buffer_bytes();
  for (const auto& it : plan.computed)
    sums[fmt::format("values of the expression '{}'{}", it->name(), on_grid(it->space()))] +=
        it->buffer_bytes();
  for (const auto& it : plan.axis_reductions)
    sums[fmt::format("reduction '{}'{}", it->name(), on_grid(it->space()))] += it->buffer_bytes();
  for (const auto& it : plan.grid_reductions)
    sums[fmt::format("reduction '{}'{}", it->name(), on_grid(it->of().space()))] +=
        it->buffer_bytes(it->part(), waiting);
  std::set<const Space*> spaces;
  for (const auto& it : plan.subsets) {
    sums[fmt::format("values of '{}'{}", it->name(), on_grid(it->space()))] += it->buffer_bytes();
    if (spaces.insert(&it->space()).second)
      sums[fmt::format("places of the points{}", on_grid(it->space()))] +=
          it->space().from.size() * sizeof(it->space().from[0]);
  }
  for (const auto& it : plan.writers)
    sums[fmt::format("conversions for the file '{}'", it->files().file().name)] += it->buffer_bytes();
  for (const auto& it : plan.files) {
    sums[fmt::format("coordinates of the file '{}'", it->file().name)] += it->coordinate_bytes();
    for (std::size_t v = 0; v < it->variables().size(); ++v)
      if (it->variables()[v].kind == TimeKind::once)
        sums[fmt::format("'{}' of the file '{}', written once", it->variables()[v].name, it->file().name)] +=
            it->variables()[v].space->points * size_of(it->once(v).type);
  }
  std::vector<MemoryUse> uses;
  for (const auto& [what, bytes] : sums)
    if (bytes > 0) uses.push_back({what, bytes});
  return uses;
}

void MemoryBudget::take(Session& session, std::vector<MemoryUse> uses) {
  uses_ = std::move(uses);
  for (const MemoryUse& it : uses_) bytes_ += it.bytes;
  observe::peak(counter_, bytes_);
  if (limit_ == 0) return;
  AgreementSteps<Need, Nothing> steps;
  steps.join = [](Need& mine, Need theirs) {
    if (theirs.bytes > mine.bytes) mine = std::move(theirs);
  };
  steps.decide = [this](const Need& most) {
    if (most.bytes > limit_) refuse_need(limit_, most);
    return Nothing();
  };
  rank_ = session.model_rank();
  static_cast<void>(
      agree(session, "the memory of described output", Need{bytes_, rank_, largest_of(uses_)}, steps));
}

void MemoryBudget::take(MemoryUse use) {
  uses_.push_back(std::move(use));
  const std::uint64_t bytes = bytes_ + uses_.back().bytes;
  if (limit_ > 0 && bytes > limit_) {
    const Need need{bytes, rank_, largest_of(uses_)};
    uses_.pop_back();
    refuse_need(limit_, need);
  }
  bytes_ = bytes;
  observe::peak(counter_, bytes_);
}

}  // namespace afterbay::output
