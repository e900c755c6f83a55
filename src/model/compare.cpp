// SPDX-License-Identifier: Apache-2.0
// Compares schemas: by a hash of a canonical encoding, and in words.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "base/caller_terms.hpp"
#include "codec/filter_chain.hpp"
#include "model/changes.hpp"
#include "model/filters.hpp"
#include "model/values.hpp"

namespace afterbay::model {
namespace {

/// Appends to a byte string: numbers as 8 little-endian bytes, lists and strings preceded by their
/// length.
class Canonical {
 public:
  void number(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(value >> shift));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  void values(const Values& values) {
    number(static_cast<std::uint64_t>(values.type));
    number(values.count());
    for (const std::string& value : values.strings) text(value);
    if constexpr (std::endian::native == std::endian::little) {
      bytes_.append(values.text());
    } else {
      const std::size_t size = size_of(values.type);
      for (std::size_t i = 0; i < values.bytes.size(); ++i)
        bytes_.push_back(static_cast<char>(values.bytes[i / size * size + (size - 1 - i % size)]));
    }
  }
  void attributes(const std::vector<Attribute>& attributes) {
    number(attributes.size());
    for (const Attribute& attribute : attributes) {
      text(attribute.name);
      values(attribute.values);
    }
  }
  void filters(const FilterChain& chain) {
    number(chain.size());
    for (const Filter& filter : chain) {
      number(filter.id);
      number(filter.parameters.size());
      for (const std::uint32_t parameter : filter.parameters) number(parameter);
    }
  }
  void variable(const Variable& variable) {
    text(variable.name);
    number(static_cast<std::uint64_t>(variable.type));
    number(variable.dimensions.size());
    for (const std::string& name : variable.dimensions) text(name);
    attributes(variable.attributes);
    values(variable.fill);
    number(variable.chunk.size());
    for (const std::uint64_t length : variable.chunk) number(length);
    filters(filters_of(variable));
    text(variable.decomposition);
    values(variable.constant);
  }
  [[nodiscard]] std::uint64_t hash() const { return XXH3_64bits(bytes_.data(), bytes_.size()); }

 private:
  std::string bytes_;
};

/// Collects lines "WHAT: A NAME_A, B NAME_B".
class Differences {
 public:
  Differences(std::string_view name_a, std::string_view name_b) : name_a_(name_a), name_b_(name_b) {}

  void compare(const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) lines_.push_back(fmt::format("{}: {} {}, {} {}", what, a, name_a_, b, name_b_));
  }
  void compare(const std::string& what, const Values& a, const Values& b) {
    if (a == b) return;
    const std::string text_a = text_of(a), text_b = text_of(b);
    if (text_a != text_b) return compare(what, text_a, text_b);
    lines_.push_back(fmt::format("{}: {} values, different from number {} on", what, a.count(),
                                 said_index(first_different(a, b))));
  }
  /// Compares named things of one kind: reports those that only one side has, and compares the
  /// others with `compare_two`.
  template <class T, class Compare>
  void compare_lists(const std::string& kind, const std::vector<T>& a, const std::vector<T>& b,
                     Compare compare_two) {
    const auto find = [](const std::vector<T>& list, const std::string& name) {
      for (const T& item : list)
        if (item.name == name) return &item;
      return static_cast<const T*>(nullptr);
    };
    for (const T& item : a) {
      const T* other = find(b, item.name);
      if (other == nullptr) {
        lines_.push_back(fmt::format("{} '{}': only {}", kind, item.name, name_a_));
      } else {
        compare_two(fmt::format("{} '{}'", kind, item.name), item, *other);
      }
    }
    for (const T& item : b)
      if (find(a, item.name) == nullptr)
        lines_.push_back(fmt::format("{} '{}': only {}", kind, item.name, name_b_));
    compare_order(kind, a, b);
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  static std::size_t first_different(const Values& a, const Values& b) {
    if (a.type == Type::string) return mismatch(a.strings, b.strings);
    return mismatch(a.bytes, b.bytes) / size_of(a.type);
  }
  template <class List>
  static std::size_t mismatch(const List& a, const List& b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  }
  /// Compares the order, which determines positions in a classic file.
  template <class T>
  void compare_order(const std::string& kind, const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i].name != b[i].name) {
        compare(fmt::format("{} number {}", kind, said_index(i)), a[i].name, b[i].name);
        return;
      }
  }
  std::string_view name_a_;
  std::string_view name_b_;
  std::vector<std::string> lines_;
};

std::string length_text(const Dimension& dimension) {
  return dimension.is_unlimited() ? "unlimited" : fmt::format("length {}", dimension.length);
}

void compare_attributes(Differences& out, const std::string& prefix, const std::vector<Attribute>& a,
                        const std::vector<Attribute>& b) {
  out.compare_lists(prefix + "attribute", a, b,
                    [&](const std::string& what, const Attribute& x, const Attribute& y) {
                      out.compare(what, x.values, y.values);
                    });
}

void compare_filters(Differences& out, const std::string& what, const FilterChain& a, const FilterChain& b) {
  const auto text = [](const codec::Codec& codec, const FilterChain& chain) {
    const int level = codec::level_of(codec, codec::find_filter(chain, codec.id));
    return codec.most_level > 0 ? fmt::to_string(level) : fmt::to_string(level != 0);
  };
  for (const codec::Codec* codec : codec::all_codecs())
    out.compare(fmt::format("{} {}", what, codec->name), text(*codec, a), text(*codec, b));
}

void compare_variables(Differences& out, const std::string& what, const Variable& a, const Variable& b) {
  const auto dimensions = [](const Variable& v) {
    return fmt::format("dimensions {}", said_list(v.dimensions));
  };
  const auto chunk = [](const Variable& v) {
    return v.chunk.empty() ? std::string("chosen") : said_list(v.chunk);
  };
  const auto decomposed = [](const Variable& v) {
    return v.decomposition.empty() ? "whole" : v.decomposition;
  };
  out.compare(what, fmt::format("type {}", name_of(a.type)), fmt::format("type {}", name_of(b.type)));
  out.compare(what, dimensions(a), dimensions(b));
  out.compare(what + " fill value", a.fill, b.fill);
  out.compare(what + " chunk", chunk(a), chunk(b));
  compare_filters(out, what, filters_of(a), filters_of(b));
  out.compare(what + " decomposition", decomposed(a), decomposed(b));
  out.compare(what + " constant values", a.constant, b.constant);
  compare_attributes(out, what + " ", a.attributes, b.attributes);
}

}  // namespace

std::uint64_t hash(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint64_t hash(const Schema& schema) {
  Canonical canonical;
  canonical.number(schema.dimensions.size());
  for (const Dimension& dimension : schema.dimensions) {
    canonical.text(dimension.name);
    canonical.number(dimension.length);
  }
  canonical.number(schema.variables.size());
  for (const Variable& variable : schema.variables) canonical.variable(variable);
  canonical.attributes(schema.attributes);
  return canonical.hash();
}

std::vector<std::string> differences(const Schema& a, const Schema& b, std::string_view name_a,
                                     std::string_view name_b) {
  Differences out(name_a, name_b);
  out.compare_lists("dimension", a.dimensions, b.dimensions,
                    [&](const std::string& what, const Dimension& x, const Dimension& y) {
                      out.compare(what, length_text(x), length_text(y));
                    });
  out.compare_lists("variable", a.variables, b.variables,
                    [&](const std::string& what, const Variable& x, const Variable& y) {
                      compare_variables(out, what, x, y);
                    });
  compare_attributes(out, "global ", a.attributes, b.attributes);
  return out.take();
}

}  // namespace afterbay::model
