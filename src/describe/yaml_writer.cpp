// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "describe/yaml.hpp"

namespace afterbay::describe {

namespace {

constexpr std::size_t text_columns = 100;

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view others = "0123456789./+^*()%- ";

/// Whether the text can stand without quotes, also in flow style, and is text then.
bool is_plain(std::string_view text) {
  if (text.empty() || scalar_kind(text) != ScalarKind::text || text.back() == ' ') return false;
  if (letters.find(text.front()) == std::string_view::npos && text.front() != '/' && text.front() != '(' &&
      (text.front() < '0' || text.front() > '9'))
    return false;
  for (const char c : text)
    if (letters.find(c) == std::string_view::npos && others.find(c) == std::string_view::npos) return false;
  return true;
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string written_text(std::string_view text) {
  return is_plain(text) ? std::string(text) : double_quoted(text);
}

std::string written_scalar(const Node& node) {
  switch (node.kind()) {
    case ScalarKind::null: return "~";
    case ScalarKind::text: return written_text(node.characters());
    default: return node.characters();
  }
}

std::string flow(const Node& node) {
  std::string text;
  if (node.is_scalar()) return written_scalar(node);
  if (node.is_sequence()) {
    for (const Node& item : node.items()) {
      const bool one_pair = item.is_mapping() && item.pairs().size() == 1;  // [a, b: c]
      const std::string written = flow(item);
      text += (text.empty() ? "" : ", ") + (one_pair ? written.substr(1, written.size() - 2) : written);
    }
    return "[" + text + "]";
  }
  for (const auto& [key, value] : node.pairs())
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", written_text(key.name), flow(value));
  return "{" + text + "}";
}

bool is_number(const Node& node) {
  return node.is_scalar() && (node.kind() == ScalarKind::integer || node.kind() == ScalarKind::real);
}

/// Numbers in brackets, on as many lines as they need.
void wrapped_numbers(std::string& out, const Node& list, std::size_t indent) {
  out += " [";
  std::size_t column = out.size() - (out.rfind('\n') + 1);
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const std::string text = list.items()[i].characters() + (i + 1 < list.items().size() ? "," : "]");
    if (column + 1 + text.size() > text_columns) {
      out += "\n" + std::string(indent, ' ') + text;
      column = indent + text.size();
    } else {
      out += (i == 0 ? "" : " ") + text;
      column += (i == 0 ? 0 : 1) + text.size();
    }
  }
  out += "\n";
}

/// A node in block style, from the level `flow_from` on in flow style if it fits on a line.
struct BlockWriter {
  std::string out;
  int flow_from;

  void block(const Node& node, int depth, std::size_t indent);
  void value_of_entry(const Node& value, int depth, std::size_t indent);
};

/// What follows "key:" or "-".
void BlockWriter::value_of_entry(const Node& value, int depth, std::size_t indent) {
  const bool empty = value.is_sequence() ? value.items().empty() : value.pairs().empty();
  const std::size_t line_start = out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1;
  if (value.is_scalar() || empty || depth >= flow_from) {
    const std::string text = flow(value);
    if (value.is_scalar() || empty || out.size() - line_start + 1 + text.size() <= text_columns) {
      out += " " + text + "\n";
      return;
    }
  }
  if (value.is_sequence() && std::ranges::all_of(value.items(), is_number))
    return wrapped_numbers(out, value, indent + 2);
  out += "\n";
  block(value, depth, indent + 2);
}

void BlockWriter::block(const Node& node, int depth, std::size_t indent) {
  const std::string margin(indent, ' ');
  for (const auto& [key, value] : node.pairs()) {
    out += margin + written_text(key.name) + ":";
    value_of_entry(value, depth + 1, indent);
  }
  for (const Node& item : node.items()) {
    out += margin + "-";
    value_of_entry(item, depth + 1, indent);
  }
}

nlohmann::ordered_json json_of(const Node& node) {
  if (node.is_mapping()) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [key, value] : node.pairs()) object[key.name] = json_of(value);
    return object;
  }
  if (node.is_sequence()) {
    auto array = nlohmann::ordered_json::array();
    for (const Node& item : node.items()) array.push_back(json_of(item));
    return array;
  }
  const std::string& text = node.characters();
  switch (node.kind()) {
    case ScalarKind::null: return nullptr;
    case ScalarKind::boolean: return text == "true" || text == "True" || text == "TRUE";
    case ScalarKind::integer:
      if (std::int64_t value = 0; integer_of(text, value)) return value;
      return text;
    case ScalarKind::real:
      if (const double value = real_of(text); std::isfinite(value)) return value;
      return text;
    case ScalarKind::text: break;
  }
  return text;
}

}  // namespace

std::string write_yaml(const Node& node, int flow_from) {
  if (node.is_scalar() || (node.items().empty() && node.pairs().empty())) return flow(node) + "\n";
  BlockWriter writer{{}, flow_from};
  writer.block(node, 0, 0);
  return std::move(writer.out);
}

std::string write_json(const Node& node) {
  return json_of(node).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace afterbay::describe
