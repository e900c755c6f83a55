// SPDX-License-Identifier: Apache-2.0
#include "client/team.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/caller_terms.hpp"
#include "model/decomposition.hpp"

namespace afterbay::client {
namespace {

/// The parts of the boxes that are outside `taken`, without those that have no points.
std::vector<model::Box> without_box(const std::vector<model::Box>& boxes, const model::Box& taken) {
  std::vector<model::Box> left;
  for (model::Box box : boxes) {
    const model::Box common = model::intersect(box, taken);
    if (common.empty()) {
      if (!box.empty()) left.push_back(box);
      continue;
    }
    // Dimension by dimension: what lies before and after the common part.
    for (std::size_t d = 0; d < box.rank(); ++d) {
      const std::uint64_t end = box.start[d] + box.count[d];
      const std::uint64_t common_end = common.start[d] + common.count[d];
      model::Box side = box;
      side.count[d] = common.start[d] - box.start[d];
      if (!side.empty()) left.push_back(side);
      side.start[d] = common_end;
      side.count[d] = end - common_end;
      if (!side.empty()) left.push_back(side);
      box.start[d] = common.start[d];
      box.count[d] = common.count[d];
    }
  }
  return left;
}

}  // namespace

std::string Member::text() const {
  if (number == 0) return "the session itself";
  return name.empty() ? fmt::format("endpoint {}", number) : fmt::format("endpoint {} ('{}')", number, name);
}

const EndpointPart* Member::part_of(int decomposition) const {
  const auto part = std::ranges::find(parts, decomposition, &EndpointPart::decomposition);
  return part == parts.end() || part->empty() ? nullptr : &*part;
}

Team::Team() { members_.push_back(std::make_shared<Member>()); }

std::shared_ptr<Member> Team::join(std::string name) {
  auto member = std::make_shared<Member>();
  member->number = next_++;
  if (free_places_.empty()) {
    member->place = next_place_++;
  } else {
    member->place = free_places_.back();
    free_places_.pop_back();
  }
  member->name = std::move(name);
  member->steps = session()->steps;
  member->first_step = member->steps;
  members_.push_back(member);
  return member;
}

void Team::leave(Member& member, std::uint64_t last_put) {
  member.open = false;
  member.closed_after = last_put;
}

void Team::forget_closed(std::uint64_t oldest_put) {
  const std::uint64_t ended = ended_steps();
  const auto unowned = [](const EndpointPart& part) { return !part.taken_over && !part.empty(); };
  std::erase_if(members_, [&](const std::shared_ptr<Member>& member) {
    const bool forgotten = !member->open && member->last_put.load(std::memory_order_relaxed) < oldest_put &&
                           (member->steps < ended || std::ranges::none_of(member->parts, unowned));
    if (forgotten) free_places_.push_back(member->place);
    return forgotten;
  });
}

Result<std::uint64_t> Team::add(Member& member, EndpointPart part, const Decomposition* of) {
  const std::shared_ptr<MapPart> of_rank = of == nullptr ? nullptr : of->map;
  const auto what = [&] {
    return part.decomposition < 0 ? std::string("the variables without a decomposition")
                                  : fmt::format("decomposition '{}'", part.name);
  };
  const auto whole = whole_.find(part.decomposition);
  std::uint64_t after = whole == whole_.end() ? 0 : whole->second;
  if (after == under_way)
    return fail(ErrorCode::conflict,
                "the session is putting a variable on {}: register the part of {} after that", what(),
                member.text());
  std::vector<EndpointPart*> before;
  for (const auto& other : members_)
    for (EndpointPart& its : other->parts) {
      if (its.decomposition != part.decomposition) continue;
      if (other.get() == &member)
        return fail(ErrorCode::conflict, "{} has a part of {} already: an endpoint has one part of each",
                    member.text(), what());
      if (!its.overlaps(part, of_rank)) continue;
      if (other->open)
        return fail(
            ErrorCode::conflict,
            "the part of {} that {} registers overlaps with that of {}: every point of a rank belongs to "
            "one endpoint",
            what(), member.text(), other->text());
      after = std::max(after, other->last_put.load(std::memory_order_acquire));
      before.push_back(&its);
    }
  for (EndpointPart* const its : before) its->taken_over = true;
  if (of != nullptr) of_rank_.try_emplace(part.decomposition, OfRank{of->name, of->block, of->map});
  part.after = after;
  member.parts.push_back(std::move(part));
  return after;
}

const Member* Team::other_with(const Member& member, int decomposition) const {
  for (const auto& other : members_)
    if (other.get() != &member && other->open &&
        std::ranges::find(other->parts, decomposition, &EndpointPart::decomposition) != other->parts.end())
      return other.get();
  return nullptr;
}

std::uint64_t Team::last_put_of_closed(int decomposition) const {
  std::uint64_t last = 0;
  for (const auto& member : members_)
    if (!member->open && member->part_of(decomposition) != nullptr)
      last = std::max(last, member->last_put.load(std::memory_order_acquire));
  return last;
}

bool Team::may_owe(const Member& member, const JointPut& put) const {
  if (put.is_complete()) return false;
  if (member.number == 0) return true;
  const Handover& of = put.handover();
  return member.part_of(of.file->collection->variable(of.variable).decomposition) != nullptr &&
         !put.has_of(member.place);
}

const Member* Team::ahead_of(int decomposition, std::uint64_t step) const {
  for (const auto& member : members_) {
    if (member->steps <= step || member->put_steps.load(std::memory_order_acquire) <= step + 1) continue;
    const EndpointPart* const part = member->part_of(decomposition);
    if (part != nullptr && (member->open || !part->taken_over)) return member.get();
  }
  return nullptr;
}

std::string Team::without(const JointPut& put) const {
  const Handover& of = put.handover();
  const int decomposition = of.file->collection->variable(of.variable).decomposition;
  std::string open;
  std::string closed;
  std::vector<const EndpointPart*> known;
  for (const auto& member : members_) {
    const EndpointPart* const part = member->part_of(decomposition);
    if (part == nullptr || part->after >= put.number()) continue;
    const bool contributed = (member->open || put.number() <= member->closed_after) &&
                             (put.has_of(member->place) || !JointPut::is_noted(member->place));
    if (!contributed && !member->open && part->taken_over) continue;
    known.push_back(part);
    if (contributed) continue;
    if (member->open)
      open +=
          (open.empty() ? "" : ", ") + member->text() +
          (member->first_step > put.step() ? ", which was opened after the session had ended the step" : "");
    else
      closed += (closed.empty() ? "" : ", ") + member->text() + ", which was closed";
  }
  std::string text;
  if (!open.empty() || !closed.empty())
    text = "not handed over by " + open + (open.empty() || closed.empty() ? "" : ", ") + closed;
  const auto rank = of_rank_.find(decomposition);
  const auto whole = whole_.find(decomposition);
  const bool of_session = whole != whole_.end() && whole->second >= put.number();
  if (rank == of_rank_.end() || of_session) return text;
  const std::string nobodys = uncovered(rank->second, known);
  return text + (text.empty() || nobodys.empty() ? "" : "; ") + nobodys;
}

std::string Team::uncovered(const OfRank& rank, const std::vector<const EndpointPart*>& parts) {
  if (std::ranges::any_of(parts, &EndpointPart::whole)) return "";
  std::uint64_t points = 0;
  std::string first;
  if (rank.map) {
    std::vector<model::OffsetRun> theirs;
    for (const EndpointPart* const part : parts)
      part->map->runs().for_each(
          [&](const model::PointRun& run) { theirs.push_back({run.offset, run.length}); });
    std::ranges::sort(theirs, {}, &model::OffsetRun::offset);
    std::uint64_t passed = 0;  // points of a closed endpoint may be another one's by now
    for (model::OffsetRun& run : theirs) {
      const std::uint64_t end = run.offset + run.length;
      run.offset = std::max(run.offset, passed);
      run.length = end > run.offset ? end - run.offset : 0;
      passed = std::max(passed, end);
    }
    std::erase_if(theirs, [](const model::OffsetRun& run) { return run.length == 0; });
    const model::PointRuns left = rank.map->runs().without(theirs);
    points = left.points();
    if (points != 0)
      first = fmt::format("the first of them with the linear index {}",
                          said_index(left.pattern().front().offset));
  } else {
    std::vector<model::Box> left{model::box_of(rank.block)};
    for (const EndpointPart* const part : parts) left = without_box(left, model::box_of(part->block));
    for (const model::Box& box : left) points += box.points();
    if (points != 0)
      first = fmt::format("among them {}", said_box({left.front().start.begin(), left.front().start.size},
                                                    {left.front().count.begin(), left.front().count.size}));
  }
  if (points == 0) return "";
  return fmt::format("{} points of decomposition '{}' belong to no endpoint, {}", points, rank.name, first);
}

std::string Team::holders(int decomposition) const {
  constexpr std::size_t most_named = 8;
  std::vector<std::string> names;
  for (const auto& member : members_)
    if (member->open && member->number != 0 && member->part_of(decomposition) != nullptr)
      names.push_back(member->text());
  if (names.empty()) return "";
  const std::size_t named = std::min(names.size(), most_named);
  std::string text = names.front();
  for (std::size_t i = 1; i < named; ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  if (named < names.size()) text += fmt::format(" and {} more endpoints", names.size() - named);
  return text + (names.size() == 1 ? " has a part" : " have parts");
}

std::string Team::name_of(std::size_t number) const {
  const auto member = std::ranges::find(members_, number, [](const auto& it) { return it->number; });
  return member == members_.end() ? fmt::format("endpoint {}", number) : (*member)->text();
}

std::uint64_t Team::ended_steps() const {
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& member : members_)
    if (member->open) least = std::min(least, member->steps);
  return least;
}

std::uint64_t Team::progress_of_endpoints() const {
  std::uint64_t sum = 0;
  for (const auto& member : members_)
    if (member->number != 0) sum += member->steps + member->puts.load(std::memory_order_relaxed);
  return sum;
}

bool Team::is_busy() const {
  return std::ranges::any_of(members_, [](const auto& member) {
    return member->number != 0 && member->use.load(std::memory_order_acquire) != EndpointUse::none;
  });
}

/// Members that are ahead of the slowest probably wait for it.
std::string Team::late(std::uint64_t steps) const {
  const std::uint64_t least = ended_steps();
  std::string slowest;
  std::string ahead;
  for (const auto& member : members_) {
    if (!member->open || member->steps >= steps) continue;
    if (member->steps == least)
      slowest +=
          fmt::format("{}{} has ended {} of {} steps and made {} puts", slowest.empty() ? "" : "; ",
                      member->text(), member->steps, steps, member->puts.load(std::memory_order_relaxed));
    else
      ahead += fmt::format("{}{} ({} steps)", ahead.empty() ? "" : ", ", member->text(), member->steps);
  }
  return ahead.empty() ? slowest : fmt::format("{}; others are ahead of it: {}", slowest, ahead);
}

}  // namespace afterbay::client
