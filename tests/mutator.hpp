// SPDX-License-Identifier: Apache-2.0
// Mutator: damaged copies of a file, the same ones in every run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace afterbay::test {

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    throw std::runtime_error("cannot write " + path.string());
}

/// Mutants of a file or a text. `mutant(i)` depends only on the original, the seed and i.
class Mutator {
 public:
  explicit Mutator(std::string original, std::uint64_t seed = 1)
      : original_(std::move(original)), seed_(seed) {}

  [[nodiscard]] std::string mutant(std::uint64_t number) const {
    std::seed_seq seeds{seed_, number, number >> 32};
    std::mt19937_64 random(seeds);
    std::string bytes = original_;
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) change(bytes, random);
    return bytes;
  }

 private:
  using Random = std::mt19937_64;

  /// Structure is mostly at the beginning of a file: half of the positions are in its first 4 KiB.
  static std::size_t place(const std::string& bytes, Random& random) {
    constexpr std::size_t structure_bytes = 4096;
    const std::size_t all = bytes.size();
    return all == 0 ? 0 : random() % (random() % 2 == 0 ? std::min(all, structure_bytes) : all);
  }

  /// Numbers at which sizes, counts and signs overflow.
  static std::uint64_t hostile_number(Random& random) {
    switch (random() % 8) {
      case 0: return 0;
      case 1: return 1;
      case 2: return ~std::uint64_t{0};
      case 3: return std::uint64_t{1} << random() % 64;
      case 4: return (std::uint64_t{1} << random() % 64) - 1;
      case 5: return std::uint64_t{0} - (random() % 16);
      case 6: return random() % 256;
      default: return random();
    }
  }

  static void put_number(std::string& bytes, Random& random) {
    const std::size_t width = std::size_t{1} << random() % 4;
    const std::size_t at = place(bytes, random);
    const std::uint64_t number = hostile_number(random);
    const bool big_endian = random() % 2 == 0;
    for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i)
      bytes[at + i] = static_cast<char>(number >> (8 * (big_endian ? width - 1 - i : i)));
  }

  /// Another number in decimal digits, for texts.
  static void put_digits(std::string& bytes, Random& random) {
    std::size_t at = place(bytes, random);
    const auto is_digit = [&](std::size_t i) { return bytes[i] >= '0' && bytes[i] <= '9'; };
    while (at < bytes.size() && !is_digit(at)) ++at;
    std::size_t end = at;
    while (end < bytes.size() && is_digit(end)) ++end;
    const std::uint64_t number = hostile_number(random);
    const std::string text =
        random() % 2 == 0 ? std::to_string(static_cast<std::int64_t>(number)) : std::to_string(number);
    if (end > at) bytes.replace(at, end - at, text);
  }

  static void change(std::string& bytes, Random& random) {
    if (bytes.empty()) return;
    const std::size_t at = place(bytes, random);
    const std::size_t length = std::min<std::size_t>(1 + random() % 64, bytes.size() - at);
    switch (random() % 10) {
      case 0:
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8)); break;
      case 2:
      case 3:
      case 4: put_number(bytes, random); break;
      case 5: put_digits(bytes, random); break;
      case 6:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, static_cast<char>(random()));
        break;
      case 7: {
        const std::string copied = bytes.substr(place(bytes, random), length);
        bytes.replace(at, copied.size(), copied);
        break;
      }
      case 8:
        random() % 2 == 0 ? bytes.erase(at, length) : bytes.insert(at, length, static_cast<char>(random()));
        break;
      default: bytes.resize(random() % 8 == 0 ? at : bytes.size()); break;
    }
  }

  std::string original_;
  std::uint64_t seed_;
};

}  // namespace afterbay::test
