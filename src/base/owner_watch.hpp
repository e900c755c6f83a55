// SPDX-License-Identifier: Apache-2.0
// Signs of life of owners: their files change as long as they live.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/owner_chain.hpp"

namespace afterbay {

/// Shows that this process lives: touches the file once a second until `stop_beating`. One thread does it for
/// all files; it ends with the last of them.
void start_beating(const std::string& path);
void stop_beating(const std::string& path) noexcept;
/// Touches the file now.
void beat_now(const std::string& path) noexcept;

/// Which of the owners are dead, in this order. Those whom the process table does not tell of are watched all
/// at once: alive is whose file changes or goes; dead whose file stayed the same in at least five looks over
/// `patience`. Time in which the file system did not answer, or this process stood still, does not count. Who
/// cannot be watched properly within three times that is taken for alive.
///
/// What was seen is remembered: a process stays dead as long as it touches none of its files, and who was
/// seen alive less than `recent` ago is not watched again. With patience 0 all others are taken for alive.
std::vector<bool> find_dead(std::span<const OwnerLink> owners, std::chrono::milliseconds patience,
                            std::chrono::milliseconds recent = {});

}  // namespace afterbay
