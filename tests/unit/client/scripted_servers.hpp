// SPDX-License-Identifier: Apache-2.0
// What tests of a model rank without a session begin with: a configuration, and servers that the
// test plays. For tests only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/session_core.hpp"
#include "unit/client/scripted_link.hpp"
#include "unit/config/config_sources.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::test {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// With these settings and no others. They must be correct.
inline config::Config config_of(Settings settings) {
  config::Sources sources = config::no_environment();
  sources.settings = std::move(settings);
  return config::load(sources).value();
}

/// `settings`, after those by which a small record has many frames.
inline Settings with_small_frames(Settings settings) {
  settings.insert(settings.begin(),
                  {{"memory.server", "4MiB"}, {"memory.block", "64KiB"}, {"chunk", "16KiB"}});
  return settings;
}

/// A link per server.
struct ScriptedServers {
  explicit ScriptedServers(std::size_t count) {
    for (std::size_t s = 0; s < count; ++s) {
      auto link = std::make_unique<ScriptedLink>();
      ends.push_back(link.get());
      links.push_back(std::move(link));
    }
  }

  client::SessionCore::Links links;  ///< for the session, which owns them then
  std::vector<ScriptedLink*> ends;   ///< for the test, as long as the session exists
};

/// A server's answer to the definitions, from each of `ends`.
inline void answer_definitions(const std::vector<ScriptedLink*>& ends, std::uint64_t serial) {
  wire::Defined answer;
  answer.serial = serial;
  for (ScriptedLink* const end : ends) end->answer(answer);
}

}  // namespace afterbay::test
