// SPDX-License-Identifier: Apache-2.0
#include "describe/inheritance.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace afterbay::describe {

namespace {

constexpr std::size_t longest_name = 200;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string known_names(const std::map<std::string, Pairs>& entries, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [known, pairs] : entries) names.push_back(known);
  return did_you_mean(name, names);
}

}  // namespace

void Budget::take(std::size_t count, const Position& at) {
  used_ += count;
  if (used_ <= most_expanded) return;
  problems_.add(
      ErrorCode::resources, at,
      fmt::format("the description has more than {} variables and keys after groups and inheritance are "
                  "resolved",
                  most_expanded));
  throw TooLarge();
}

void put_over(Pairs& properties, const Pairs& upper, Budget& budget) {
  for (const auto& [key, value] : upper) {
    budget.take(1 + value.pairs().size(), key.at);
    const auto same = [&name = key.name](const auto& pair) { return pair.first.name == name; };
    const auto found = std::ranges::find_if(properties, same);
    if (found == properties.end()) {
      properties.emplace_back(key, value);
    } else if (key.name == "attributes" && value.is_mapping() && found->second.is_mapping()) {
      put_over(found->second.pairs(), value.pairs(), budget);
    } else {
      found->first = key;
      found->second = value;
    }
  }
}

std::string problem_of_name(std::string_view name) {
  if (name.empty()) return "a name cannot be empty";
  if (name.size() > longest_name) return fmt::format("a name has at most {} characters", longest_name);
  const auto good = [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '-' || c == '+' || c == '@';
  };
  if (!is_letter_or_digit(name[0]) || !std::ranges::all_of(name, good))
    return fmt::format(
        "\"{}\" is not a name: expected letters, digits and _ . + - @, of which the first is a "
        "letter, a digit or _",
        printable(name));
  return {};
}

bool check_entry_name(const Key& key, std::string_view what, Problems& problems) {
  std::string problem = problem_of_name(key.name);
  if (problem.empty() && !key.quoted && scalar_kind(key.name) != ScalarKind::text)
    problem = fmt::format("\"{}\" is not text in YAML; put it in quotes", key.name);
  if (problem.empty()) return true;
  problems.add(ErrorCode::invalid_argument, key.at, fmt::format("{}: {}", what, problem));
  return false;
}

const Pairs* Inheritance::next_of(const Pairs& entry, std::string& name) {
  const Node* const like = value_in(entry, "like");
  if (like == nullptr) return nullptr;
  if (!like->is_scalar()) {
    ProblemReporter(problems_, "like").expected(*like, "a name");
    return nullptr;
  }
  name = like->characters();
  const auto found = entries_.find(name);
  if (found != entries_.end()) return &found->second;
  problems_.add(ErrorCode::unknown_name, like->at,
                fmt::format("like: there is no \"{}\" under \"{}:\"{}", printable(name), section_,
                            known_names(entries_, name)));
  return nullptr;
}

std::vector<const Pairs*> Inheritance::chain_of(const std::string& name) {
  std::vector<const Pairs*> chain{&entries_.at(name)};
  std::vector<std::string> names{name};
  std::string next_name;
  while (const Pairs* const next = next_of(*chain.back(), next_name)) {
    const Position& at = value_in(*chain.back(), "like")->at;
    const auto begin = std::ranges::find(names, next_name);
    if (begin != names.end()) {
      std::string cycle;
      for (auto it = begin; it != names.end(); ++it) cycle += *it + " is like ";
      problems_.add(ErrorCode::conflict, at,
                    fmt::format("like: {} are like each other: {}{}; remove one of these keys", section_,
                                cycle, next_name));
      return chain;
    }
    if (chain.size() >= most_levels) {
      problems_.add(ErrorCode::resources, at,
                    fmt::format("like: more than {} levels of inheritance", most_levels));
      return chain;
    }
    names.push_back(next_name);
    chain.push_back(next);
  }
  return chain;
}

std::string other_place_of(std::string_view key) {
  std::vector<std::string> places;
  if (std::ranges::find(top_key_names(), key) != top_key_names().end())
    places.emplace_back("the top of the file");
  if (find_key(file_keys(), key) != nullptr) places.emplace_back("files");
  if (find_key(variable_keys(), key) != nullptr || find_key(field_keys(), key) != nullptr)
    places.emplace_back("fields and their entries in files");
  if (find_key(grid_keys(), key) != nullptr) places.emplace_back("grids");
  return places.empty() ? "" : fmt::format("; it is a key of {}", one_of(places));
}

std::string_view key_of_others(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 39> words{{
      {"output_freq", "every"},
      {"frequency", "every"},
      {"freq", "every"},
      {"period", "every"},
      {"interval", "every"},
      {"nhtfrq", "every"},
      {"freq_op", "sample"},
      {"freq_offset", "sample_offset"},
      {"split_freq", "split"},
      {"duration", "split"},
      {"mfilt", "split"},
      {"filename", "name"},
      {"file_name", "name"},
      {"template", "name"},
      {"output_level", "max_detail"},
      {"level", "detail"},
      {"average", "mean"},
      {"avg", "mean"},
      {"minimum", "min"},
      {"maximum", "max"},
      {"accumulate", "sum"},
      {"std", "stddev"},
      {"compression_level", "deflate"},
      {"compression", "deflate"},
      {"prec", "type"},
      {"precision", "type"},
      {"dtype", "type"},
      {"grid_ref", "grid"},
      {"domain_ref", "grid"},
      {"region", "grid"},
      {"scale_factor", "pack"},
      {"add_offset", "pack"},
      {"standard_name", "attributes"},
      {"long_name", "attributes"},
      {"comment", "attributes"},
      {"lon", "box"},
      {"lat", "box"},
      {"longitude", "box"},
      {"latitude", "box"},
  }};
  const auto found = std::ranges::find(words, word, &std::pair<std::string_view, std::string_view>::first);
  return found == words.end() ? std::string_view() : found->second;
}

const Node* value_in(const Pairs& properties, std::string_view name) {
  for (const auto& [key, value] : properties)
    if (key.name == name) return value.is_null() ? nullptr : &value;
  return nullptr;
}

}  // namespace afterbay::describe
