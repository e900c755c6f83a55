// SPDX-License-Identifier: Apache-2.0
#include "client/team.hpp"

#include <fmt/format.h>

#include <utility>

namespace afterbay::client {

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
  member->name = std::move(name);
  member->steps = session()->steps;
  members_.push_back(member);
  return member;
}

void Team::leave(Member& member) { member.open = false; }

void Team::forget_closed(std::uint64_t oldest_put) {
  std::erase_if(members_, [&](const std::shared_ptr<Member>& member) {
    return !member->open && member->last_put.load(std::memory_order_relaxed) < oldest_put;
  });
}

Result<std::uint64_t> Team::add(Member& member, EndpointPart part, const std::shared_ptr<MapPart>& of_rank) {
  const auto what = [&] {
    return part.decomposition < 0 ? std::string("the variables without a decomposition")
                                  : fmt::format("decomposition '{}'", part.name);
  };
  const auto whole = whole_.find(part.decomposition);
  std::uint64_t after = whole == whole_.end() ? 0 : whole->second;
  if (after == under_way)
    return fail(ErrorCode::conflict,
                "the session is just putting a variable of {}: register the part of {} after that", what(),
                member.text());
  for (const auto& other : members_)
    for (const EndpointPart& its : other->parts) {
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
    }
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

const Member* Team::ahead_of(int decomposition, std::uint64_t step) const {
  for (const auto& member : members_)
    if (member->number != 0 && member->open && member->steps > step &&
        member->put_steps.load(std::memory_order_acquire) > step + 1 &&
        member->part_of(decomposition) != nullptr)
      return member.get();
  return nullptr;
}

std::string Team::without(const JointPut& put) const {
  const Handover& of = put.handover();
  const int decomposition = of.file->collection->variable(of.variable).decomposition;
  std::string text;
  for (const auto& member : members_) {
    const EndpointPart* const part = member->part_of(decomposition);
    if (part == nullptr || part->after >= put.number() || !member->open || put.has_of(member->number))
      continue;
    text += (text.empty() ? "not handed over by " : ", ") + member->text();
  }
  return text;
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
    return member->number != 0 && member->busy.load(std::memory_order_acquire);
  });
}

std::string Team::late(std::uint64_t steps) const {
  std::string text;
  for (const auto& member : members_) {
    if (!member->open || member->steps >= steps) continue;
    text += fmt::format("{}{} has ended {} of {} steps and made {} puts", text.empty() ? "" : "; ",
                        member->text(), member->steps, steps, member->puts.load(std::memory_order_relaxed));
  }
  return text;
}

}  // namespace afterbay::client
