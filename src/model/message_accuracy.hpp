// SPDX-License-Identifier: Apache-2.0
// How formats of messages, which pack values themselves, keep a stated accuracy. Beside
// MessageTraits, because only the definition of collections needs it.
#pragma once

#include "base/result.hpp"
#include "model/format.hpp"

namespace afterbay {

struct MessageAccuracy {
  /// Whether a variable with slabs is packed, so that its values change. Pure.
  bool (*packs)(const Variable& variable) = nullptr;
  /// Lets a variable with slabs be packed so that errors are at most `largest`, by attributes of
  /// the format. Returns false, and changes nothing, if its values are stored as they are. Fails
  /// with the variable's name, and what would do, if its attributes allow larger errors, or if the
  /// format cannot keep it.
  Result<bool> (*keep_error)(Variable& variable, double largest) = nullptr;
};

/// Null: the format has no messages.
const MessageAccuracy* message_accuracy_of(Format format) noexcept;

}  // namespace afterbay
