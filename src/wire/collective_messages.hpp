// SPDX-License-Identifier: Apache-2.0
// The kinds of messages that have their own collective call. Their structs are defined where the
// call is made, one per enumerator.
#pragma once

#include <cstdint>

#include "wire/archive.hpp"
#include "wire/message_list.hpp"

namespace afterbay::wire {

enum class CollectiveMessage : std::uint8_t {
  // transport/mpi/
  gathered_part,  ///< consult.cpp
  cards,          ///< roster.cpp
  views,          ///< roster.hpp
  // session/
  greeting,        ///< greeting.cpp
  assigned_roles,  ///< greeting.cpp
  obstacles,       ///< greeting.cpp
  process_report,  ///< report.cpp
  // output/
  agreement_envelope,      ///< agreement.cpp
  box_hits,                ///< coordinate_box.cpp
  box_points,              ///< coordinate_box.cpp
  box_positions,           ///< coordinate_box.cpp
  nearest_points,          ///< stations.cpp
  memory_need,             ///< memory_budget.cpp
  memory_answer,           ///< memory_budget.cpp
  server_nearness,         ///< server_reductions.cpp
  server_verdict,          ///< server_reductions.cpp
  step_totals,             ///< late_steps.cpp
  earlier_files_question,  ///< earlier_files.cpp
  earlier_files,           ///< earlier_files.cpp
  given_options,           ///< same_options.cpp
  options_agree,           ///< same_options.cpp
  different_values,        ///< differing_values.cpp
  count
};

static_assert(static_cast<std::uint32_t>(CollectiveMessage::count) <= first_transport - first_collective,
              "the kinds of collective messages would overlap with those of a direction");

constexpr Kind kind_of(CollectiveMessage message) noexcept {
  return Kind{first_collective + static_cast<std::uint32_t>(message)};
}

}  // namespace afterbay::wire
