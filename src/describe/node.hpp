// SPDX-License-Identifier: Apache-2.0
// Node: a value of a YAML document with its position, resolved by the core schema of YAML 1.2.
//
// yaml-cpp resolves scalars by YAML 1.1, in which `no` is a boolean; here only true, True, TRUE,
// false, False and FALSE are booleans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace afterbay::describe {

/// The name of a text that the program gives instead of a file.
inline constexpr std::string_view program_text = "text of the program";

/// Where something is written. Lines and columns count from 1; line 0: the whole file, or an
/// argument.
struct Position {
  std::string file;
  int line = 0;
  int column = 0;

  /// "history.yaml:3:12", "text of the program, line 3, column 12".
  [[nodiscard]] std::string text() const;
};

/// What a plain scalar means in the core schema.
enum class ScalarKind : std::uint8_t { null, boolean, integer, real, text };

/// null, true or false, decimal, octal (0o17) or hexadecimal (0x1f) integers, floating-point
/// numbers, .inf, .nan; all others are text.
ScalarKind scalar_kind(std::string_view plain);

class Node;
/// A key of a mapping, with its position.
struct Key {
  std::string name;
  Position at;
  bool quoted = false;
};
using Pairs = std::vector<std::pair<Key, Node>>;
using Items = std::vector<Node>;

class Node {
 public:
  Position at;

  Node() = default;
  /// A scalar as it is written. Quoted scalars are text whatever they look like.
  static Node scalar(std::string text, bool quoted, Position at = {});
  /// Text: quoted in output if necessary.
  static Node text(std::string text);
  static Node boolean(bool value);
  static Node integer(std::int64_t value);
  static Node real(double value);
  static Node sequence(Items items, Position at = {});
  static Node mapping(Pairs pairs, Position at = {});

  [[nodiscard]] bool is_scalar() const noexcept { return value_.index() == 0; }
  [[nodiscard]] bool is_sequence() const noexcept { return value_.index() == 1; }
  [[nodiscard]] bool is_mapping() const noexcept { return value_.index() == 2; }
  /// The meaning of a scalar; text for sequences and mappings.
  [[nodiscard]] ScalarKind kind() const;
  [[nodiscard]] bool is_null() const { return is_scalar() && kind() == ScalarKind::null; }
  /// The characters of a scalar.
  [[nodiscard]] const std::string& characters() const;
  [[nodiscard]] bool quoted() const noexcept { return quoted_; }
  void set_characters(std::string text);

  /// Empty for other kinds.
  [[nodiscard]] const Items& items() const noexcept;
  [[nodiscard]] const Pairs& pairs() const noexcept;
  [[nodiscard]] Items& items() noexcept;
  [[nodiscard]] Pairs& pairs() noexcept;
  /// The value of a key; null if there is none.
  [[nodiscard]] const Node* find(std::string_view name) const noexcept;
  [[nodiscard]] Node* find(std::string_view name) noexcept;
  /// Appends to a mapping.
  void add(std::string name, Node value);

  /// For messages: `the text "abc"`, "a list", "nothing", `the boolean true`.
  [[nodiscard]] std::string described() const;

 private:
  std::variant<std::string, Items, Pairs> value_;
  bool quoted_ = false;
};

/// The value of a scalar of kind integer; false if it exceeds 64 bits.
bool integer_of(std::string_view text, std::int64_t& value);
/// The value of a scalar of kind integer or real.
double real_of(std::string_view text);

}  // namespace afterbay::describe
