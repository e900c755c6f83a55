// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "observe/profile.hpp"
#include "observe/report.hpp"

namespace afterbay::observe {
namespace {

using Json = nlohmann::json;

/// `path` holds the names up to the previous row, and is updated to this row's.
Json timer_json(const Row& row, std::vector<std::string>& path) {
  path.resize(row.depth);
  path.push_back(row.name);
  return {{"name", row.name},
          {"path", path},
          {"inclusive_s", row.inclusive},
          {"inclusive_percent", row.inclusive_percent},
          {"exclusive_s", row.exclusive},
          {"exclusive_percent", row.exclusive_percent},
          {"max_exclusive_s", row.max_exclusive},
          {"min_exclusive_s", row.min_exclusive},
          {"max_rank", row.max_rank},
          {"min_rank", row.min_rank},
          {"count", row.count},
          {"bytes", row.bytes},
          {"threads", row.threads}};
}

Json counter_json(const CounterRow& counter) {
  const bool peak = counter.kind == CounterKind::peak;
  return {{"kind", peak ? "peak" : "sum"},
          {"total", counter.total},
          {"largest", counter.largest},
          {"largest_rank", counter.largest_rank}};
}

Json role_json(const RoleReport& role) {
  Json out{{"ranks", role.ranks},
           {"elapsed_s", role.elapsed},
           {"inside_s", role.inside},
           {"memory_high_water_bytes", role.memory_high_water_bytes},
           {"memory_high_water_rank", role.memory_high_water_rank},
           {"timers", Json::array()},
           {"counters", Json::object()}};
  std::vector<std::string> path;
  for (const Row& row : role.rows) out["timers"].push_back(timer_json(row, path));
  for (const CounterRow& counter : role.counters) {
    out["counters"][counter.name] = counter_json(counter);
    if (role.elapsed > 0 && (counter.name == counters::bytes || counter.name == counters::written_bytes))
      out["counters"][counter.name]["bytes_per_s"] = static_cast<double>(counter.total) / role.elapsed;
  }
  return out;
}

Json compress_json(const CompressRecord& record) {
  Json out{{"file", record.path},
           {"filters", record.filters},
           {"chosen", record.chosen.empty() ? Json() : Json(record.chosen)},
           {"why", record.why},
           {"trials", Json::array()}};
  for (const ChainRecord& it : record.trials) {
    Json filters = Json::array();
    for (const FilterRecord& filter : it.filters)
      filters.push_back({{"codec", filter.codec}, {"level", filter.level}});
    out["trials"].push_back({{"filters", filters}, {"seconds", it.seconds}, {"bytes", it.bytes}});
  }
  return out;
}

Json collection_json(const CollectionRecord& collection) {
  Json out{{"name", collection.name}, {"store", collection.store}, {"variables", Json::array()}};
  for (const ChunkRecord& it : collection.chunks)
    out["variables"].push_back({{"name", it.variable},
                                {"chunk", it.lengths.empty() ? Json() : Json(it.lengths)},
                                {"chunk_bytes", it.bytes},
                                {"chosen_by", it.why}});
  for (const ErrorRecord& it : collection.errors) out["largest_errors"][it.variable] = it.value;
  if (!collection.compress.path.empty()) out["compress"] = compress_json(collection.compress);
  return out;
}

}  // namespace

std::string json(const Report& report) {
  nlohmann::json out{{"afterbay_report", 1}, {"session", report.session}};
  for (const RoleReport& role : report.roles) out[role.role] = role_json(role);
  out["collections"] = Json::array();
  for (const CollectionRecord& collection : report.collections)
    out["collections"].push_back(collection_json(collection));
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace afterbay::observe
