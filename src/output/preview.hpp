// SPDX-License-Identifier: Apache-2.0
// Preview: what a run with a description will do. A preview is a run without values: the plan of
// the run is made for a rank that holds no points, and executed step by step, and what would be
// written is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "describe/description.hpp"
#include "output/file_schema.hpp"
#include "output/model_definitions.hpp"

namespace afterbay::output {

struct PreviewOptions {
  Period length = {.years = 1};  ///< length of the run; a remainder shorter than a step is ignored
  Processes processes;
};

/// A figure per step, over the steps of a run.
struct PerStep {
  double average = 0;
  std::uint64_t most = 0;
};

/// Something that is computed, or put by the model. Its inputs have smaller numbers.
struct PreviewStage {
  enum class Kind : std::uint8_t { field, subset, expression, reduction, statistic };
  Kind kind = Kind::field;
  std::string name;     ///< "tas", "tas on europe", "ws", "mean over lev of ta", "mean, maximum of tas"
  std::string text;     ///< beside its inputs: "tas", "europe", "ws", "mean over lev", "mean, maximum"
  std::string formula;  ///< formula of a derived field: "sqrt(uas^2 + vas^2)"; otherwise empty
  std::string timing;   ///< timing of statistics: "every 1d, sampled every 6h"; otherwise empty
  std::string points;   ///< points of the result: "lat 96 x lon 144"
  std::vector<std::size_t> of;
  /// Size of states and buffers on the rank that has the most. Points that are distributed are
  /// taken to be distributed equally.
  std::uint64_t bytes_per_rank = 0;
  std::uint64_t bytes_on_all_ranks = 0;
  bool in_servers = false;             ///< servers compute it; otherwise the model ranks
  std::uint64_t bytes_on_servers = 0;  ///< size of its states on all servers
};

/// "field", "subset", ...
std::string_view name_of(PreviewStage::Kind kind) noexcept;

struct PreviewVariable {
  std::string name;
  std::string operation;   ///< as the description names it: "mean"
  std::string field;       ///< in the description
  std::string expression;  ///< expression of the field; empty: the model has it
  TimeKind kind = TimeKind::instant;
  std::string grid;  ///< the subset; "own": all points
  std::string points;
  Type type = Type::float32;
  std::uint64_t bytes = 0;  ///< bytes per record; for kind `once`, per file
  std::size_t stage = 0;    ///< stage whose values it has
};

/// A file of a run.
struct PreviewPart {
  std::string path;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  ///< size of all variables before compression, without the file's own structure
};

/// The files of an entry of the description.
struct PreviewFile {
  std::string name;
  std::string every;  ///< empty: no records
  std::string cycle;  ///< cycle of folded periods, "1d by 6h"; otherwise empty
  std::vector<PreviewVariable> variables;
  /// Subsets whose points follow from coordinates that definitions on file do not have. Figures are
  /// those of the stations, or of all points that the subset could have.
  std::vector<std::string> known_in_run_only;
  bool is_upper_bound = false;         ///< the figures are those of all points that a subset could have
  std::vector<PreviewPart> parts;      ///< in the order of time
  std::uint64_t bytes_per_record = 0;  ///< size of all variables with records, including the time axis
  std::uint64_t bytes_per_file = 0;  ///< size of what each file has once: coordinates, fields of kind `once`
  PerStep puts;                      ///< puts of the file's variables, without the time axis
  PerStep traffic;                   ///< bytes from all model ranks to servers

  [[nodiscard]] std::uint64_t records() const noexcept;  ///< records of the whole run
  [[nodiscard]] std::uint64_t bytes() const noexcept;    ///< bytes of the whole run
  /// The part with the most records, and the most bytes; null: nothing is written.
  [[nodiscard]] const PreviewPart* largest() const noexcept;
};

struct Preview {
  std::string calendar;
  std::string start;
  std::string end;
  std::string step;
  std::int64_t steps = 0;
  bool has_step_0 = false;  ///< the model puts its state at the start, because a file has `at_start`
  double days = 0;          ///< length of the run in days of 86400 s
  Processes processes;
  std::vector<PreviewFile> files;           ///< in the order of the description, those that are written
  std::vector<PreviewStage> stages;         ///< stages of the plan
  std::vector<std::string> unused;          ///< fields that nothing uses
  std::vector<std::string> without_effect;  ///< Plan::without_effect
  std::vector<std::string> first_periods;   ///< Plan::first_periods
  /// What servers may compute (`statistics: auto`, `expressions: auto`), which is shown as if model
  /// ranks did: "tas in day".
  std::vector<std::string> undecided;
  std::size_t fields = 0;            ///< number of fields that the model has defined
  PerStep puts;                      ///< the model's puts of fields that something needs
  PerStep traffic;                   ///< bytes from all model ranks to servers
  std::uint64_t traffic_of_run = 0;  ///< bytes
  PerStep between_ranks;             ///< bytes of reductions over grids, about, from all model ranks
  std::size_t lag = 0;               ///< steps after which there are results of reductions over grids

  [[nodiscard]] std::uint64_t bytes() const noexcept;  ///< total over all files
  [[nodiscard]] std::uint64_t state_bytes_per_rank() const noexcept;
  [[nodiscard]] std::uint64_t state_bytes() const noexcept;   ///< on all ranks
  [[nodiscard]] std::uint64_t server_bytes() const noexcept;  ///< size of states on all servers
};

/// Throws what a run throws in Output::start() and later because of its description and
/// definitions, with the places in the description; invalid_argument if the run has no step, or too
/// many.
Preview preview(const describe::Description& description, const ModelDefinitions& model,
                const PreviewOptions& options);

}  // namespace afterbay::output
