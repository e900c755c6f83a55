// SPDX-License-Identifier: Apache-2.0
#include "config/writer_memory.hpp"

#include <algorithm>

#include "pipeline/stages.hpp"

namespace afterbay::config {

int writer_buffers(const Config& config) {
  const bool has_stages =
      std::ranges::any_of(config.overrides.collections, [](const CollectionOverride& item) {
        return !item.variable.empty() && pipeline::is_stage_setting(item.setting);
      });
  const bool computes = has_stages || config.output.reduces;
  if (!computes && config.writing.when_full != WhenFull::spill) return 0;
  // Servers that model ranks host have no threads of their own: they compute in one buffer.
  return config.servers.topology == Topology::inline_ ? 1 : config.writing.writers;
}

}  // namespace afterbay::config
