// SPDX-License-Identifier: Apache-2.0
// Targets: where the files of a plan are written. A run writes them through its session; a preview
// (preview.hpp) counts what a run would write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/session.hpp"
#include "client/processing.hpp"
#include "config/config.hpp"
#include "expression/units.hpp"
#include "statistics/state.hpp"
#include "statistics/statistic.hpp"

namespace afterbay::output {

struct DistributedCoordinate;

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
  /// The servers compute this rank's values of a record from the samples that were put.
  virtual void put_reduced(std::string_view variable, std::uint64_t record) = 0;
  /// In a file of states: the servers write a plane of the variable's state, whose interval is that
  /// far.
  virtual void put_state(std::string_view variable, std::uint64_t plane,
                         const statistics::IntervalProgress& progress) = 0;
  /// The ticket is complete when the file is published; number 0: nothing is written.
  virtual Ticket close() = 0;
};

/// The time axis of a file that exists.
struct FoundRecords {
  std::uint64_t records = 0;
  std::string units;          ///< empty: there is no time, or no record
  std::string calendar;       ///< empty: there is no time, or no record
  std::vector<double> times;  ///< times of all records; empty: there is no time
  /// Where what the last period covers ends; nullopt: the axis has no bounds.
  std::optional<double> end;
};

/// The files of one entry of a description.
class Target {
 public:
  virtual ~Target() = default;
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  virtual std::unique_ptr<TargetFile> open(const FileName& name, const SchemaChanges& changes) = 0;
  /// A published file, compared with what this run writes: the schema, the store and the values of
  /// coordinates.
  struct Compared {
    SchemaChanges kept;  ///< texts of attributes that only tell of it: it keeps them if it is continued
    std::vector<std::string> differences;  ///< others, for which it cannot be: sentences
  };
  /// On all model ranks together. `distributed`: coordinates that this run writes, this rank's
  /// values. See differing_values for what is read.
  [[nodiscard]] virtual Compared compared(const std::string& path,
                                          const std::vector<DistributedCoordinate>& distributed) = 0;
  /// Whether there is a file, as the first model rank sees it. On all model ranks together; throws
  /// the refusal, for which the first one asks.
  [[nodiscard]] virtual bool is_there(const std::string& path,
                                      const std::function<std::optional<Error>()>& refusal) = 0;
  /// The path of a file that is opened with this name.
  [[nodiscard]] virtual std::string path(const FileName& name) const = 0;
  /// Reads a published file, on all model ranks together. `period`: records of a period.
  [[nodiscard]] virtual FoundRecords found(const std::string& path, std::uint64_t period) = 0;

  /// Whether servers compute the reductions of the definition that are demanded, or the others.
  /// Only then there are samples, and files of states (statistics/planes.hpp).
  [[nodiscard]] virtual bool reduces(bool demanded) const = 0;
  /// If not, although the definition has some: why.
  [[nodiscard]] virtual std::string why_not_reduced() const = 0;
  /// What the samples of a record are.
  struct Samples {
    std::uint32_t source = 0;        ///< operands: number of their series; 0: the samples are not operands
    std::uint32_t more_of_step = 0;  ///< records that are begun right after this one for the same step
    bool begins_interval = false;
    double seconds = 1;  ///< time that they stand for
  };
  /// Begins a record with samples, before anything else of its step. `number`: counted from 0. Does
  /// nothing if it has begun. If the model has ended it, by flush or epoch in the middle of the
  /// step, it begins again.
  virtual void begin_sample(std::uint64_t number, const Samples& samples) = 0;
  virtual std::unique_ptr<TargetFile> open_states(const FileName& name, const SchemaChanges& changes) = 0;
  /// Changes whenever the model may have ended records in the middle of a step.
  [[nodiscard]] virtual std::uint64_t cuts() const = 0;
  /// Begins to restore plane `number` of the states, after which `more` follow.
  virtual void begin_state(std::uint64_t number, std::uint32_t more,
                           const statistics::IntervalProgress& progress) = 0;
  /// This rank's values of the sample or plane that was begun with this number. A plane, and
  /// samples of operands, have values of the variable's type.
  virtual void put_sample(std::string_view variable, std::uint64_t number, const void* data, Type type,
                          const MemoryLayout& memory) = 0;
};

/// An expression, a statistic over time or a statistic of an expression that servers may compute.
struct ServerReduction {
  struct Operand {
    std::size_t source = 0;  ///< from 1 on
    bool is_constant = false;
    Values missing;  ///< empty: nothing is missing
  };
  struct Step {
    std::string text;  ///< expression::Formula::text
    /// The arguments of the step in order: the number of an operand, or the number of operands plus
    /// that of an earlier step.
    std::vector<std::size_t> operands;
  };
  struct Formula {
    std::vector<Step> steps;  ///< the last one gives the result
    std::vector<Operand> operands;
    expression::Linear units;  ///< units of its results, without a statistic
  };
  std::string variable;
  std::optional<Formula> formula;
  std::optional<statistics::Statistic> statistic;
  /// Missing values of the samples, without a formula: see statistics::SampleFormat.
  Values missing;
  bool is_demanded = false;  ///< the run is refused if servers cannot compute it
};

/// The reductions with the numbers of their variables in the schema.
std::vector<client::AskedReduction> numbered(const Schema& schema,
                                             const std::vector<ServerReduction>& reductions);

/// What settings say of the files of an entry.
struct TargetSettings {
  /// What settings outside of the description say of files that exist; nullopt: nothing.
  std::optional<config::Existing> existing;
  std::optional<Format> store;  ///< nullopt: nothing says it
  std::uint64_t block_bytes = config::MemorySettings().block_bytes;
  config::CollectionSettings all;  ///< with those of the description
};

class Targets {
 public:
  virtual ~Targets() = default;
  Targets() = default;
  Targets(const Targets&) = delete;
  Targets& operator=(const Targets&) = delete;

  /// `name`: of the entry. Throws if files cannot have the schema.
  virtual std::unique_ptr<Target> define(const std::string& name, const Schema& schema,
                                         const CollectionOptions& options,
                                         const std::vector<ServerReduction>& reductions) = 0;
  /// `name`: of the entry.
  [[nodiscard]] virtual TargetSettings settings(const std::string& name) const = 0;
};

/// Collections of a session, which outlives this.
class SessionTargets final : public Targets {
 public:
  explicit SessionTargets(Session& session) : session_(session) {}
  std::unique_ptr<Target> define(const std::string& name, const Schema& schema,
                                 const CollectionOptions& options,
                                 const std::vector<ServerReduction>& reductions) override;
  [[nodiscard]] TargetSettings settings(const std::string& name) const override;

 private:
  Session& session_;
};

}  // namespace afterbay::output
