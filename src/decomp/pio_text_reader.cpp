// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <filesystem>
#include <limits>

#include "decomp/pio_text.hpp"
#include "decomp/text_lines.hpp"

namespace afterbay::decomp {
namespace {

using Next = TextLines::Next;

constexpr std::int64_t known_version = 2001;
constexpr std::int64_t most_ranks = std::numeric_limits<std::int32_t>::max();

class Reader {
 public:
  explicit Reader(TextLines lines) : lines_(std::move(lines)) {}

  Result<Decomposition> read() {
    AFTERBAY_TRY(read_header());
    AFTERBAY_TRY(read_lengths());
    Decomposition map(std::filesystem::path(lines_.path()).stem().string(), global_);
    points_ = static_cast<std::int64_t>(map.points());
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      AFTERBAY_TRY_ASSIGN(RunList list, read_rank(rank));
      map.add_rank(std::move(list));
    }
    AFTERBAY_TRY(read_end());
    AFTERBAY_TRY(lines_.status());
    return map;
  }

 private:
  /// "the end of the file", "the end of the line" or the word that was found instead.
  [[nodiscard]] std::string found(Next next) const {
    if (next == Next::word) return fmt::format("\"{}\"", lines_.word());
    return next == Next::end_of_line ? "the end of the line" : "the end of the file (truncated?)";
  }

  Result<> expect_word(std::string_view word) {
    const Next next = lines_.next();
    if (next == Next::word && lines_.word() == word) return {};
    AFTERBAY_TRY(lines_.status());
    return lines_.malformed(
        "expected \"{}\" and found {}; the first line of PIO's text is "
        "\"version 2001 npes P ndims N\"",
        word, found(next));
  }

  Result<std::int64_t> expect_number(std::string_view what, std::int64_t least, std::int64_t most) {
    const Next next = lines_.next();
    std::int64_t value = 0;
    if (next != Next::word || !lines_.number(value)) {
      AFTERBAY_TRY(lines_.status());
      return lines_.malformed("expected {} and found {}", what, found(next));
    }
    if (value < least || value > most)
      return lines_.malformed("{} is {}, which is not in {} ... {}", what, value, least, most);
    return value;
  }

  Result<> expect_end_of_line(std::string_view behind) {
    const Next next = lines_.next();
    if (next != Next::word) return {};
    return lines_.malformed("expected nothing more after {} and found \"{}\"", behind, lines_.word());
  }

  Result<> read_header() {
    AFTERBAY_TRY(expect_word("version"));
    AFTERBAY_TRY(expect_number("the version", known_version, known_version));
    AFTERBAY_TRY(expect_word("npes"));
    AFTERBAY_TRY_ASSIGN(ranks_, expect_number("npes, the number of ranks,", 1, most_ranks));
    AFTERBAY_TRY(expect_word("ndims"));
    AFTERBAY_TRY_ASSIGN(dimensions_, expect_number("ndims, the number of dimensions,", 1, max_rank));
    return expect_end_of_line("ndims");
  }

  Result<> read_lengths() {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(dimensions_));
    for (std::int64_t& length : lengths) {
      AFTERBAY_TRY_ASSIGN(
          length, expect_number("the length of a dimension", 1, std::numeric_limits<std::int64_t>::max()));
    }
    AFTERBAY_TRY(expect_end_of_line(fmt::format("the lengths of {} dimensions", dimensions_)));
    if (const Result<> checked = check_global(lengths); !checked)
      return fail(
          make_error(ErrorCode::format, "line 2: {}", checked.error().message).in_file(lines_.path()));
    global_.assign(lengths.rbegin(), lengths.rend());
    return {};
  }

  /// Skips empty lines.
  Next next_line() {
    Next next = lines_.next();
    while (next == Next::end_of_line) next = lines_.next();
    return next;
  }

  Result<RunList> read_rank(std::int64_t rank) {
    const Next next = next_line();
    AFTERBAY_TRY(lines_.status());
    std::int64_t named = 0;
    if (next != Next::word || !lines_.number(named))
      return lines_.malformed("expected rank {} of {} and found {}", rank, ranks_, found(next));
    if (named != rank)
      return lines_.malformed("expected rank {} of {} and found rank {}", rank, ranks_, named);
    AFTERBAY_TRY_ASSIGN(const std::int64_t length,
                        expect_number(fmt::format("the number of indices of rank {}", rank), 0,
                                      static_cast<std::int64_t>(most_elements)));
    AFTERBAY_TRY(expect_end_of_line(fmt::format("the number of indices of rank {}", rank)));
    return length > 0 ? read_list(rank, length) : RunList{};
  }

  Result<RunList> read_list(std::int64_t rank, std::int64_t length) {
    RunList list;
    for (std::int64_t k = 0; k < length; ++k) {
      const Next next = lines_.next();
      std::int64_t index = 0;
      if (next != Next::word) {
        AFTERBAY_TRY(lines_.status());
        return lines_.malformed("rank {} announces {} indices, its line has {}{}", rank, length, k,
                                next == Next::end_of_file ? " and ends with the file (truncated?)" : "");
      }
      if (!lines_.number(index))
        return lines_.malformed("index {} of rank {} is not a whole number: \"{}\"", k + 1, rank,
                                lines_.word());
      if (index < 0 || index > points_)
        return lines_.malformed(
            "index {} of rank {} is {}; the index space has the points 1 ... {}, and 0 is a hole", k + 1,
            rank, index, points_);
      if (lines_.word_ends_file()) {
        AFTERBAY_TRY(lines_.status());
        return lines_.malformed(
            "the file ends directly after \"{}\", index {} of rank {}, of which digits may be missing "
            "(truncated?); if it is complete, end the line",
            lines_.word(), k + 1, rank);
      }
      list.add(index == 0 ? hole : index - 1);
    }
    AFTERBAY_TRY(expect_end_of_line(fmt::format("the {} indices of rank {}", length, rank)));
    return list;
  }

  Result<> read_end() {
    const Next next = next_line();
    if (next == Next::end_of_file || lines_.word() == "Obtained") return {};
    return lines_.malformed(
        "expected the end of the file or a stack trace (\"Obtained ...\") after the {} ranks and found {}",
        ranks_, found(next));
  }

  TextLines lines_;
  std::int64_t ranks_ = 0;
  std::int64_t dimensions_ = 0;
  std::int64_t points_ = 0;
  std::vector<std::uint64_t> global_;
};

}  // namespace

Result<Decomposition> read_pio_text(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(TextLines lines, TextLines::open(path));
  return Reader(std::move(lines)).read();
}

}  // namespace afterbay::decomp
