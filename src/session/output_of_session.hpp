// SPDX-License-Identifier: Apache-2.0
// What a session knows of its described output, which is a layer above it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.hpp"
#include "describe/description.hpp"

namespace afterbay::session {

struct OutputOfSession {
  /// What the setting `output` and the program describe; never null.
  std::shared_ptr<const describe::Description> description = std::make_shared<describe::Description>();
  bool taken = false;  ///< an Output has taken the description
  /// Why files that are open must not be published; asked before the session ends, which would
  /// publish them. Empty: nothing is wrong.
  std::function<std::optional<Error>()> refusal;
  /// Why the session cannot end yet: the model has not finalized the output. Empty: it can.
  std::function<std::optional<Error>()> unfinished;
  /// Whether the last agreement of the model ranks was an error, which all of them have.
  bool agreed_to_fail = false;
};

}  // namespace afterbay::session
