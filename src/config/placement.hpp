// SPDX-License-Identifier: Apache-2.0
// PlacementTraits: which servers of a pool write the files of a collection. A new placement does
// not compile without its row.
#pragma once

#include <string_view>

#include "config/config.hpp"
#include "model/frame_owners.hpp"

namespace afterbay::config {

struct PlacementTraits {
  std::string_view name;  ///< as in the settings
  bool in_turn = false;   ///< the servers take turns: each file has one server
  bool by_load = false;   ///< each file has the server that is least loaded when it is opened
  /// How several servers share each file.
  model::FileSharing sharing = model::FileSharing::none;
  bool servers_talk = false;  ///< servers send messages to each other

  /// Whether the files of a collection have different servers, each file one.
  [[nodiscard]] constexpr bool spreads_files() const noexcept { return in_turn || by_load; }
};

constexpr PlacementTraits traits_of(Placement placement) noexcept {
  switch (placement) {
    case Placement::collection: return {.name = "collection"};
    case Placement::file: return {.name = "file", .in_turn = true};
    case Placement::slab: return {.name = "slab", .sharing = model::FileSharing::slab, .servers_talk = true};
    case Placement::variable:
      return {.name = "variable", .sharing = model::FileSharing::variable, .servers_talk = true};
    case Placement::least: return {.name = "least", .by_load = true, .servers_talk = true};
  }
  return {};
}

}  // namespace afterbay::config
