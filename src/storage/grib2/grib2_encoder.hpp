// SPDX-License-Identifier: Apache-2.0
// Grib2Encoder: makes GRIB2 messages with ecCodes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/grib2/definition.hpp"
#include "storage/messages/message_encoder.hpp"

namespace afterbay::storage::grib2 {

/// Everything that is equal in all messages of a variable is in its prototype, a message without
/// values. Each call copies it, so that threads share no object of ecCodes.
class Grib2Encoder : public MessageEncoder {
 public:
  static Result<std::unique_ptr<MessageEncoder>> make(const Schema& schema, const model::FileLayout& layout);

  Result<Message> encode(const Slab& slab) override;
  Result<> stamp(std::span<std::byte> message, std::uint32_t variable, const MessageTime& time) override;

 private:
  struct Prototype {
    std::string name;
    Type type = Type::float32;
    double fill = 0;
    std::vector<std::byte> message;  ///< empty: the variable is no field
    Levels levels;
    bool named_level = false;  ///< by GRIB_typeOfLevel
    bool interval = false;
    Packing packing;
  };

  Result<Prototype> prototype_of(const Schema& schema, const Variable& variable) const;
  [[nodiscard]] Result<std::vector<double>> numbers_of(const Prototype& prototype, const Slab& slab,
                                                       bool& missing) const;

  std::vector<Prototype> prototypes_;  ///< one per variable
  std::optional<Date> reference_;      ///< the forecast's, if the schema has it
};

}  // namespace afterbay::storage::grib2
