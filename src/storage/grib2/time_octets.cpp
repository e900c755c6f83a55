// SPDX-License-Identifier: Apache-2.0
#include "storage/grib2/time_octets.hpp"

#include <limits>

#include "storage/grib2/sections.hpp"

namespace afterbay::storage::grib2 {
namespace {

constexpr std::size_t identification_octets = 21;  ///< at least; with the time
/// Code table 4.0; of members of ensembles, whose templates have three more octets.
constexpr std::uint64_t instant_template = 0, member_template = 1, interval_template = 8,
                        member_interval_template = 11;
constexpr std::size_t member_octets = 3;

/// A section; octets are counted from 1, as the manual does.
class Section {
 public:
  explicit Section(std::span<std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::uint64_t number(std::size_t first, std::size_t last) const {
    std::uint64_t value = 0;
    for (std::size_t octet = first; octet <= last; ++octet)
      value = value << 8 | std::to_integer<std::uint64_t>(bytes_[octet - 1]);
    return value;
  }
  void set(std::size_t first, std::size_t last, std::int64_t value) {
    for (std::size_t octet = last; octet >= first; --octet, value >>= 8)
      bytes_[octet - 1] = static_cast<std::byte>(value & 0xff);
  }
  void set_date(std::size_t first, const Date& date) {
    set(first, first + 1, date.year);
    set(first + 2, first + 2, date.month);
    set(first + 3, first + 3, date.day);
    set(first + 4, first + 4, date.hour);
    set(first + 5, first + 5, date.minute);
    set(first + 6, first + 6, date.second);
  }

 private:
  std::span<std::byte> bytes_;
};

bool fits(std::int64_t number) { return number >= 0 && number <= std::numeric_limits<std::int32_t>::max(); }

}  // namespace

bool enter_time(std::span<std::byte> message, const TimeOctets& time) {
  Section identification(section_of(message, 1));
  Section product(section_of(message, 4));
  if (identification.size() < identification_octets || product.size() < 34) return false;
  const std::uint64_t product_template = product.number(8, 9);
  const bool of_member = product_template == member_template || product_template == member_interval_template;
  const bool has_interval =
      product_template == interval_template || product_template == member_interval_template;
  if (!has_interval && ((product_template != instant_template && !of_member) || time.interval)) return false;
  const std::size_t more = of_member ? member_octets : 0;
  if (has_interval && (product.size() < 58 + more || product.number(42 + more, 42 + more) != 1)) return false;
  if (!fits(time.step) || !fits(time.length)) return false;
  identification.set_date(13, time.reference);
  product.set(18, 18, time.unit);
  product.set(19, 22, time.step);
  if (!time.interval) return true;
  product.set_date(35 + more, time.end);
  product.set(49 + more, 49 + more, time.unit);
  product.set(50 + more, 53 + more, time.length);
  return true;
}

}  // namespace afterbay::storage::grib2
