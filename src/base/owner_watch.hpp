// SPDX-License-Identifier: Apache-2.0
// Signs of life of owners: their files change as long as the owners live.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/owner_chain.hpp"
#include "base/owner_patience.hpp"

namespace afterbay {

/// Shows that this process is alive: touches the file once a second until `stop_beating`. One
/// thread serves all files; it ends with the last of them.
void start_beating(const std::string& path);
void stop_beating(const std::string& path) noexcept;
/// Touches the file now.
void beat_now(const std::string& path) noexcept;

/// Which of the owners are dead, in this order. Owners that the process table does not show are
/// watched at the same time: an owner is alive if its file changes or disappears, and dead if its
/// file stayed the same in at least five looks over `patience`. Time in which the file system did
/// not respond, or in which this process was stopped, does not count. An owner that cannot be
/// watched properly within three times `patience` counts as alive.
///
/// Results are remembered: a process stays dead as long as it touches none of its files, and an
/// owner that was seen alive less than `recent` ago is not watched again. With patience 0 all
/// others count as alive.
std::vector<bool> find_dead(std::span<const OwnerLink> owners, const OwnerPatience& patience,
                            std::chrono::milliseconds recent = {});

}  // namespace afterbay
