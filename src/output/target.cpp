// SPDX-License-Identifier: Apache-2.0
#include "output/target.hpp"

#include <algorithm>
#include <array>

#include "afterbay/input.hpp"
#include "model/changes.hpp"
#include "output/differing_values.hpp"
#include "output/earlier_files.hpp"
#include "output/file_schema.hpp"
#include "output/refuse.hpp"
#include "session/facade.hpp"
#include "session/state.hpp"
#include "storage/structure/compare_schema.hpp"
#include "storage/structure/stored_names.hpp"

namespace afterbay::output {

namespace {

wire::SavedProgress saved(const statistics::IntervalProgress& progress) {
  return {progress.steps, progress.duration, progress.has_reference};
}

class SessionFile final : public TargetFile {
 public:
  explicit SessionFile(OutputFile file) : file_(std::move(file)) {}
  [[nodiscard]] const std::string& path() const override { return file_.path(); }
  [[nodiscard]] std::uint64_t records() const override { return file_.records(); }
  void put(std::string_view variable, std::uint64_t record, const void* data, Type type,
           const MemoryLayout& memory) override {
    file_.put_raw(variable, record, data, type, memory, true, {});
  }
  void put_reduced(std::string_view variable, std::uint64_t record) override {
    OutputFile::State& it = file_.state();
    unwrap(call_of(it.session, "put")->puts().put_reduced(*it.file, variable, record));
  }
  void put_state(std::string_view variable, std::uint64_t plane,
                 const statistics::IntervalProgress& progress) override {
    file_.state().file->next_sample.progress = saved(progress);
    put_reduced(variable, plane);
  }
  Ticket close() override { return file_.close(); }

 private:
  OutputFile file_;
};

/// Empty if there is no such attribute.
std::string text_of(const Variable& variable, std::string_view attribute) {
  const auto found = std::ranges::find(variable.attributes, attribute, &Attribute::name);
  const bool is_text = found != variable.attributes.end() && found->values.type == Type::text;
  return is_text ? std::string(found->values.text()) : std::string();
}

/// Attributes that only describe a file, or texts that only describe a variable: others do not
/// change the meaning of the values. CF Conventions 1.11, appendix A, has those that say more.
bool only_tells(const Attribute& attribute, bool of_file) {
  constexpr std::array<std::string_view, 28> defining{"Conventions",
                                                      "_FillValue",
                                                      "ancillary_variables",
                                                      "axis",
                                                      "bounds",
                                                      "calendar",
                                                      "cell_measures",
                                                      "cell_methods",
                                                      "cf_role",
                                                      "climatology",
                                                      "compress",
                                                      "coordinates",
                                                      "featureType",
                                                      "flag_meanings",
                                                      "formula_terms",
                                                      "grid_mapping",
                                                      "grid_mapping_name",
                                                      "healpix_order",
                                                      "indexing_scheme",
                                                      "instance_dimension",
                                                      "location",
                                                      "mesh",
                                                      "missing_value",
                                                      "positive",
                                                      "quantization",
                                                      "sample_dimension",
                                                      "standard_name",
                                                      "units"};
  const std::string& name = attribute.name;
  return (of_file || attribute.values.type == Type::text) && !name.ends_with("_coordinates") &&
         !name.ends_with("_connectivity") && std::ranges::find(defining, name) == defining.end();
}

/// Adds the changes with which `wanted` keeps the texts that are `found`. `variable`: empty: of the
/// file.
void keep_texts(SchemaChanges& changes, const std::string& variable, const std::vector<Attribute>& wanted,
                const std::vector<Attribute>& found) {
  const bool of_file = variable.empty();
  for (const Attribute& attribute : found) {
    const auto same = std::ranges::find(wanted, attribute.name, &Attribute::name);
    const bool differs = same == wanted.end() || same->values != attribute.values;
    if (differs && only_tells(attribute, of_file) && (same == wanted.end() || only_tells(*same, of_file)))
      changes.attribute(variable, attribute.name, attribute.values);
  }
  for (const Attribute& attribute : wanted)
    if (only_tells(attribute, of_file) &&
        std::ranges::find(found, attribute.name, &Attribute::name) == found.end())
      changes.attribute(variable, attribute.name, {});
}

/// The variable with the bounds of the time; null: it has none.
const Variable* bounds_of(const Schema& schema, const Variable& time) {
  for (const char* const attribute : {"bounds", "climatology"})
    if (const Variable* const bounds = schema.find_variable(text_of(time, attribute));
        bounds != nullptr && bounds->dimensions.size() == 2 &&
        schema.find_dimension(bounds->dimensions[1])->length == 2)
      return bounds;
  return nullptr;
}

class SessionTarget final : public Target {
 public:
  SessionTarget(Session& of, client::Collection& collection)
      : of_(of), session_(of.state().model), made_(&collection) {
    auto handle = std::make_shared<Collection::State>();
    handle->session = session_;
    handle->collection = &collection;
    collection_ = Collection(std::move(handle));
    if (collection.processing().reduces())
      samples_ = call_of(session_, "start")->puts().samples_of(collection);
  }
  std::unique_ptr<TargetFile> open(const FileName& name, const SchemaChanges& changes) override {
    OutputFile file = collection_.open(name, changes);
    file.state().file->is_the_sessions = true;
    return std::make_unique<SessionFile>(std::move(file));
  }
  [[nodiscard]] std::string path(const FileName& name) const override { return unwrap(made_->path(name)); }
  [[nodiscard]] Compared compared(const std::string& path,
                                  const std::vector<DistributedCoordinate>& distributed) override {
    InputFile file = of_.open_input(path, {.as_of = AsOf::published});
    const Schema& found = file.schema();
    Compared compared;
    keep_texts(compared.kept, {}, made_->schema().attributes, found.attributes);
    for (const Variable& wanted : made_->schema().variables)
      if (const Variable* const same = found.find_variable(wanted.name))
        keep_texts(compared.kept, wanted.name, wanted.attributes, same->attributes);
    // As the servers do when they open it.
    compared.differences =
        storage::schema_differences(must(model::apply(made_->schema(), compared.kept)), found);
    if (const Format store = file.state().input->format; store != made_->format())
      compared.differences.insert(
          compared.differences.begin(),
          fmt::format("store: {} wanted, {} in the file", name_of(made_->format()), name_of(store)));
    if (compared.differences.empty()) compared.differences = differing_values(of_, file, *made_, distributed);
    file.close();
    return compared;
  }
  [[nodiscard]] bool is_there(const std::string& path,
                              const std::function<std::optional<Error>()>& refusal) override {
    return output::is_there(of_, path, refusal);
  }
  [[nodiscard]] FoundRecords found(const std::string& path, std::uint64_t period) override {
    InputFile file = of_.open_input(path, {.as_of = AsOf::published});
    FoundRecords found;
    found.records = file.records();
    const Variable* const time = file.schema().find_variable(time_name);
    if (time == nullptr || found.records == 0) return found;
    found.units = text_of(*time, "units");
    found.calendar = text_of(*time, "calendar");
    found.times.resize(found.records);
    file.get(time_name, {.record = 0, .records = found.records}, found.times.data());
    if (const Variable* const bounds = bounds_of(file.schema(), *time))
      for (std::uint64_t r = found.records - std::min(found.records, period); r < found.records; ++r) {
        double both[2] = {0, 0};
        file.get(bounds->name, {.record = r}, both);
        found.end = std::max(found.end.value_or(both[1]), both[1]);
      }
    file.close();
    return found;
  }
  [[nodiscard]] bool reduces(bool demanded) const override {
    return samples_ != nullptr && (demanded || made_->processing().has_undemanded);
  }
  [[nodiscard]] std::string why_not_reduced() const override { return made_->processing().why_not_reduced; }
  void begin_sample(std::uint64_t number, const Samples& samples) override {
    using wire::RecordKind;
    begin(number, {.kind = samples.begins_interval ? RecordKind::first_sample : RecordKind::sample,
                   .source = samples.source,
                   .more_of_step = samples.more_of_step,
                   .duration = samples.seconds});
  }
  [[nodiscard]] std::uint64_t cuts() const override {
    const auto model = session_.lock();
    return model == nullptr ? 0 : model->puts().cuts();
  }
  std::unique_ptr<TargetFile> open_states(const FileName& name, const SchemaChanges& changes) override {
    auto file = std::make_shared<OutputFile::State>();
    file->session = session_;
    file->file = unwrap(call_of(session_, "save")->open(*made_, name, changes, true));
    return std::make_unique<SessionFile>(OutputFile(std::move(file)));
  }
  void begin_state(std::uint64_t number, std::uint32_t more,
                   const statistics::IntervalProgress& progress) override {
    begin(number, {.kind = wire::RecordKind::state, .more_of_step = more, .progress = saved(progress)});
  }
  void put_sample(std::string_view variable, std::uint64_t number, const void* data, Type type,
                  const MemoryLayout& memory) override {
    unwrap(call_of(session_, "put")->puts().put(samples_, variable, number, data, type, memory, {}, true));
  }

 private:
  void begin(std::uint64_t number, const client::File::NextSample& next) {
    samples_->next_sample = next;
    unwrap(call_of(session_, "step")->puts().begin(*samples_, number));
  }

  Session& of_;
  std::weak_ptr<client::ModelSession> session_;
  Collection collection_;
  client::Collection* made_;
  std::shared_ptr<client::File> samples_;  ///< null: there are none
};

}  // namespace

std::vector<client::AskedReduction> numbered(const Schema& schema,
                                             const std::vector<ServerReduction>& reductions) {
  std::vector<client::AskedReduction> all;
  for (const ServerReduction& it : reductions) {
    const auto at = std::ranges::find(schema.variables, it.variable, &Variable::name);
    client::AskedReduction& asked = all.emplace_back();
    asked.is_demanded = it.is_demanded;
    wire::ReductionDefinition& made = asked.what;
    made.variable = static_cast<std::uint32_t>(at - schema.variables.begin());
    made.is_over_time = it.statistic ? 1 : 0;
    made.statistic = it.statistic.value_or(statistics::Statistic());
    made.missing = it.missing;
    if (!it.formula) continue;
    wire::FormulaDefinition& formula = made.formula.emplace();
    for (const ServerReduction::Step& step : it.formula->steps)
      formula.steps.push_back({step.text, {step.operands.begin(), step.operands.end()}});
    formula.multiply = it.formula->units.multiply;
    formula.add = it.formula->units.add;
    for (const ServerReduction::Operand& operand : it.formula->operands)
      formula.operands.push_back({static_cast<std::uint32_t>(operand.source),
                                  static_cast<std::uint8_t>(operand.is_constant ? 1 : 0), operand.missing});
  }
  return all;
}

std::unique_ptr<Target> SessionTargets::define(const std::string& name, const Schema& schema,
                                               const CollectionOptions& options,
                                               const std::vector<ServerReduction>& reductions) {
  client::Collection* made = nullptr;
  {
    const SessionCall model = call_of(session_.state(), "start");
    unwrap(storage::check_stored_names(schema));
    made = unwrap(model->collection(name, schema, options, numbered(schema, reductions)));
  }
  return std::make_unique<SessionTarget>(session_, *made);
}

TargetSettings SessionTargets::settings(const std::string& name) const {
  const config::Config& config = *session_.state().config;
  const config::CollectionSettings settings = config.settings_for(name);
  return {settings.existing, settings.store, config.memory.block_bytes, settings};
}

}  // namespace afterbay::output
