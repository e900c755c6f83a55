// SPDX-License-Identifier: Apache-2.0
#include "output/preview_target.hpp"

#include <algorithm>
#include <utility>

#include "client/collection_schema.hpp"
#include "client/processing.hpp"
#include "describe/file_place.hpp"
#include "model/converted_values.hpp"
#include "model/naming.hpp"
#include "output/refuse.hpp"
#include "storage/structure/stored_names.hpp"

namespace afterbay::output {

namespace {

/// A file whose records are counted.
class CountedFile final : public TargetFile {
 public:
  CountedFile(WriteCount& count, std::string path) : count_(count), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const override { return path_; }
  /// Whether there is a file to append to is not known.
  [[nodiscard]] std::uint64_t records() const override { return 0; }
  void put(std::string_view variable, std::uint64_t record, const void* /*data*/, Type /*type*/,
           const MemoryLayout& /*memory*/) override {
    if (record != no_record) records_ = std::max(records_, record + 1);
    count_.put(variable);
  }
  void put_reduced(std::string_view /*variable*/, std::uint64_t record) override {
    records_ = std::max(records_, record + 1);
  }
  void put_state(std::string_view /*variable*/, std::uint64_t /*plane*/,
                 const statistics::IntervalProgress& /*progress*/) override {}
  Ticket close() override {
    if (std::exchange(is_open_, false))
      count_.parts.push_back(
          {path_, records_, count_.bytes_per_file() + records_ * count_.bytes_per_record()});
    return {};
  }

 private:
  WriteCount& count_;
  std::string path_;
  std::uint64_t records_ = 0;
  bool is_open_ = true;
};

class CountedTarget final : public Target {
 public:
  CountedTarget(WriteCount& count, std::string name, std::string directory, client::Processing processing)
      : count_(count),
        name_(std::move(name)),
        directory_(std::move(directory)),
        processing_(std::move(processing)) {}
  std::unique_ptr<TargetFile> open(const FileName& name, const SchemaChanges& /*changes*/) override {
    return std::make_unique<CountedFile>(count_, path(name));
  }
  [[nodiscard]] std::string path(const FileName& name) const override {
    const std::string path = must(model::file_name("", name_, name));
    const bool inside = !directory_.empty() && !path.starts_with('/');
    return inside ? directory_ + (directory_.ends_with('/') ? "" : "/") + path : path;
  }

  [[nodiscard]] Compared compared(const std::string& /*path*/,
                                  const std::vector<DistributedCoordinate>& /*distributed*/) override {
    return {};
  }
  [[nodiscard]] bool is_there(const std::string& /*path*/,
                              const std::function<std::optional<Error>()>& /*refusal*/) override {
    return false;
  }
  [[nodiscard]] FoundRecords found(const std::string& /*path*/, std::uint64_t /*period*/) override {
    return {};
  }
  [[nodiscard]] bool reduces(bool demanded) const override {
    return processing_.reduces() && (demanded || processing_.has_undemanded);
  }
  std::unique_ptr<TargetFile> open_states(const FileName& /*name*/,
                                          const SchemaChanges& /*changes*/) override {
    return nullptr;  // a preview saves no state
  }
  void begin_state(std::uint64_t /*number*/, std::uint32_t /*more*/,
                   const statistics::IntervalProgress& /*progress*/) override {}
  [[nodiscard]] std::string why_not_reduced() const override { return processing_.why_not_reduced; }
  void begin_sample(std::uint64_t /*number*/, const Samples& /*samples*/) override {}
  [[nodiscard]] std::uint64_t cuts() const override { return 0; }
  void put_sample(std::string_view variable, std::uint64_t /*number*/, const void* /*data*/, Type /*type*/,
                  const MemoryLayout& /*memory*/) override {
    count_.put(variable);
  }

 private:
  WriteCount& count_;
  std::string name_;
  std::string directory_;
  client::Processing processing_;
};

}  // namespace

void WriteCount::Sum::end_step() noexcept {
  most = std::max(most, now);
  all += std::exchange(now, 0);
}

PerStep WriteCount::Sum::per_step(std::int64_t steps) const {
  return {static_cast<double>(all) / static_cast<double>(steps), most};
}

WriteCount::WriteCount(const Schema& schema, std::set<std::string, std::less<>> fields)
    : fields_(std::move(fields)) {
  for (const Variable& variable : schema.variables) {
    std::uint64_t bytes = size_of(variable.type);
    bool has_records = false;
    for (const std::string& name : variable.dimensions) {
      const std::uint64_t length = schema.find_dimension(name)->length;
      if (length == unlimited)
        has_records = true;
      else
        bytes *= length;
    }
    bytes_.emplace(variable.name, bytes);
    (has_records ? bytes_per_record_ : bytes_per_file_) += bytes;
  }
}

void WriteCount::put(std::string_view variable) {
  if (fields_.contains(variable)) ++puts_.now;
  traffic_.now += bytes_of(variable);
}

void WriteCount::end_step() {
  puts_.end_step();
  traffic_.end_step();
}

const describe::File& PreviewTargets::file(const std::string& name) const {
  return *std::ranges::find(description_.files, name, &describe::File::name);
}

TargetSettings PreviewTargets::settings(const std::string& name) const {
  const describe::File& described = file(name);
  TargetSettings settings;
  settings.all = describe::settings_in_run(described);
  settings.store = settings.all.store;
  for (const describe::Variable& variable : described.variables)
    if (const config::VariableSettings& own = variable.options.settings;
        described.active(variable) &&
        (!own.filters.empty() || own.chunk || own.access || !own.stages.empty()))
      settings.all.variables.emplace_back(variable.name, own);
  return settings;
}

std::unique_ptr<Target> PreviewTargets::define(const std::string& name, const Schema& schema,
                                               const CollectionOptions& options,
                                               const std::vector<ServerReduction>& reductions) {
  const describe::File& described = file(name);
  std::set<std::string, std::less<>> fields;
  for (const describe::Variable& variable : described.variables) fields.insert(variable.name);
  // The description says nothing of placement and pools, which may leave more to the ranks.
  config::CollectionSettings settings = this->settings(name).all;
  const Format format = settings.store.value_or(format_of(options.store.name()).value());
  must(storage::check_stored_names(schema));
  Schema stored = schema;
  Schema packed = schema;
  model::convert_values(stored);
  client::Processing processing;
  const auto apply = [&]() -> Result<> {
    AFTERBAY_TRY(client::choose_compression(name, options.directory, format, settings));
    AFTERBAY_TRY(client::apply_settings(packed, format, {}, settings, processing));
    return client::check_layout(packed, format, settings, processing);
  };
  if (auto good = apply(); !good)
    throw Failure(std::move(good).error().add(fmt::format("defining collection '{}'", name)));
  processing.asked = numbered(stored, reductions);
  processing.leave_to_ranks(stored, false, format, settings);
  auto& count = counts_[name];
  count = std::make_unique<WriteCount>(stored, std::move(fields));
  return std::make_unique<CountedTarget>(*count, name, settings.directory.value_or(""),
                                         std::move(processing));
}

}  // namespace afterbay::output
