// SPDX-License-Identifier: Apache-2.0
// Targets: where the files of a plan are written. A run writes them through its session; a preview
// (preview.hpp) counts what a run would write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "afterbay/session.hpp"
#include "config/config.hpp"

namespace afterbay::output {

/// A file that is open. Errors are thrown as by OutputFile.
class TargetFile {
 public:
  virtual ~TargetFile() = default;
  TargetFile() = default;
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  [[nodiscard]] virtual const std::string& path() const = 0;
  /// Records that the file has already, because it is continued.
  [[nodiscard]] virtual std::uint64_t records() const = 0;
  /// This rank's values of a record; `record`: no_record for variables without records.
  virtual void put(std::string_view variable, std::uint64_t record, const void* data, Type type,
                   const MemoryLayout& memory) = 0;
  /// The ticket is complete when the file is published; number 0: nothing is written.
  virtual Ticket close() = 0;
};

/// The files of one entry of a description.
class Target {
 public:
  virtual ~Target() = default;
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  virtual std::unique_ptr<TargetFile> open(const FileName& name) = 0;
};

/// What settings say of the files of an entry.
struct TargetSettings {
  /// Of files that exist: what settings outside of the description say; nullopt: nothing.
  std::optional<config::Existing> existing;
  std::optional<Format> store;  ///< nullopt: nothing says it
  std::uint64_t block_bytes = config::Memory().block_bytes;
};

class Targets {
 public:
  virtual ~Targets() = default;
  Targets() = default;
  Targets(const Targets&) = delete;
  Targets& operator=(const Targets&) = delete;

  /// `name`: of the entry. Throws if files cannot have the schema.
  virtual std::unique_ptr<Target> define(const std::string& name, const Schema& schema,
                                         const CollectionOptions& options) = 0;
  [[nodiscard]] virtual TargetSettings settings(const std::string& name) const = 0;
};

/// Collections of a session, which outlives this.
class SessionTargets final : public Targets {
 public:
  explicit SessionTargets(Session& session) : session_(session) {}
  std::unique_ptr<Target> define(const std::string& name, const Schema& schema,
                                 const CollectionOptions& options) override;
  [[nodiscard]] TargetSettings settings(const std::string& name) const override;

 private:
  Session& session_;
};

}  // namespace afterbay::output
