// SPDX-License-Identifier: Apache-2.0
#include "base/caller_terms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace afterbay {
namespace {

thread_local Terms terms_of_caller = Terms::c;

/// Holds the sum of two 64-bit numbers.
__extension__ using Sum = __int128;

/// Numbers of C are unsigned, those of Fortran are signed and may be negative.
Sum as_given(std::uint64_t number) {
  return terms_of_caller == Terms::fortran ? Sum{static_cast<std::int64_t>(number)} : Sum{number};
}

/// The first index, and the last one (Fortran) or the one after it (C). Callers may have given
/// numbers whose sum exceeds 64 bits.
std::string both_ends(std::uint64_t start, std::uint64_t count, const char* between) {
  const Sum first = as_given(start) + (terms_of_caller == Terms::fortran ? 1 : 0);
  return fmt::format("{}{}{}", first, between, as_given(start) + as_given(count));
}

std::string joined(std::vector<std::string> texts, const char* between) {
  if (terms_of_caller == Terms::fortran) texts = {texts.rbegin(), texts.rend()};
  return fmt::format("{}", fmt::join(texts, between));
}

std::vector<std::string> texts_of(std::span<const std::uint64_t> numbers) {
  std::vector<std::string> texts;
  for (const std::uint64_t number : numbers) texts.push_back(std::to_string(number));
  return texts;
}

}  // namespace

void set_terms(Terms terms) noexcept { terms_of_caller = terms; }
Terms terms() noexcept { return terms_of_caller; }

std::int64_t said_index(std::uint64_t from_zero) noexcept {
  return static_cast<std::int64_t>(from_zero) + (terms_of_caller == Terms::fortran ? 1 : 0);
}

std::string said_start(std::uint64_t start) {
  return fmt::format("{}", as_given(start) + (terms_of_caller == Terms::fortran ? 1 : 0));
}

std::size_t said_dimension(std::size_t d, std::size_t rank) noexcept {
  return terms_of_caller == Terms::fortran ? rank - d : d;
}

std::string said_range(std::uint64_t start, std::uint64_t count) {
  if (terms_of_caller == Terms::fortran) return both_ends(start, count, ":");
  return "[" + both_ends(start, count, ", ") + ")";
}

std::string said_box(std::span<const std::uint64_t> start, std::span<const std::uint64_t> count) {
  const bool fortran = terms_of_caller == Terms::fortran;
  std::vector<std::string> ranges;
  for (std::size_t d = 0; d < start.size(); ++d) ranges.push_back(both_ends(start[d], count[d], ":"));
  return (fortran ? "(" : "[") + joined(std::move(ranges), ", ") + (fortran ? ")" : "]");
}

std::string said_lengths(std::span<const std::uint64_t> lengths) { return joined(texts_of(lengths), " x "); }

std::string said_list(std::span<const std::string> names) {
  return "(" + joined({names.begin(), names.end()}, ", ") + ")";
}

std::string said_list(std::span<const std::uint64_t> lengths) {
  return "(" + joined(texts_of(lengths), ", ") + ")";
}

}  // namespace afterbay
