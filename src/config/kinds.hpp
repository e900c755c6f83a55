// SPDX-License-Identifier: Apache-2.0
// Kinds of values that settings take: how they are read, checked, written and described.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/suggest.hpp"

namespace afterbay::config {

template <class T>
struct Kind {
  std::string type;      ///< "size", "choice", ...
  std::string accepted;  ///< "a size from 64KiB to 1GiB, a multiple of 4KiB"
  bool list = false;     ///< several values, separated by commas, or a YAML sequence
  std::function<Result<T>(std::string_view)> parse;
  std::function<std::string(const T&)> print;
  std::vector<std::string> choices = {};  ///< all accepted words of the type "choice"
};

/// Errors read "expected ..., found ...": the part after "NAME: ".
tl::unexpected<Error> refuse(ErrorCode code, std::string_view accepted, std::string_view found,
                             std::string_view hint = {});

struct ByteRange {
  std::uint64_t low;
  std::uint64_t high;
  std::uint64_t multiple = 1;
};
Kind<std::uint64_t> size_in(ByteRange range);

Kind<std::chrono::milliseconds> duration_in(std::chrono::milliseconds low, std::chrono::milliseconds high,
                                            bool zero_too = false);
Kind<int> integer_in(int low, int high);
Kind<double> number_in(double low, double high);
Kind<std::vector<int>> integers_from_zero();
/// Chunk lengths: one or more positive integers.
Kind<std::vector<std::uint64_t>> lengths();
/// on or off; also true and false, which YAML writers print.
Kind<bool> toggle();
/// One or more words, separated by commas.
Kind<std::vector<std::string>> words(std::string accepted);
/// Any non-empty text.
Kind<std::string> text(std::string type, std::string accepted);

template <class T>
using Choices = std::vector<std::pair<std::string, T>>;

/// Like `kind`, but also accepts `words` ("auto"), each of which stands for a value.
template <class T>
Kind<T> or_words(Kind<T> kind, Choices<T> words) {
  Kind<T> wider = kind;
  wider.accepted.clear();
  wider.choices.clear();
  for (const auto& [word, value] : words)
    wider.accepted += word + (word == words.back().first ? " or " : ", ");
  wider.accepted += kind.accepted;
  wider.parse = [kind, words, accepted = wider.accepted](std::string_view found) -> Result<T> {
    std::vector<std::string> names;
    for (const auto& [word, value] : words) {
      if (word == found) return value;
      names.push_back(word);
    }
    auto value = kind.parse(found);
    if (!value) return refuse(value.error().code, accepted, found, did_you_mean(found, names));
    return value;
  };
  wider.print = [kind, words](const T& value) {
    for (const auto& [word, candidate] : words) {
      if (candidate == value) return word;
    }
    return kind.print(value);
  };
  return wider;
}

/// `text`; true becomes on and false becomes off if these are accepted.
std::string_view canonical_choice(std::string_view text, const std::vector<std::string>& names);

template <class T>
Kind<T> choice(Choices<T> choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  Kind<T> kind{.type = "choice", .accepted = one_of(names), .parse = {}, .print = {}, .choices = names};
  kind.parse = [choices, names, accepted = kind.accepted](std::string_view found) -> Result<T> {
    const std::string_view wanted = canonical_choice(found, names);
    for (const auto& [name, value] : choices) {
      if (name == wanted) return value;
    }
    return refuse(ErrorCode::invalid_argument, accepted, found, did_you_mean(found, names));
  };
  kind.print = [choices](const T& value) {
    for (const auto& [name, candidate] : choices) {
      if (candidate == value) return name;
    }
    return std::string("?");
  };
  return kind;
}

}  // namespace afterbay::config
