// SPDX-License-Identifier: Apache-2.0
// Settings that must be equal on all ranks of a session.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace afterbay::config {

struct AgreedSetting {
  std::string name;   ///< as users write it
  std::string value;  ///< in its canonical form
  friend bool operator==(const AgreedSetting&, const AgreedSetting&) = default;
};

/// The settings in `config` that must agree: those flagged in the tables of settings (of the
/// session, of collections and of variables), those of pools, and values derived from other
/// settings.
std::vector<AgreedSetting> agreed_settings(const Config& config);

/// "memory.server is 512MiB on rank 0 and 1GiB on rank 3" for the first setting that differs;
/// empty: none differs.
std::string first_difference(const std::vector<AgreedSetting>& a, int rank_of_a,
                             const std::vector<AgreedSetting>& b, int rank_of_b);

}  // namespace afterbay::config
