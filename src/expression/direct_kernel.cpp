// SPDX-License-Identifier: Apache-2.0
// Arithmetic as loops over strips of points, which compilers vectorise. Each value of the stack of
// the postfix order is an operand's strip, a constant's, or a register. Results of ^ and of sqr are
// those of functions.cpp.
#include <cmath>
#include <utility>
#include <vector>

#include "base/strict_floating_point.hpp"
#include "expression/functions.hpp"
#include "expression/kernel.hpp"

namespace afterbay::expression {

namespace {

constexpr std::size_t points_per_strip = statistics::strip_points;

using Loop = void (*)(const double* left, const double* right, double* to, std::size_t count);

/// `to` is another register than the arguments.
template <class Operation>
void loop(const double* left, const double* right, double* __restrict to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = Operation()(left[i], right[i]);
}

struct Negated {
  double operator()(double x, double) const { return -x; }
};
struct Root {
  double operator()(double x, double) const { return std::sqrt(x); }
};
struct Magnitude {
  double operator()(double x, double) const { return std::fabs(x); }
};
struct Squared {
  double operator()(double x, double) const { return x * x; }
};
struct Cubed {
  double operator()(double x, double) const { return x * x * x; }
};
struct ToTheFourth {
  double operator()(double x, double) const { return (x * x) * (x * x); }
};

Loop loop_of_call(std::string_view name) {
  if (name == "sqrt") return loop<Root>;
  if (name == "abs") return loop<Magnitude>;
  if (name == "sqr") return loop<Squared>;
  return nullptr;
}

Loop loop_of_power(double exponent) {
  if (exponent == 2) return loop<Squared>;
  if (exponent == 3) return loop<Cubed>;
  if (exponent == 4) return loop<ToTheFourth>;
  return nullptr;
}

Loop loop_of(const Node& node) {
  switch (node.symbol) {
    case Symbol::add: return loop<std::plus<double>>;
    case Symbol::subtract: return loop<std::minus<double>>;
    case Symbol::multiply: return loop<std::multiplies<double>>;
    case Symbol::divide: return loop<std::divides<double>>;
    case Symbol::negate: return loop<Negated>;
    case Symbol::call: return loop_of_call(functions()[node.index].name);
    default: return nullptr;
  }
}

/// Where values are. `slot` counts strips of that kind.
struct Source {
  enum class Kind : std::uint8_t { operand, constant, strip };
  Kind kind = Kind::operand;
  std::size_t slot = 0;
};

struct Instruction {
  Loop loop = nullptr;
  Source left;
  Source right;  ///< equals `left` if there is one argument
  std::size_t to = 0;
};

class DirectKernel : public Kernel {
 public:
  /// False if there is no loop for a node.
  bool add(std::span<const Node> nodes) {
    for (const Node& node : nodes)
      if (!add(node)) return false;
    constants_.reserve(numbers_.size() * points_per_strip);
    for (const double number : numbers_) constants_.insert(constants_.end(), points_per_strip, number);
    registers_.resize(registers_used_ * points_per_strip);
    return true;
  }

  const double* run(std::span<const double* const> operands, std::size_t begin, std::size_t count) override {
    const auto strip = [&](const Source& source) -> const double* {
      if (source.kind == Source::Kind::operand) return operands[source.slot] + begin;
      const auto& strips = source.kind == Source::Kind::constant ? constants_ : registers_;
      return strips.data() + source.slot * points_per_strip;
    };
    for (const Instruction& it : instructions_)
      it.loop(strip(it.left), strip(it.right), registers_.data() + it.to * points_per_strip, count);
    return strip(stack_.back());
  }

  /// All operations here do.
  [[nodiscard]] bool keeps_missing() const noexcept override { return true; }

 private:
  bool add(const Node& node) {
    if (node.symbol == Symbol::operand) {
      stack_.push_back({Source::Kind::operand, node.index});
      return true;
    }
    if (node.symbol == Symbol::number) {
      stack_.push_back({Source::Kind::constant, numbers_.size()});
      numbers_.push_back(node.number);
      return true;
    }
    if (node.symbol == Symbol::power) return add_power();
    const Loop found = loop_of(node);
    if (found == nullptr) return false;
    const Source right = pop();
    const Source left = arguments_of(node) == 1 ? right : pop();
    push(found, left, right);
    return true;
  }

  bool add_power() {
    const Source exponent = pop();
    if (exponent.kind != Source::Kind::constant) return false;
    const Loop found = loop_of_power(numbers_[exponent.slot]);
    if (found == nullptr) return false;
    const Source base = pop();
    push(found, base, base);
    return true;
  }

  Source pop() {
    const Source source = stack_.back();
    stack_.pop_back();
    return source;
  }

  /// The arguments' registers are free again after the instruction, not for it.
  void push(Loop found, const Source& left, const Source& right) {
    std::size_t to = registers_used_;
    if (free_.empty()) {
      ++registers_used_;
    } else {
      to = free_.back();
      free_.pop_back();
    }
    instructions_.push_back({found, left, right, to});
    if (left.kind == Source::Kind::strip) free_.push_back(left.slot);
    if (right.kind == Source::Kind::strip && right.slot != left.slot) free_.push_back(right.slot);
    stack_.push_back({Source::Kind::strip, to});
  }

  std::vector<Instruction> instructions_;
  std::vector<Source> stack_;  ///< at the end: the result
  std::vector<std::size_t> free_;
  std::size_t registers_used_ = 0;
  std::vector<double> numbers_;
  std::vector<double> constants_;  ///< each number as a strip
  std::vector<double> registers_;
};

}  // namespace

std::unique_ptr<Kernel> direct_kernel(std::span<const Node> nodes) {
  auto kernel = std::make_unique<DirectKernel>();
  if (!kernel->add(nodes)) return nullptr;
  return kernel;
}

}  // namespace afterbay::expression
