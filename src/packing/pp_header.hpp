// SPDX-License-Identifier: Apache-2.0
// The header of a PP field: 45 integers and 19 reals, of 32 bits in PP files and of 64 bits in the
// lookup of fields files. Source: Unified Model Documentation Paper F3, section 4; words are
// numbered from 1, as there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace afterbay::packing {

/// Integer words; the value is the word's number. Words without a name here are 0 in our files.
enum class PpInteger : std::uint8_t {
  lbyr = 1,      ///< first time, year: of validity, or the beginning of an interval
  lbmon = 2,     ///< month
  lbdat = 3,     ///< day of the month
  lbhr = 4,      ///< hour
  lbmin = 5,     ///< minute
  lbday = 6,     ///< day of the year in release 2 (LBDAY), second in release 3 (LBSEC)
  lbyrd = 7,     ///< second time, year: of the forecast's data, or the end of an interval
  lbmond = 8,    ///< month
  lbdatd = 9,    ///< day of the month
  lbhrd = 10,    ///< hour
  lbmind = 11,   ///< minute
  lbdayd = 12,   ///< as lbday
  lbtim = 13,    ///< 100 * hours between samples + 10 * kind of time + calendar
  lbft = 14,     ///< forecast period in hours
  lblrec = 15,   ///< words of the data record, with extra data
  lbcode = 16,   ///< grid: 1 latitude and longitude, 101 the same with a rotated pole
  lbhem = 17,    ///< 0 the globe, 3 a part, 4 a part around the globe
  lbrow = 18,    ///< rows
  lbnpt = 19,    ///< points per row
  lbext = 20,    ///< words of extra data
  lbpack = 21,   ///< packing, see PpPacking
  lbrel = 22,    ///< release of the header: 2 or 3
  lbfc = 23,     ///< field code
  lbproc = 25,   ///< processing: 64 zonal mean, 128 time mean, 4096 minimum, 8192 maximum
  lbvc = 26,     ///< kind of the vertical coordinate
  lbegin = 29,   ///< in fields files: where the values begin, in words from the file's beginning
  lbnrec = 30,   ///< in fields files: words that the values take, to the end of their last sector
  lblev = 33,    ///< number of the level
  lbrsvd4 = 37,  ///< member of an ensemble
  lbsrce = 38,   ///< model: version * 10000 + 1111 for the Unified Model
  lbuser1 = 39,  ///< type of the values: 1 real, 2 integer, 3 logical
  lbuser4 = 42,  ///< STASH code: section * 1000 + item
  lbuser5 = 43,  ///< pseudo-level
  lbuser7 = 45,  ///< internal model of the STASH code: 1 atmosphere, 2 ocean
};

/// Real words.
enum class PpReal : std::uint8_t {
  brsvd1 = 46,  ///< upper bound of BLEV
  brsvd2 = 47,  ///< upper bound of BHLEV
  bdatum = 50,  ///< a constant subtracted from all values; 0
  bacc = 51,    ///< exponent of the accuracy of packed values, -99 if not packed
  blev = 52,    ///< level; height or sigma of hybrid levels
  brlev = 53,   ///< lower bound of BLEV
  bhlev = 54,   ///< second coefficient of hybrid levels
  bhrlev = 55,  ///< lower bound of BHLEV
  bplat = 56,   ///< latitude of the pole, degrees
  bplon = 57,   ///< longitude of the pole, degrees
  bgor = 58,    ///< orientation of the grid
  bzy = 59,     ///< the latitude before the first one, degrees
  bdy = 60,     ///< step of latitudes, degrees; 0: irregular, latitudes are extra data
  bzx = 61,     ///< the longitude before the first one, degrees
  bdx = 62,     ///< step of longitudes, degrees; 0: irregular, longitudes are extra data
  bmdi = 63,    ///< the missing value
  bmks = 64,    ///< factor to SI units; 1
};

inline constexpr std::size_t pp_integers = 45;
inline constexpr std::size_t pp_reals = 19;
inline constexpr std::size_t pp_header_bytes = (pp_integers + pp_reals) * 4;
/// Size of an entry of the lookup in a fields file.
inline constexpr std::size_t lookup_bytes = (pp_integers + pp_reals) * 8;

/// Plain data; zero at first.
class PpHeader {
 public:
  [[nodiscard]] std::int32_t operator[](PpInteger word) const noexcept { return integers_[index(word)]; }
  [[nodiscard]] std::int32_t& operator[](PpInteger word) noexcept { return integers_[index(word)]; }
  [[nodiscard]] double operator[](PpReal word) const noexcept { return reals_[index(word)]; }
  [[nodiscard]] double& operator[](PpReal word) noexcept { return reals_[index(word)]; }

  /// Big-endian words of a PP file; reals are rounded to 32 bits.
  void write(std::span<std::byte, pp_header_bytes> to) const noexcept;
  static PpHeader read(std::span<const std::byte, pp_header_bytes> from) noexcept;
  /// Big-endian words of a fields file. Integers that exceed 32 bits are read as the nearest number
  /// of 32 bits: only LBEGIN of large files does.
  void write_lookup(std::span<std::byte, lookup_bytes> to) const noexcept;
  static PpHeader read_lookup(std::span<const std::byte, lookup_bytes> from) noexcept;

  friend bool operator==(const PpHeader&, const PpHeader&) = default;

 private:
  static std::size_t index(PpInteger word) noexcept { return static_cast<std::size_t>(word) - 1; }
  static std::size_t index(PpReal word) noexcept { return static_cast<std::size_t>(word) - pp_integers - 1; }

  std::array<std::int32_t, pp_integers> integers_{};
  std::array<double, pp_reals> reals_{};
};

}  // namespace afterbay::packing
