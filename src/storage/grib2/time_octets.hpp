// SPDX-License-Identifier: Apache-2.0
// The time in a GRIB2 message, entered without parsing the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {

struct TimeOctets {
  Date reference;
  Date end;                 ///< end of the interval
  long unit = 0;            ///< code table 4.4
  std::int64_t step = 0;    ///< from the reference, in this unit
  std::int64_t length = 0;  ///< length of the interval, in this unit
  bool interval = false;
};

/// Enters the reference time and the step and, if there is an interval, its end and length. Returns
/// false and changes nothing if the message has other product definition templates than 4.0, 4.1,
/// 4.8 and 4.11, or if numbers have no such octets. Source: WMO Manual on Codes, sections 1 and 4.
bool enter_time(std::span<std::byte> message, const TimeOctets& time);

}  // namespace afterbay::storage::grib2
