// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compare_values.hpp"

namespace afterbay::app {
namespace {

constexpr std::uint64_t slab_bytes = std::uint64_t{8} << 20;
constexpr std::uint64_t cache_bytes = std::uint64_t{64} << 20;

/// "float32 (time, lat, lon)", with lengths.
std::string text_of_shape(const Contents& contents, const InputVariable& variable) {
  std::vector<std::string> dimensions;
  for (const std::size_t d : variable.dimensions)
    dimensions.push_back(fmt::format("{}={}", contents.dimensions[d].name, contents.dimensions[d].length));
  return fmt::format("({})", fmt::join(dimensions, ", "));
}

std::string text_of_dimension(const InputDimension& dimension) {
  return fmt::format("{}{}", dimension.length, dimension.unlimited ? ", unlimited" : ", fixed");
}

std::string count(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

class Comparer {
 public:
  Comparer(const NetcdfReader& a, const NetcdfReader& b, const CompareLimits& limits)
      : a_(a), b_(b), limits_(limits) {}

  Result<Comparison> run() {
    compare_dimensions();
    compare_attributes("global attribute", a_.contents().attributes, b_.contents().attributes);
    for (const auto& [in_a, in_b] : matched("variable", a_.contents().variables, b_.contents().variables)) {
      ++result_.variables;
      AFTERBAY_TRY(compare_variable(*in_a, *in_b));
    }
    return std::move(result_);
  }

 private:
  template <class... Args>
  void differ(fmt::format_string<Args...> format, Args&&... args) {
    ++result_.differences;
    if (result_.first.size() < limits_.lines)
      result_.first.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  /// The pairs of equal names, in the order of `a`. Reports names that only one list has, and
  /// differences in order.
  template <class Item>
  std::vector<std::pair<const Item*, const Item*>> matched(const std::string& what,
                                                           const std::vector<Item>& a,
                                                           const std::vector<Item>& b) {
    const auto find = [](const std::vector<Item>& list, const std::string& name) {
      return std::find_if(list.begin(), list.end(), [&](const Item& item) { return item.name == name; });
    };
    std::vector<std::pair<const Item*, const Item*>> pairs;
    std::optional<typename std::vector<Item>::const_iterator> last;
    bool ordered = true;
    for (const Item& item : a) {
      const auto found = find(b, item.name);
      if (found == b.end()) {
        differ("{} '{}' is only in {}", what, item.name, a_.path());
        continue;
      }
      if (last && found < *last && std::exchange(ordered, false))
        differ("{} '{}' comes earlier in {} than in {}: the order differs", what, item.name, b_.path(),
               a_.path());
      last = found;
      pairs.emplace_back(&item, &*found);
    }
    for (const Item& item : b)
      if (find(a, item.name) == a.end()) differ("{} '{}' is only in {}", what, item.name, b_.path());
    return pairs;
  }

  void compare_dimensions() {
    for (const auto& [in_a, in_b] :
         matched("dimension", a_.contents().dimensions, b_.contents().dimensions)) {
      ++result_.dimensions;
      if (in_a->length != in_b->length || in_a->unlimited != in_b->unlimited)
        differ("dimension '{}': {} versus {}", in_a->name, text_of_dimension(*in_a),
               text_of_dimension(*in_b));
    }
  }

  void compare_attributes(const std::string& what, const std::vector<Attribute>& a,
                          const std::vector<Attribute>& b) {
    for (const auto& [in_a, in_b] : matched(what, a, b)) {
      ++result_.attributes;
      if (in_a->values == in_b->values) continue;
      const bool bits = text_of_values(in_a->values, false) == text_of_values(in_b->values, false);
      differ("{} '{}': {} versus {}", what, in_a->name, text_of_values(in_a->values, bits),
             text_of_values(in_b->values, bits));
    }
  }

  Result<> compare_variable(const InputVariable& in_a, const InputVariable& in_b) {
    const std::string what = fmt::format("variable '{}'", in_a.name);
    compare_attributes(what + ": attribute", in_a.attributes, in_b.attributes);
    const std::string shape_a = text_of_shape(a_.contents(), in_a);
    const std::string shape_b = text_of_shape(b_.contents(), in_b);
    if (in_a.type != in_b.type) differ("{}: type {} versus {}", what, name_of(in_a.type), name_of(in_b.type));
    if (shape_a != shape_b) differ("{}: dimensions {} versus {}", what, shape_a, shape_b);
    if (in_a.type != in_b.type || shape_a != shape_b) return {};
    a_.cache_chunks(in_a, cache_bytes);
    b_.cache_chunks(in_b, cache_bytes);
    reported_ = 0;
    if (in_a.type == Type::string) return compare_strings(in_a, in_b);
    return compare_numbers(in_a, in_b);
  }

  Result<> compare_numbers(const InputVariable& in_a, const InputVariable& in_b) {
    const std::size_t size = size_of(in_a.type);
    std::vector<std::byte> of_a;
    std::vector<std::byte> of_b;
    for (SlabWalk slab(a_.contents().shape(in_a), slab_bytes / size); !slab.done(); slab.next()) {
      of_a.resize(slab.points() * size);
      of_b.resize(slab.points() * size);
      AFTERBAY_TRY(a_.read(in_a, slab.start(), slab.count(), of_a));
      AFTERBAY_TRY(b_.read(in_b, slab.start(), slab.count(), of_b));
      result_.values += slab.points();
      result_.bytes += of_a.size();
      if (std::memcmp(of_a.data(), of_b.data(), of_a.size()) == 0) continue;
      for (std::uint64_t i = 0; i < slab.points(); ++i) {
        const std::byte* value_a = of_a.data() + i * size;
        const std::byte* value_b = of_b.data() + i * size;
        if (std::memcmp(value_a, value_b, size) == 0) continue;
        const bool bits =
            text_of_value(in_a.type, value_a, false) == text_of_value(in_a.type, value_b, false);
        differ_at(in_a, slab, i, text_of_value(in_a.type, value_a, bits),
                  text_of_value(in_a.type, value_b, bits));
      }
    }
    return {};
  }

  Result<> compare_strings(const InputVariable& in_a, const InputVariable& in_b) {
    constexpr std::uint64_t most_strings = 1U << 16;
    for (SlabWalk slab(a_.contents().shape(in_a), most_strings); !slab.done(); slab.next()) {
      AFTERBAY_TRY_ASSIGN(const std::vector<std::string> of_a,
                          a_.read_strings(in_a, slab.start(), slab.count()));
      AFTERBAY_TRY_ASSIGN(const std::vector<std::string> of_b,
                          b_.read_strings(in_b, slab.start(), slab.count()));
      result_.values += of_a.size();
      for (std::size_t i = 0; i < of_a.size(); ++i) {
        result_.bytes += of_a[i].size();
        if (of_a[i] != of_b[i]) differ_at(in_a, slab, i, text_of_string(of_a[i]), text_of_string(of_b[i]));
      }
    }
    return {};
  }

  void differ_at(const InputVariable& variable, const SlabWalk& slab, std::uint64_t number,
                 const std::string& in_a, const std::string& in_b) {
    ++result_.differing_values;
    if (reported_ == limits_.values_of_variable) {
      ++result_.differences;
      return;
    }
    ++reported_;
    differ("variable '{}'{}: {} versus {}", variable.name,
           variable.dimensions.empty() ? "" : text_of_index(slab.start(), slab.count(), number), in_a, in_b);
  }

  const NetcdfReader& a_;
  const NetcdfReader& b_;
  const CompareLimits& limits_;
  Comparison result_;
  std::size_t reported_ = 0;  ///< differing values of the current variable reported so far
};

}  // namespace

std::string Comparison::summary() const {
  const std::string what = fmt::format("{}, {}, {}, {} ({} bytes) compared", count(dimensions, "dimension"),
                                       count(variables, "variable"), count(attributes, "attribute"),
                                       count(values, "value"), bytes);
  if (equal()) return "equal: " + what;
  return fmt::format("different: {}, {} of them in values; {}", count(differences, "difference"),
                     differing_values, what);
}

Result<Comparison> compare(const NetcdfReader& a, const NetcdfReader& b, const CompareLimits& limits) {
  return Comparer(a, b, limits).run();
}

Result<Comparison> compare_files(const std::string& a, const std::string& b, const CompareLimits& limits) {
  AFTERBAY_TRY_ASSIGN(const NetcdfReader in_a, NetcdfReader::open(a));
  AFTERBAY_TRY_ASSIGN(const NetcdfReader in_b, NetcdfReader::open(b));
  return compare(in_a, in_b, limits);
}

}  // namespace afterbay::app
