// SPDX-License-Identifier: Apache-2.0
#include "client/collection_schema.hpp"

#include <utility>

#include "codec/filter_chain.hpp"
#include "config/compress_choice.hpp"
#include "model/chunk_choice.hpp"
#include "model/converted_values.hpp"
#include "model/filters.hpp"
#include "model/format_traits.hpp"
#include "model/layout.hpp"
#include "model/validate.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/quantize.hpp"

namespace afterbay::client {

namespace {

/// Applies the settings for the collection's variables to the schema.
void override_variables(Schema& schema, const config::CollectionSettings& settings) {
  for (Variable& variable : schema.variables) {
    const config::VariableSettings chosen = settings.settings_for(variable.name);
    const bool compressible =
        !variable.dimensions.empty() && variable.type != Type::string && variable.constant.empty();
    if (chosen.chunk) variable.chunk = *chosen.chunk;
    if (chosen.filters.empty() || !compressible) continue;
    FilterChain chain = model::filters_of(variable);
    for (const auto& [codec, filter] : chosen.filters) codec::set_filter(chain, codec, filter);
    if (settings.compress.value_or(config::Compress::off) != config::Compress::off)
      leave_out_refused(chain, variable.type);
    model::set_filters(variable, std::move(chain));
  }
}

}  // namespace

Result<Compression> choose_compression(const std::string& collection, const std::string& directory,
                                       Format format, config::CollectionSettings& settings) {
  const config::Compress compress = settings.compress.value_or(config::Compress::off);
  if (compress == config::Compress::off) return Compression{};
  AFTERBAY_TRY_ASSIGN(Compression compression,
                      compression_of(collection, settings.directory.value_or(directory), format, compress));
  if (!compression.path.empty())
    for (const auto& [codec, filter] : config::exactly(compression.filters))
      settings.filters.insert_or_assign(codec, filter);
  return compression;
}

Result<> apply_settings(Schema& schema, Format format,
                        const std::vector<std::optional<model::PackedValues>>& packed,
                        const config::CollectionSettings& settings, Processing& processing) {
  override_variables(schema, settings);
  model::convert_values(schema);  // packing and rounding read fill values in the type of the variable
  AFTERBAY_TRY(processing.take_settings(schema, format, packed, settings));
  // Other formats have no attributes for it, and perhaps no scalar variables.
  if (!traits_of(format).magic.empty()) pipeline::describe_quantization(schema, processing.stages);
  if (!processing.stages.empty()) processing.stages.resize(schema.variables.size());
  return model::validate(schema, format);
}

Result<> check_layout(Schema schema, Format format, const config::CollectionSettings& settings,
                      const Processing& processing) {
  const config::Config session;
  model::LayoutSizes sizes;
  sizes.frame_bytes = session.memory.block_bytes;
  sizes.chunk_bytes = session.writing.chunk_bytes;
  if (traits_of(format).chunks) {
    std::vector<model::VariableFacts> variables;
    for (const Variable& variable : schema.variables) {
      const config::VariableSettings chosen = settings.settings_for(variable.name);
      model::VariableFacts& facts = variables.emplace_back();
      facts.access = chosen.access.value_or(model::Access::map);
      facts.from_setting = chosen.chunk.has_value();
    }
    model::ChunkFacts facts;
    facts.sizes = sizes;
    (void)model::choose_chunks(schema, variables, facts);
  }
  // What is too large for the blocks of a server may fit with other settings.
  if (auto files = model::make_layout(schema, format, sizes);
      !files && files.error().code != ErrorCode::resources)
    return fail(std::move(files).error());
  AFTERBAY_TRY(pipeline::make_plan(schema, processing.stages, false));
  return {};
}

}  // namespace afterbay::client
