// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "preview.hpp"

namespace afterbay::app {

namespace {

using Json = nlohmann::ordered_json;
using output::PreviewStage;

Json json_of(const output::PerStep& amount) { return {{"average", amount.average}, {"most", amount.most}}; }

Json json_of(const output::PreviewVariable& it) {
  const char* const kind = it.kind == output::TimeKind::period    ? "period"
                           : it.kind == output::TimeKind::instant ? "instant"
                                                                  : "once";
  return {
      {"name", it.name},   {"operation", it.operation}, {"field", it.field}, {"expression", it.expression},
      {"grid", it.grid},   {"points", it.points},       {"values", kind},    {"type", name_of(it.type)},
      {"bytes", it.bytes}, {"stage", it.stage}};
}

Json json_of(const output::PreviewFile& file) {
  Json variables = Json::array();
  for (const output::PreviewVariable& it : file.variables) variables.push_back(json_of(it));
  Json parts = Json::array();
  for (const output::PreviewPart& it : file.parts)
    parts.push_back({{"path", it.path}, {"records", it.records}, {"bytes", it.bytes}});
  return {{"name", file.name},
          {"every", file.every},
          {"cycle", file.cycle},
          {"points_known_in_run_only", file.known_in_run_only},
          {"is_upper_bound", file.is_upper_bound},
          {"variables", variables},
          {"records", file.records()},
          {"bytes", file.bytes()},
          {"bytes_per_record", file.bytes_per_record},
          {"bytes_per_file", file.bytes_per_file},
          {"puts_per_step", json_of(file.puts)},
          {"bytes_to_servers_per_step", json_of(file.traffic)},
          {"files", parts}};
}

Json json_of(const PreviewStage& stage) {
  return {{"kind", name_of(stage.kind)},
          {"name", stage.name},
          {"text", stage.text},
          {"formula", stage.formula},
          {"timing", stage.timing},
          {"points", stage.points},
          {"of", stage.of},
          {"runs_in", stage.in_servers ? "servers" : "model ranks"},
          {"bytes_per_rank", stage.bytes_per_rank},
          {"bytes_on_all_ranks", stage.bytes_on_all_ranks},
          {"bytes_on_servers", stage.bytes_on_servers}};
}

}  // namespace

std::string preview_json(const ShownPreview& shown) {
  const output::Preview& preview = shown.preview;
  Json files = Json::array();
  for (const output::PreviewFile& file : preview.files) files.push_back(json_of(file));
  Json stages = Json::array();
  for (const PreviewStage& stage : preview.stages) stages.push_back(json_of(stage));
  const Json all{
      {"descriptions", shown.descriptions},
      {"definitions", shown.definitions},
      {"run",
       {{"calendar", preview.calendar},
        {"start", preview.start},
        {"end", preview.end},
        {"step", preview.step},
        {"steps", preview.steps},
        {"step_0", preview.has_step_0},
        {"days", preview.days},
        {"model_ranks", preview.processes.model_ranks},
        {"servers", preview.processes.servers}}},
      {"files", files},
      {"stages", stages},
      {"undecided", preview.undecided},
      {"unused_fields", preview.unused},
      {"without_effect", preview.without_effect},
      {"first_periods", preview.first_periods},
      {"totals",
       {{"bytes", preview.bytes()},
        {"state_bytes_per_rank", preview.state_bytes_per_rank()},
        {"state_bytes_on_all_ranks", preview.state_bytes()},
        {"fields", preview.fields},
        {"puts_per_step", json_of(preview.puts)},
        {"bytes_to_servers_per_step", json_of(preview.traffic)},
        {"bytes_to_servers", preview.traffic_of_run},
        {"bytes_between_model_ranks_per_step", json_of(preview.between_ranks)},
        {"steps_to_results_of_grids", preview.lag},
        {"bytes_to_servers_per_day", static_cast<double>(preview.traffic_of_run) / preview.days}}}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace afterbay::app
