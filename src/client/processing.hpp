// SPDX-License-Identifier: Apache-2.0
// Processing: what is computed with the values of a collection's variables between ranks and files,
// by servers or while ranks put them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "client/compression.hpp"
#include "config/config.hpp"
#include "model/packing.hpp"
#include "pipeline/stage.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

/// What servers are to compute of samples.
struct AskedReduction {
  wire::ReductionDefinition what;
  bool is_demanded = false;  ///< otherwise, ranks may compute it
};

/// What servers compute with the values of a collection's variables between ranks and files.
struct Processing {
  std::vector<pipeline::Settings> stages;  ///< one per variable; empty if no variable has any
  /// Settings of stages before messages of the format took `absolute_error`: one per variable.
  std::vector<pipeline::Settings> before_messages;
  /// How ranks pack values in `put`: one per variable; empty if they pack none.
  std::vector<std::optional<model::PackedValues>> packings;
  /// Expressions and statistics over time. Servers can compute them if all files have the same
  /// servers, each with the same part: these keep what was put before a file is opened.
  std::vector<AskedReduction> asked;
  std::vector<wire::ReductionDefinition> reductions;  ///< reductions that servers compute
  bool has_undemanded = false;                        ///< the reductions include some that are not demanded
  std::string why_not_reduced;  ///< why servers do not compute the definition's reductions; empty if they do,
                                ///< or if it has none
  Compression compression;

  [[nodiscard]] bool reduces() const noexcept { return !reductions.empty(); }
  [[nodiscard]] bool reduces(std::uint32_t variable) const noexcept {
    return std::ranges::find(reductions, variable, &wire::ReductionDefinition::variable) != reductions.end();
  }
  [[nodiscard]] bool has_stages(std::uint32_t variable) const noexcept {
    return !stages.empty() && !stages[variable].empty();
  }
  /// Null if the variable is not packed.
  [[nodiscard]] const model::PackedValues* packing(std::uint32_t variable) const noexcept {
    return variable < packings.size() && packings[variable] ? &*packings[variable] : nullptr;
  }

  /// Takes the settings of what is computed with each variable, and gives packed ones their type;
  /// those that `packed` has have it already. The schema has values of the types of its variables.
  Result<> take_settings(Schema& schema, Format format,
                         const std::vector<std::optional<model::PackedValues>>& packed,
                         const config::CollectionSettings& settings);
  /// Fails if attributes of the changed variable let messages of the format pack it otherwise than
  /// its settings say, with which the schema of the collection was made.
  [[nodiscard]] Result<> check_accuracy(const Schema& changed, std::uint32_t variable, Format format) const;
  /// Decides which of the `asked` reductions servers compute; ranks compute the others. If servers
  /// cannot compute a demanded one, ranks compute all; if servers cannot compute another one, ranks
  /// compute all that are not demanded. `changes_servers`: files go to different servers.
  void leave_to_ranks(const Schema& schema, bool changes_servers, Format format,
                      const config::CollectionSettings& settings);
};

}  // namespace afterbay::client
