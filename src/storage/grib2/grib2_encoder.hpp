// SPDX-License-Identifier: Apache-2.0
// Grib2Encoder: makes GRIB2 messages with ecCodes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/thread_safety.hpp"
#include "storage/grib2/definition.hpp"
#include "storage/grib2/handle.hpp"
#include "storage/grib2/prototype.hpp"
#include "storage/messages/message_encoder.hpp"
#include "storage/messages/valid_values.hpp"

namespace afterbay::storage::grib2 {

/// Everything that is equal in all messages of a variable is in its prototype, a message without
/// values. A call copies it, or takes a handle of an earlier message if that gives the same bytes:
/// to parse a message takes longer than to pack a small field. Threads share no handle.
class Grib2Encoder : public MessageEncoder {
 public:
  static Result<std::unique_ptr<MessageEncoder>> make(const Schema& schema, const model::FileLayout& layout);

  Result<Message> encode(const Slab& slab) override;
  Result<> stamp(std::span<std::byte> message, std::uint32_t variable, const MessageTime& time) override;

 private:
  /// What is known of a variable before its values.
  struct Written {
    std::string name;
    Type type = Type::float32;
    std::vector<double> missing;  ///< values that mark missing points
    ValidValues valid;            ///< others are missing too
    Prototype prototype;          ///< without a message if the variable is not a field
    bool reuses_handles = false;
  };
  /// The values of a slab.
  struct Field {
    std::vector<double> numbers;
    bool missing = false;           ///< some are missing
    bool too_large = false;         ///< some are too large to be packed
    double least = 0, largest = 0;  ///< range of the values that are not missing; 0 if all are missing
  };
  /// A handle that is not in use, with what its message has.
  struct Idle {
    std::uint32_t variable = 0;
    bool missing = false;
    Handle handle;
  };
  static constexpr std::size_t most_idle = 16;
  /// Maximum message size of an idle handle; larger messages are slow to pack.
  static constexpr std::size_t most_idle_bytes = 256u << 10;

  static Result<Written> written_of(const Schema& schema, const Variable& variable);
  [[nodiscard]] Result<Field> field_of(const Written& written, const Slab& slab) const;
  Result<Message> pack(const Written& written, const Slab& slab, Field& field);
  static Result<Message> leave_unpacked(const Written& written, const Slab& slab, const Field& field);
  std::optional<Handle> take_idle(std::uint32_t variable, bool missing) AFTERBAY_EXCLUDES(mutex_);
  void keep_idle(std::uint32_t variable, bool missing, Handle handle) AFTERBAY_EXCLUDES(mutex_);

  std::vector<Written> variables_;  ///< one per variable
  std::optional<Date> reference_;   ///< the forecast's, if the schema has it
  Mutex mutex_;
  std::vector<Idle> idle_ AFTERBAY_GUARDED_BY(mutex_);  ///< the last one was used last
};

}  // namespace afterbay::storage::grib2
