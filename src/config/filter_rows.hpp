// SPDX-License-Identifier: Apache-2.0
// The settings of filters: one row per codec, made from the codec's own row.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/filter_chain.hpp"
#include "config/kinds.hpp"
#include "config/settings.hpp"

namespace afterbay::config {

/// A level from 0 (off) up; on or off for a codec without levels.
Kind<int> level_kind(const codec::Codec& codec);

/// The row of one codec in the table of settings of Target, which has a member `filters` of type
/// FilterChoices.
template <class Target>
Setting<Target> filter_row(const codec::Codec& codec, std::string documentation) {
  const Kind<int> kind = level_kind(codec);
  Setting<Target> setting{
      std::string(codec.name), kind.type, kind.accepted, std::move(documentation), kind.list, false, {}, {}};
  setting.assign = [kind, &codec](Target& target, std::string_view text) -> Result<void> {
    AFTERBAY_TRY_ASSIGN(const int level, kind.parse(text));
    target.filters.insert_or_assign(codec.id, codec::filter_of_level(codec, level));
    return {};
  };
  setting.print = [kind, &codec](const Target& target) -> std::string {
    const auto found = target.filters.find(codec.id);
    if (found == target.filters.end()) return {};
    return kind.print(codec::level_of(codec, found->second ? &*found->second : nullptr));
  };
  return setting;
}

/// Inserts the rows of all codecs before the row `next`.
template <class Target, class Documentation>
void insert_filter_rows(std::vector<Setting<Target>>& table, std::string_view next,
                        Documentation documentation) {
  std::vector<Setting<Target>> rows;
  for (const codec::Codec* codec : codec::all_codecs())
    rows.push_back(filter_row<Target>(*codec, documentation(*codec)));
  const auto place = std::ranges::find(table, next, &Setting<Target>::name);
  table.insert(place, rows.begin(), rows.end());
}

}  // namespace afterbay::config
