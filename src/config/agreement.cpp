// SPDX-License-Identifier: Apache-2.0
#include "config/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/settings.hpp"

namespace afterbay::config {
namespace {

/// The last value counts: several sources may set the same option of a collection.
const std::string* find(const std::vector<AgreedSetting>& settings, const std::string& name) {
  const auto found = std::find_if(settings.rbegin(), settings.rend(),
                                  [&](const AgreedSetting& it) { return it.name == name; });
  return found == settings.rend() ? nullptr : &found->value;
}

std::string text_of(const std::string* value) {
  return value == nullptr || value->empty() ? "not set" : *value;
}

template <class Target>
bool is_agreed(const std::vector<Setting<Target>>& table, std::string_view name) {
  const Setting<Target>* const setting = find_setting(table, name);
  return setting != nullptr && setting->agreed;
}

}  // namespace

std::vector<AgreedSetting> agreed_settings(const Config& config) {
  std::vector<AgreedSetting> all;
  for (const Setting<Config>& setting : session_settings())
    if (setting.agreed) all.push_back({setting.name, setting.print(config)});
  for (const PoolOverride& item : config.overrides.pools) all.push_back({item.full_name(), item.value});
  for (const CollectionOverride& item : config.overrides.collections)
    if (item.variable.empty() ? is_agreed(collection_settings(), item.setting)
                              : is_agreed(variable_settings(), item.setting))
      all.push_back({item.full_name(), item.value});
  all.push_back({"servers that exchange messages (by placement, pools and triggers)",
                 config.servers_talk() ? "on" : "off"});
  if (!config.output.digest.empty())
    all.push_back({"the output description (checksum)", config.output.digest});
  all.push_back({"checksum with a journal", config.sums_files() ? "on" : "off"});
  return all;
}

std::string first_difference(const std::vector<AgreedSetting>& a, int rank_of_a,
                             const std::vector<AgreedSetting>& b, int rank_of_b) {
  for (const auto* settings : {&a, &b})
    for (const AgreedSetting& setting : *settings) {
      const std::string *in_a = find(a, setting.name), *in_b = find(b, setting.name);
      if (in_a != nullptr && in_b != nullptr && *in_a == *in_b) continue;
      return fmt::format("{} is {} on rank {} and {} on rank {}", setting.name, text_of(in_a), rank_of_a,
                         text_of(in_b), rank_of_b);
    }
  return a == b ? ""
                : fmt::format("the order of pools or collections on ranks {} and {}", rank_of_a, rank_of_b);
}

}  // namespace afterbay::config
