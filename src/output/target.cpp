// SPDX-License-Identifier: Apache-2.0
#include "output/target.hpp"

#include "session/state.hpp"

namespace afterbay::output {

namespace {

class SessionFile final : public TargetFile {
 public:
  explicit SessionFile(OutputFile file) : file_(std::move(file)) {}
  [[nodiscard]] const std::string& path() const override { return file_.path(); }
  [[nodiscard]] std::uint64_t records() const override { return file_.records(); }
  void put(std::string_view variable, std::uint64_t record, const void* data, Type type,
           const MemoryLayout& memory) override {
    file_.put_raw(variable, record, data, type, memory, true, {});
  }
  Ticket close() override { return file_.close(); }

 private:
  OutputFile file_;
};

class SessionTarget final : public Target {
 public:
  explicit SessionTarget(Collection collection) : collection_(std::move(collection)) {}
  std::unique_ptr<TargetFile> open(const FileName& name) override {
    return std::make_unique<SessionFile>(collection_.open(name));
  }

 private:
  Collection collection_;
};

}  // namespace

std::unique_ptr<Target> SessionTargets::define(const std::string& name, const Schema& schema,
                                               const CollectionOptions& options) {
  return std::make_unique<SessionTarget>(session_.collection(name, schema, options));
}

TargetSettings SessionTargets::settings(const std::string& name) const {
  const config::Config& config = *session_.state().config;
  const config::CollectionSettings settings = config.settings_for(name);
  return {settings.existing, settings.store, config.memory.block_bytes};
}

}  // namespace afterbay::output
