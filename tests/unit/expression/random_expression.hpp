// SPDX-License-Identifier: Apache-2.0
// Random expressions as trees, written and evaluated without the library.
#pragma once

#include <cmath>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace afterbay::expression::test {

struct Tree {
  char kind =
      'x';  ///< x: field, n: number, f: function of one argument, m: of several, -, !, ?, else an operator
  std::string name;
  double number = 0;
  std::size_t field = 0;
  std::vector<Tree> parts;
};

class RandomTrees {
 public:
  RandomTrees(unsigned seed, std::size_t fields, bool only_arithmetic)
      : random_(seed), fields_(fields), arithmetic_(only_arithmetic) {}

  Tree tree(int depth) {
    if (depth == 0 || chance(8)) return leaf();
    if (arithmetic_) return chance(3) ? unary({"sqrt", "abs", "sqr"}, depth) : arithmetic(depth);
    switch (below(6)) {
      case 0: return unary({"sqrt", "abs", "exp", "sin", "floor", "round", "log", "sign", "tanh"}, depth);
      case 1: return inner('m', chance(2) ? "min" : "max", 2 + below(2), depth);
      case 2: return inner('?', "?", 3, depth);
      case 3: return operation({"<", "<=", ">", ">=", "==", "!=", "&&", "||"}, depth);
      case 4: return inner('!', "!", 1, depth);
      default: return arithmetic(depth);
    }
  }

  /// Every operation in parentheses.
  static std::string text(const Tree& it) {
    switch (it.kind) {
      case 'x': return "v" + std::to_string(it.field);
      case 'n': return it.name;
      case '-':
      case '!': return "(" + it.name + text(it.parts[0]) + ")";
      case '?': return "(" + text(it.parts[0]) + "?" + text(it.parts[1]) + ":" + text(it.parts[2]) + ")";
      case 'f':
      case 'm': {
        std::string all = it.name + "(";
        for (const Tree& part : it.parts) all += (&part == it.parts.data() ? "" : ", ") + text(part);
        return all + ")";
      }
      default: return "(" + text(it.parts[0]) + " " + it.name + " " + text(it.parts[1]) + ")";
    }
  }

  static double value(const Tree& it, std::span<const double> fields) {
    if (it.kind == 'x') return fields[it.field];
    if (it.kind == 'n') return it.number;
    std::vector<double> of;
    for (const Tree& part : it.parts) of.push_back(value(part, fields));
    switch (it.kind) {
      case '-': return -of[0];
      case '!': return of[0] == 0 ? 1 : 0;
      case '?': return of[0] != 0 ? of[1] : of[2];
      case 'f': return function(it.name, of[0]);
      case 'm': return several(it.name, of);
      default: return binary(it.name, of[0], of[1]);
    }
  }

 private:
  static double function(const std::string& name, double x) {
    if (name == "sqrt") return std::sqrt(x);
    if (name == "abs") return x < 0 ? -x : x == 0 ? 0.0 : x;
    if (name == "sqr") return x * x;
    if (name == "exp") return std::exp(x);
    if (name == "sin") return std::sin(x);
    if (name == "floor") return std::floor(x);
    if (name == "round") return std::round(x);
    if (name == "log") return std::log(x);
    if (name == "sign") return x > 0 ? 1 : x < 0 ? -1 : x;
    return std::tanh(x);
  }

  static double several(const std::string& name, const std::vector<double>& of) {
    double result = of[0];
    for (const double it : of) {
      if (std::isnan(it) || std::isnan(result)) result = std::nan("");
      if (name == "min" ? it < result : it > result) result = it;
    }
    return result;
  }

  static double binary(const std::string& name, double a, double b) {
    if (name == "+") return a + b;
    if (name == "-") return a - b;
    if (name == "*") return a * b;
    if (name == "/") return a / b;
    if (name == "^") return b == 2 ? a * a : b == 3 ? a * a * a : b == 4 ? (a * a) * (a * a) : std::pow(a, b);
    if (name == "<") return a < b ? 1 : 0;
    if (name == "<=") return a <= b ? 1 : 0;
    if (name == ">") return a > b ? 1 : 0;
    if (name == ">=") return a >= b ? 1 : 0;
    if (name == "==") return a == b ? 1 : 0;
    if (name == "!=") return a != b ? 1 : 0;
    if (name == "&&") return a != 0 && b != 0 ? 1 : 0;
    return a != 0 || b != 0 ? 1 : 0;
  }

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  bool chance(int one_in) { return below(one_in) == 0; }

  Tree leaf() {
    if (chance(3)) {
      constexpr std::string_view written[] = {"0", "1", "2", "0.1", "3", "1e-3", "273.15", "1e15"};
      const std::string name(written[below(8)]);
      return {'n', name, std::stod(name), 0, {}};
    }
    return {'x', {}, 0, static_cast<std::size_t>(below(static_cast<int>(fields_))), {}};
  }

  Tree inner(char kind, std::string_view name, int parts, int depth) {
    Tree it{kind, std::string(name), 0, 0, {}};
    for (int i = 0; i < parts; ++i) it.parts.push_back(tree(depth - 1));
    return it;
  }
  Tree unary(const std::vector<std::string_view>& names, int depth) {
    return inner('f', names[static_cast<std::size_t>(below(static_cast<int>(names.size())))], 1, depth);
  }
  Tree operation(const std::vector<std::string_view>& names, int depth) {
    return inner('+', names[static_cast<std::size_t>(below(static_cast<int>(names.size())))], 2, depth);
  }
  Tree arithmetic(int depth) {
    if (chance(6)) return inner('-', "-", 1, depth);
    if (!chance(5)) return operation({"+", "-", "*", "/"}, depth);
    const int exponent = 2 + below(3);
    Tree it = inner('+', "^", 1, depth);
    it.parts.push_back({'n', std::to_string(exponent), static_cast<double>(exponent), 0, {}});
    return it;
  }

  std::mt19937 random_;
  std::size_t fields_;
  bool arithmetic_;
};

}  // namespace afterbay::expression::test
