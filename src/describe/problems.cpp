// SPDX-License-Identifier: Apache-2.0
#include "describe/problems.hpp"

#include <algorithm>
#include <map>

#include "base/printable.hpp"

namespace afterbay::describe {

namespace {

constexpr std::size_t most_shown = 200;

}  // namespace

void Problems::add(ErrorCode code, const Position& at, std::string text) {
  const bool known = std::ranges::any_of(found_, [&](const Problem& it) {
    return it.at.line == at.line && it.at.column == at.column && it.at.file == at.file && it.text == text;
  });
  // A hostile file may have a problem per byte; the search above must stay cheap.
  if (!known && found_.size() < 10 * most_shown) found_.push_back({code, at, std::move(text)});
}

Error Problems::error(std::string_view what) const {
  std::map<std::string, std::size_t> order;
  for (const Problem& it : found_) order.emplace(it.at.file, order.size());
  std::vector<const Problem*> sorted;
  for (const Problem& it : found_) sorted.push_back(&it);
  std::ranges::stable_sort(sorted, [&](const Problem* a, const Problem* b) {
    return std::tuple(order[a->at.file], a->at.line, a->at.column) <
           std::tuple(order[b->at.file], b->at.line, b->at.column);
  });
  ErrorCode code = sorted.empty() ? ErrorCode::internal : sorted.front()->code;
  std::string text = sorted.size() == 1 ? fmt::format("{} is wrong:", what)
                                        : fmt::format("{} has {} problems:", what, sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i]->code == ErrorCode::io) code = ErrorCode::io;
    if (i < most_shown)
      text += fmt::format("\n  {}: {}", printable_message(sorted[i]->at.text()), sorted[i]->text);
  }
  if (sorted.size() > most_shown) text += fmt::format("\n  and {} more", sorted.size() - most_shown);
  return Error(code, std::move(text));
}

}  // namespace afterbay::describe
