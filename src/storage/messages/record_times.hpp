// SPDX-License-Identifier: Apache-2.0
// RecordTimes: the times of the records of a file of messages, which ranks put as variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "storage/messages/cf.hpp"
#include "storage/messages/message_encoder.hpp"

namespace afterbay::storage {

/// One thread at a time.
class RecordTimes {
 public:
  /// `schema` must outlive it. Fails if the time variable, or a scalar time of a file without
  /// records, has no valid units or calendar.
  static Result<RecordTimes> make(const Schema& schema);

  /// Whether the variable gives times: then its values are given to `add`.
  [[nodiscard]] bool takes(std::uint32_t variable) const noexcept;
  /// Values of one record, in the byte order of the machine. Fails if they are not times.
  Result<> add(std::uint32_t variable, std::uint64_t record, std::span<const std::byte> values);

  /// The time of a record; nullopt as long as it is not complete.
  [[nodiscard]] std::optional<MessageTime> of(std::uint64_t record) const;
  /// The time of fields without records: of the first record that has one, or the scalar time.
  [[nodiscard]] std::optional<MessageTime> of_fixed() const;
  /// The variables that give times, for messages: "'time' and 'time_bnds'".
  [[nodiscard]] std::string names() const;

 private:
  struct Record {
    MessageTime time;
    bool dated = false;
  };
  const Schema* schema_ = nullptr;
  std::optional<cf::TimeAxis> axis_;
  std::optional<std::uint32_t> time_;
  std::optional<std::uint32_t> bounds_;
  std::optional<std::uint32_t> reference_;
  std::optional<cf::TimeAxis> reference_axis_;
  std::optional<MessageTime> scalar_;
  std::map<std::uint64_t, Record> records_;
};

}  // namespace afterbay::storage
