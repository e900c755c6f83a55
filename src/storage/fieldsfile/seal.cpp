// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "model/format_traits.hpp"
#include "storage/fieldsfile/definition.hpp"

namespace afterbay::storage::fieldsfile {
namespace {

using packing::FileWord;
using packing::FixedHeader;
using packing::lookup_bytes;
using packing::PpHeader;
using packing::PpInteger;
using packing::sector_bytes;
using packing::wide_word_bytes;

/// Entries that are in memory at the same time.
constexpr std::uint64_t entries_at_once = 2048;

std::size_t word_offset(PpInteger word) { return (static_cast<std::size_t>(word) - 1) * wide_word_bytes; }

/// A time of validity: year, month, day, hour, minute, second, day of the year.
using Moment = std::array<std::int64_t, 7>;

Moment moment_at(const PpHeader& header, PpInteger first) {
  const auto word = [&](int offset) -> std::int64_t {
    return header[static_cast<PpInteger>(static_cast<int>(first) + offset)];
  };
  const bool has_seconds = header[PpInteger::lbrel] == 3;
  Moment moment{word(0), word(1), word(2), word(3), word(4), 0, packing::um_missing_integer};
  moment[has_seconds ? 5 : 6] = word(5);
  return moment;
}

class Sealing {
 public:
  Sealing(FileBytes& file, std::uint64_t end_bytes) : file_(file), end_bytes_(end_bytes) {}

  Result<std::uint64_t> run() {
    AFTERBAY_TRY(read_front());
    AFTERBAY_TRY_ASSIGN(const std::uint64_t entries, count());
    std::uint64_t lookup = static_cast<std::uint64_t>(header_[FileWord::lookup] - 1) * wide_word_bytes;
    std::uint64_t size_bytes = end_bytes_;
    if (entries > packing::entries_of(header_)) {
      lookup = end_bytes_;
      size_bytes += entries * lookup_bytes;
    }
    AFTERBAY_TRY(write_lookup(lookup, entries));
    if (lookup < front_bytes_) AFTERBAY_TRY(clear(lookup + entries * lookup_bytes, front_bytes_));
    header_[FileWord::version] = packing::file_version;
    header_[FileWord::lookup] = static_cast<std::int64_t>(lookup / wide_word_bytes) + 1;
    header_[FileWord::entries] = static_cast<std::int64_t>(entries);
    header_[FileWord::data_words] = static_cast<std::int64_t>((end_bytes_ - front_bytes_) / wide_word_bytes);
    if (entries != 0) {
      enter(FileWord::first_time, first_);
      enter(FileWord::last_time, last_);
    }
    std::array<std::byte, packing::fixed_header_bytes> bytes{};
    header_.write(bytes);
    AFTERBAY_TRY(file_.write(0, bytes));
    return size_bytes;
  }

 private:
  /// The fixed-length header as it was when the file began: with the room for the lookup.
  Result<> read_front() {
    std::array<std::byte, packing::fixed_header_bytes> bytes{};
    AFTERBAY_TRY(file_.read(0, bytes));
    header_ = FixedHeader::read(bytes);
    const std::int64_t data = header_[FileWord::data];
    const std::int64_t lookup = header_[FileWord::lookup];
    const auto end_words = static_cast<std::int64_t>(end_bytes_ / wide_word_bytes);
    const bool sound =
        end_bytes_ % sector_bytes == 0 && data >= 1 && data - 1 <= end_words &&
        (data - 1) % static_cast<std::int64_t>(packing::sector_words) == 0 && lookup >= 1 && lookup <= data &&
        header_[FileWord::entries] >= 0 &&
        header_[FileWord::entries] <= (data - lookup) / static_cast<std::int64_t>(packing::lookup_words);
    if (!sound)
      return fail(
          ErrorCode::format,
          "the fixed-length header has values from word {} on and room for {} entries of the lookup from "
          "word {} on, and values end at byte {}: this is not an unfinished fields file, or it is damaged",
          data, header_[FileWord::entries], lookup, end_bytes_);
    front_bytes_ = static_cast<std::uint64_t>(data - 1) * wide_word_bytes;
    return {};
  }

  /// Size of the message that ends at byte `end`.
  Result<std::uint64_t> size_at(std::uint64_t end, std::span<const std::byte> word) const {
    const std::uint64_t words = packing::load_wide_word(word.data());
    const std::uint64_t most_words = (end - front_bytes_) / wide_word_bytes;
    if (words != 0 && words % packing::sector_words == 0 && words <= most_words)
      return words * wide_word_bytes;
    return fail(ErrorCode::format,
                "byte {}: a field of a fields file ends here, but its size is {} words: it is damaged", end,
                words);
  }

  Result<std::uint64_t> count() {
    std::uint64_t entries = 0;
    std::array<std::byte, wide_word_bytes> word{};
    for (std::uint64_t end = end_bytes_; end > front_bytes_; ++entries) {
      AFTERBAY_TRY(file_.read(end - lookup_bytes + word_offset(PpInteger::lbegin), word));
      AFTERBAY_TRY_ASSIGN(const std::uint64_t size, size_at(end, word));
      end -= size;
    }
    return entries;
  }

  /// The last message first; entries are written in blocks.
  Result<> write_lookup(std::uint64_t lookup, std::uint64_t entries) {
    std::vector<std::byte> block;
    std::uint64_t end = end_bytes_;
    for (std::uint64_t left = entries; left > 0;) {
      const std::uint64_t now = std::min(left, entries_at_once);
      block.resize(now * lookup_bytes);
      for (std::uint64_t i = now; i-- > 0;) {
        const std::span<std::byte, lookup_bytes> entry(block.data() + i * lookup_bytes, lookup_bytes);
        AFTERBAY_TRY(file_.read(end - lookup_bytes, entry));
        const std::span<std::byte> address =
            std::span(entry).subspan(word_offset(PpInteger::lbegin), wide_word_bytes);
        AFTERBAY_TRY_ASSIGN(const std::uint64_t size, size_at(end, address));
        end -= size;
        take_time(PpHeader::read_lookup(entry));
        packing::store_wide_word(address.data(), end / wide_word_bytes);
      }
      left -= now;
      AFTERBAY_TRY(file_.write(lookup + left * lookup_bytes, block));
    }
    return {};
  }

  /// Entries that an interrupted call wrote become zeros; room that was never used stays a hole.
  Result<> clear(std::uint64_t begin, std::uint64_t end) {
    constexpr std::uint64_t block_bytes = entries_at_once * lookup_bytes;
    std::vector<std::byte> block;
    for (; begin < end; begin += block.size()) {
      block.resize(std::min(block_bytes, end - begin));
      AFTERBAY_TRY(file_.read(begin, block));
      if (std::ranges::all_of(block, [](std::byte it) { return it == std::byte{}; })) continue;
      std::ranges::fill(block, std::byte{});
      AFTERBAY_TRY(file_.write(begin, block));
    }
    return {};
  }

  /// Both times of an interval count.
  void take_time(const PpHeader& header) {
    const int kind = header[PpInteger::lbtim] / 10 % 10;
    const bool interval = kind == 2 || kind == 3;
    const Moment begin = moment_at(header, PpInteger::lbyr);
    const Moment end = interval ? moment_at(header, PpInteger::lbyrd) : begin;
    first_ = any_ ? std::min(first_, begin) : begin;
    last_ = any_ ? std::max(last_, end) : end;
    any_ = true;
  }

  void enter(FileWord first, const Moment& moment) {
    for (std::size_t i = 0; i < moment.size(); ++i)
      header_.set(static_cast<std::size_t>(first) + i, moment[i]);
  }

  FileBytes& file_;
  std::uint64_t end_bytes_;
  std::uint64_t front_bytes_ = 0;
  FixedHeader header_;
  bool any_ = false;
  Moment first_{};
  Moment last_{};
};

}  // namespace

Result<std::uint64_t> seal(FileBytes& file, std::uint64_t end_bytes) {
  return Sealing(file, end_bytes).run();
}

}  // namespace afterbay::storage::fieldsfile
