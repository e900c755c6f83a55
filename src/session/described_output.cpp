// SPDX-License-Identifier: Apache-2.0
#include "session/described_output.hpp"

#include <algorithm>

#include "base/crc64.hpp"
#include "config/settings.hpp"
#include "describe/file_place.hpp"
#include "describe/print.hpp"
#include "describe/read.hpp"
#include "describe/yaml.hpp"

namespace afterbay::session {

namespace {

/// `existing` follows from the run: one that resumes does not replace what it continues.
constexpr std::string_view decided_by_the_run = "existing";

template <class Target>
void add_settings(const std::vector<config::Setting<Target>>& table, const Target& given,
                  const describe::File& file, const std::string& variable, const describe::Position& at,
                  std::vector<config::CollectionOverride>& overrides) {
  for (const config::Setting<Target>& setting : table) {
    if (setting.name == decided_by_the_run) continue;
    const std::string value = setting.print(given);
    if (!value.empty())
      overrides.push_back({file.name, variable, setting.name, value, {config::Source::fallback, at.text()}});
  }
}

/// Whether servers may compute statistics of the file, or expressions that it writes.
bool may_reduce(const describe::Description& description, const describe::File& file,
                const config::Config& config) {
  using Operation = describe::Operation;
  using describe::Reducer;
  const auto may_be = [&](Reducer who) {
    return who == Reducer::servers ||
           (who == Reducer::automatic && config.servers.topology == config::Topology::dedicated);
  };
  return std::ranges::any_of(file.variables, [&](const describe::Variable& variable) {
    const bool is_plain = variable.operation == Operation::instant || variable.operation == Operation::once ||
                          variable.operation == Operation::write;
    const auto described = std::ranges::find(description.fields, variable.field, &describe::Field::name);
    const bool is_derived = described != description.fields.end() && !described->expression.empty();
    return file.active(variable) && variable.operation != Operation::once &&
           (((is_derived || !is_plain) && may_be(file.statistics)) ||
            (is_derived && may_be(file.expressions)));
  });
}

}  // namespace

Result<std::vector<config::CollectionOverride>> DescribedOutput::read(config::Config& config) {
  if (config.output.paths.empty() && text_.empty()) return std::vector<config::CollectionOverride>();
  // The calendar and the step of the model follow later.
  describe::ReadOptions options;
  options.calendar.reset();
  AFTERBAY_TRY_ASSIGN(describe::Description description,
                      describe::read_files_and_text(config.output.paths, text_, options));
  const std::string text = describe::write_yaml(describe::node_of(description));
  config.output.digest = fmt::format("{:016x}", crc64(std::as_bytes(std::span(text))));
  std::vector<config::CollectionOverride> overrides;
  for (const describe::File& file : description.files) {
    if (!file.active()) continue;
    config.output.reduces = config.output.reduces || may_reduce(description, file, config);
    add_settings(config::collection_settings(), describe::settings_in_run(file), file, {}, file.at,
                 overrides);
    for (const describe::Variable& variable : file.variables)
      if (file.active(variable))
        add_settings(config::variable_settings(), variable.options.settings, file, variable.name, variable.at,
                     overrides);
  }
  description_ = std::make_shared<const describe::Description>(std::move(description));
  return overrides;
}

}  // namespace afterbay::session
