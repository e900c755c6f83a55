// SPDX-License-Identifier: Apache-2.0
#include "client/collection.hpp"

#include <algorithm>

#include "base/caller_terms.hpp"
#include "base/suggest.hpp"
#include "client/collection_schema.hpp"
#include "config/names.hpp"
#include "model/changes.hpp"
#include "model/decomposition.hpp"
#include "model/fill_value.hpp"
#include "model/missing_values.hpp"
#include "model/naming.hpp"
#include "model/schema_bytes.hpp"
#include "model/validate.hpp"
#include "pipeline/plan.hpp"

namespace afterbay::client {
namespace {

std::vector<std::string> variable_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const Variable& variable : schema.variables) names.push_back(variable.name);
  return names;
}

Result<Existing> existing_of(const std::string& word) {
  std::vector<std::string> accepted;
  for (const Existing existing : {Existing::refuse, Existing::replace, Existing::append}) {
    if (name_of(existing) == word) return existing;
    accepted.emplace_back(name_of(existing));
  }
  return fail(ErrorCode::invalid_argument, "existing is '{}': expected {}{}", word, one_of(accepted),
              did_you_mean(word, accepted));
}

Result<Format> parse_format(const std::string& word) {
  if (auto format = afterbay::format_of(word)) return *format;
  const std::vector<std::string> accepted = format_names();
  return fail(ErrorCode::invalid_argument, "store is '{}': expected {}{}", word, one_of(accepted),
              did_you_mean(word, accepted));
}

/// The values of an attribute; none if there is no such attribute.
Values values_of(const Variable& variable, std::string_view attribute) {
  const auto found = std::ranges::find(variable.attributes, attribute, &Attribute::name);
  return found == variable.attributes.end() ? Values() : found->values;
}

}  // namespace

Result<std::vector<std::unique_ptr<Collection>>> Collection::make(
    Definition definition, const config::Config& session, const std::vector<Decomposition>& decompositions,
    const Sides& sides) {
  config::CollectionSettings settings = session.settings_for(definition.name);
  AFTERBAY_TRY_ASSIGN(const Format asked, parse_format(definition.options.store.name()));
  AFTERBAY_TRY_ASSIGN(definition.compression,
                      choose_compression(definition.name, definition.options.directory,
                                         settings.store.value_or(asked), settings));
  std::vector<std::unique_ptr<Collection>> made;
  made.push_back(std::make_unique<Collection>());
  Collection& first = *made.front();
  AFTERBAY_TRY(first.describe(definition, session, settings));
  const std::vector<Pools::Pool*> pools = sides.pools->choose(settings, first.expected_bytes_);
  AFTERBAY_TRY(first.lay_out(*pools.front(), pools.size(), settings, decompositions, sides));
  definition.schema = first.schema_;
  definition.packings = first.processing_.packings;
  for (std::size_t p = 1; p < pools.size(); ++p) {
    ++definition.id;
    made.push_back(std::make_unique<Collection>());
    AFTERBAY_TRY(made.back()->describe(definition, session, settings));
    AFTERBAY_TRY(made.back()->lay_out(*pools[p], pools.size(), settings, decompositions, sides));
  }
  const bool least = settings.pool_choice.value_or(session.servers.pool_choice) == config::PoolChoice::least;
  for (const auto& it : made) {
    it->takes_least_loaded_pool_ = least && made.size() > 1;
    first.by_pool_.push_back(it.get());
  }
  return made;
}

Result<> Collection::check(const SchemaChanges& changes) const {
  AFTERBAY_TRY_ASSIGN(const Schema changed, model::apply(schema_, changes));
  AFTERBAY_TRY(model::validate(changed, format_));
  for (std::uint32_t v = 0; v < changed.variables.size(); ++v)
    AFTERBAY_TRY(check_missing_values(v, changed.variables[v]));
  return {};
}

/// Servers fill gaps, and stages keep missing values, with the schema of the collection.
Result<> Collection::check_missing_values(std::uint32_t variable, const Variable& changed) const {
  const Variable& ours = schema_.variables[variable];
  if (!layout().variables[variable].framed) return {};
  const auto refuse = [&](const char* attribute) {
    return fail(make_error(ErrorCode::conflict,
                           "a file cannot have its own {} for variable '{}': all files of collection '{}' "
                           "have the same one; give it in the schema of the collection",
                           attribute, ours.name, name_)
                    .in_variable(ours.name));
  };
  if (!(model::fill_of(changed) == model::fill_of(ours))) return refuse("_FillValue");
  if (processing_.packing(variable) != nullptr)
    for (const char* const attribute : {"scale_factor", "add_offset", "missing_value"})
      if (!(values_of(changed, attribute) == values_of(ours, attribute))) return refuse(attribute);
  const bool computed = processing_.has_stages(variable);
  if (computed && !(model::missing_values(changed) == model::missing_values(ours)))
    return refuse("missing_value");
  return {};
}

/// The part of the definition that does not depend on the pool.
Result<> Collection::describe(const Definition& definition, const config::Config& session,
                              const config::CollectionSettings& settings) {
  id_ = definition.id;
  name_ = definition.name;
  schema_ = definition.schema;
  template_ = settings.file.value_or(definition.options.file);
  directory_ = settings.directory.value_or(definition.options.directory);
  AFTERBAY_TRY_ASSIGN(const Format asked_format, parse_format(definition.options.store.name()));
  AFTERBAY_TRY_ASSIGN(const Existing asked_existing, existing_of(definition.options.existing.name()));
  format_ = settings.store.value_or(asked_format);
  existing_ = settings.existing.value_or(asked_existing);
  processing_.compression = definition.compression;
  if (template_.empty()) template_ = model::default_template(format_);
  AFTERBAY_TRY(config::check_variables(session, name_, variable_names(schema_)));
  AFTERBAY_TRY(model::check_template(template_));
  AFTERBAY_TRY(apply_settings(schema_, format_, definition.packings, settings, processing_));
  processing_.asked = definition.reductions;
  expected_bytes_ = settings.expected_bytes.value_or(model::schema_bytes(schema_).estimate());
  return {};
}

Result<> Collection::lay_out(const Pools::Pool& pool, std::size_t pools,
                             const config::CollectionSettings& settings,
                             const std::vector<Decomposition>& decompositions, const Sides& sides) {
  records_ = CollectionRecords(sides.servers);
  const config::Config& config = pool.config;
  const config::Placement placement = settings.placement.value_or(config.servers.placement);
  pool_ = PoolMembership(pool.servers, sides.servers, pool.collections - 1, {placement, format_, existing_});
  const bool takes_turns = pool_.size() > 1 && pool_.takes_turns();
  processing_.leave_to_ranks(schema_, pools > 1 || takes_turns, format_, settings);
  gather_bytes_ = model::gather_bytes(schema_, pool_.split(), pool_.size(), !pool.slab_shares.empty());
  const model::LayoutSizes sizes{config.memory.block_bytes, config.writing.chunk_bytes, gather_bytes_,
                                 processing_.reduces()};
  std::vector<model::ChunkChoice> choices;
  if (traits_of(format_).chunks) choices = choose_chunks(settings, config, decompositions, sides, sizes);
  AFTERBAY_TRY_ASSIGN(model::FileLayout files, model::make_layout(schema_, format_, sizes));
  note_chunks(files, choices);
  AFTERBAY_TRY_ASSIGN(const pipeline::Plan plan,
                      pipeline::make_plan(schema_, processing_.stages, processing_.reduces()));
  layout_ = pipeline::handover_layout(std::make_shared<const model::FileLayout>(std::move(files)), plan);
  owners_ = model::FrameOwners(*layout_, pool_.split(), pool_.size(), pool.slab_shares);
  if (pool_.split() == model::Split::slab && owners_.suffices_for_all()) pool_.begin_with_first();
  return resolve(decompositions, sides.model_rank);
}

Collection* Collection::in_pool_of(std::size_t server) const noexcept {
  const auto found = std::ranges::find_if(
      by_pool_, [&](const Collection* in_pool) { return in_pool->pool().serves(server); });
  return found == by_pool_.end() ? nullptr : *found;
}

/// Chooses the shapes of chunks and writes them into the schema, through which the servers get
/// them. A file that is appended to has its shapes already: the choice for it must not depend on
/// the number of ranks.
std::vector<model::ChunkChoice> Collection::choose_chunks(const config::CollectionSettings& settings,
                                                          const config::Config& config,
                                                          const std::vector<Decomposition>& decompositions,
                                                          const Sides& sides,
                                                          const model::LayoutSizes& sizes) {
  std::vector<model::VariableFacts> variables;
  for (const Variable& variable : schema_.variables) {
    const config::VariableSettings chosen = settings.settings_for(variable.name);
    model::VariableFacts facts;
    facts.access = chosen.access.value_or(model::Access::map);
    facts.from_setting = chosen.chunk.has_value();
    const auto lies_on = std::ranges::find(decompositions, variable.decomposition, &Decomposition::name);
    if (lies_on != decompositions.end() && lies_on->map) {
      if (auto mapped = model::dimensions_of_map(schema_, variable, lies_on->name, lies_on->map->global()))
        facts.mapped = *mapped;
    } else if (lies_on != decompositions.end() && existing_ != config::Existing::append) {
      facts.block_rank = lies_on->block.global.size();
      facts.bands = static_cast<std::uint64_t>(sides.model_ranks);
    }
    variables.push_back(facts);
  }
  const std::uint64_t writers = pool_.split() == model::Split::slab ? pool_.size() : 1;
  const std::uint64_t expected = settings.expected_bytes.value_or(0);
  return model::choose_chunks(schema_, variables, {sizes, config.memory.chunks_bytes * writers, expected});
}

/// Finds each variable's decomposition and this rank's part.
Result<> Collection::resolve(const std::vector<Decomposition>& decompositions, int model_rank) {
  std::vector<std::string> names;
  for (const Decomposition& decomposition : decompositions) names.push_back(decomposition.name);
  variables_.resize(schema_.variables.size());
  for (std::uint32_t v = 0; v < schema_.variables.size(); ++v) {
    const Variable& variable = schema_.variables[v];
    by_name_[variable.name] = v;
    VariableState& state = variables_[v];
    state.index = v;
    const model::Index& shape = layout_->variables[v].shape;
    state.mine = {model::Index::filled(shape.size, 0), shape};
    state.framed = layout_->variables[v].framed;
    state.holds = model_rank == 0;
    if (variable.decomposition.empty()) continue;
    for (std::size_t d = 0; d < decompositions.size(); ++d)
      if (names[d] == variable.decomposition) state.decomposition = static_cast<int>(d);
    if (state.decomposition < 0)
      return fail(
          Error(ErrorCode::unknown_name,
                fmt::format("variable '{}' of collection '{}' lies on decomposition '{}', which has not been "
                            "registered{}",
                            variable.name, name_, variable.decomposition,
                            did_you_mean(variable.decomposition, names)))
              .in_variable(variable.name));
    if (auto fits = lie_on(state, decompositions[static_cast<std::size_t>(state.decomposition)]); !fits)
      return fail(
          std::move(fits).error().in_variable(variable.name).add(fmt::format("in collection '{}'", name_)));
  }
  return {};
}

/// Sets this rank's part of a variable on that decomposition.
Result<> Collection::lie_on(VariableState& state, const Decomposition& decomposition) const {
  const Variable& variable = schema_.variables[state.index];
  if (!decomposition.map) {
    AFTERBAY_TRY_ASSIGN(state.mine, model::box_for(schema_, variable, decomposition.block));
    state.holds = !state.mine.empty();
    return {};
  }
  state.map = decomposition.map;
  AFTERBAY_TRY_ASSIGN(state.mapped, model::dimensions_of_map(schema_, variable, decomposition.name,
                                                             decomposition.map->global()));
  const model::Index array = model::array_lengths(layout_->variables[state.index].shape, state.mapped,
                                                  decomposition.map->runs().elements());
  state.mine = {model::Index::filled(array.size, 0), array};
  return {};
}

observe::CollectionRecord Collection::record_for_report() const {
  return {name_, std::string(name_of(format_)), chunks_, {}, processing_.compression.record()};
}

/// For the report.
void Collection::note_chunks(const model::FileLayout& files, const std::vector<model::ChunkChoice>& choices) {
  for (std::size_t v = 0; v < choices.size(); ++v) {
    const Variable& variable = schema_.variables[v];
    if (variable.type == Type::string) continue;
    const model::StoredVariable& stored = files.stored[v];
    observe::ChunkRecord chunk{variable.name, {}, 0, model::text_of(choices[v])};
    if (stored.chunked) {
      if (files.variables[v].record) chunk.lengths.push_back(stored.record_span);
      chunk.lengths.insert(chunk.lengths.end(), stored.chunk.begin(), stored.chunk.end());
      chunk.bytes = stored.record_span * stored.chunk.product() * size_of(variable.type);
    }
    chunks_.push_back(std::move(chunk));
  }
}

wire::DefineCollection Collection::message(bool whole) const {
  wire::CollectionDefinition it;
  it.format = format_;
  it.existing = existing_;
  it.split = pool_.split();
  it.servers.assign(pool_.servers().begin(), pool_.servers().end());
  it.first = static_cast<std::uint32_t>(pool_.first_owner());
  it.gather_bytes = gather_bytes_;
  for (const VariableState& variable : variables_) it.decompositions.push_back(variable.decomposition);
  for (std::uint32_t v = 0; v < processing_.stages.size(); ++v)
    for (const auto& [name, value] : processing_.stages[v]) it.stages.push_back({v, name, value});
  it.reductions = processing_.reductions;
  it.trial_compressors = processing_.compression.trial_compressors;
  std::vector<std::byte> bytes;
  wire::Writer writer(bytes);
  it.fields(writer);  // still without the schema, which has a hash of its own
  const std::uint64_t schema_hash = model::hash(schema_);
  bytes.insert(bytes.end(), reinterpret_cast<const std::byte*>(&schema_hash),
               reinterpret_cast<const std::byte*>(&schema_hash + 1));
  wire::DefineCollection message{id_, name_, model::hash(bytes), std::nullopt};
  if (whole) {
    it.schema = schema_;
    message.definition = std::move(it);
  }
  return message;
}

Result<std::string> Collection::path(const FileName& file_name) const {
  AFTERBAY_TRY_ASSIGN(std::string name, model::file_name(template_, name_, file_name));
  if (directory_.empty() || name.starts_with('/')) return name;
  return directory_.ends_with('/') ? directory_ + name : directory_ + "/" + name;
}

Result<std::uint32_t> Collection::index_of(std::string_view variable) const {
  if (const auto found = by_name_.find(variable); found != by_name_.end()) return found->second;
  return fail(
      Error(ErrorCode::unknown_name, fmt::format("collection '{}' has no variable '{}'{}", name_, variable,
                                                 did_you_mean(variable, variable_names(schema_))))
          .in_variable(std::string(variable)));
}

}  // namespace afterbay::client
