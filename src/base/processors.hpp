// SPDX-License-Identifier: Apache-2.0
// The processors that the processes of a node may use.
#pragma once

#include <cstdint>
#include <vector>

namespace afterbay {

/// Logical processors of a node, as the launcher and the batch system leave them to some of its
/// processes (affinity).
struct Processors {
  std::uint32_t processes = 0;
  std::uint32_t online = 0;            ///< processors of the node that are online; 0: unknown
  bool apart = true;                   ///< no processor is left to two of the processes
  std::vector<std::uint64_t> allowed;  ///< processors that any of the processes may use: a bit per processor

  /// Adds other processes of the node.
  void join(const Processors& others);
  /// Whether there is a processor for each of the processes and for `more` others. Processes that
  /// are bound to processors of their own leave all other ones of the node to these.
  [[nodiscard]] bool suffice_for(std::uint32_t more) const noexcept;
};

/// The processors of this process. Unknown if the system does not say.
Processors own_processors();

}  // namespace afterbay
