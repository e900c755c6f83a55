// SPDX-License-Identifier: Apache-2.0
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>
#include <unordered_map>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "describe/yaml.hpp"

namespace afterbay::describe {

namespace {

constexpr std::string_view core_text = "tag:yaml.org,2002:str";

/// Ends the parser at once; the problem has been recorded.
struct Refused {};

/// Builds a Node from the events of yaml-cpp's parser.
class NodeBuilder final : public YAML::EventHandler {
 public:
  NodeBuilder(std::string file, Problems& problems) : file_(std::move(file)), problems_(problems) {}

  [[nodiscard]] const Node& root() const { return root_; }
  [[nodiscard]] bool good() const noexcept { return good_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ == 0) return;
    add(ErrorCode::format, position(mark), "expected one YAML document, found another one after \"---\"");
    throw Refused();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    take(Node::scalar("", false, position(mark)));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    add(ErrorCode::format, position(mark),
        "YAML aliases (*name) are not accepted; use like:, defaults: or groups: to repeat settings, and put "
        "quotes around a name that begins with *");
    take(Node::scalar("", false, position(mark)));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    take(Node::scalar(value, tag != "?", position(mark)));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(Node::sequence({}, position(mark)), mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(Node::mapping({}, position(mark)), mark, tag, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    Node node;
    std::optional<Key> key;  ///< in a mapping: the key whose value comes next
    std::unordered_map<std::string, Position> seen;
    bool unusable_key = false;
  };

  [[nodiscard]] Position position(const YAML::Mark& mark) const {
    return {file_, mark.line + 1, mark.column + 1};
  }

  /// For problems after which the document cannot be understood.
  void add(ErrorCode code, const Position& at, std::string text) {
    problems_.add(code, at, std::move(text));
    good_ = false;
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      add(ErrorCode::format, position(mark),
          "YAML anchors (&name) are not accepted; use like:, defaults: or groups: to repeat settings");
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!" && tag != core_text)
      add(ErrorCode::format, position(mark),
          fmt::format("the YAML tag \"{}\" is not accepted; only !!str is, and quotes do the same",
                      printable(tag)));
  }

  void begin(Node node, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (open_.size() >= most_yaml_depth) {
      add(ErrorCode::format, position(mark),
          fmt::format("lists and mappings are nested more than {} deep", most_yaml_depth));
      throw Refused();
    }
    count(node.at);
    open_.push_back({std::move(node), {}, {}, false});
  }

  void end() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    place(std::move(node));
  }

  void take(Node scalar) {
    count(scalar.at);
    place(std::move(scalar));
  }

  void count(const Position& at) {
    if (++nodes_ <= most_yaml_nodes) return;
    add(ErrorCode::format, at, fmt::format("the file has more than {} values", most_yaml_nodes));
    throw Refused();
  }

  void place(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (Open& top = open_.back(); top.node.is_sequence()) {
      top.node.items().push_back(std::move(node));
    } else if (top.key) {
      top.node.pairs().emplace_back(*std::move(top.key), std::move(node));
      top.key.reset();
    } else if (top.unusable_key) {
      top.unusable_key = false;  // the value of a key that was refused
    } else {
      place_key(top, node);
    }
  }

  void place_key(Open& top, const Node& node) {
    top.unusable_key = true;
    if (!node.is_scalar() || node.is_null())
      return problems_.add(ErrorCode::wrong_type, node.at,
                           fmt::format("expected a name before the colon, found {}", node.described()));
    const std::string& name = node.characters();
    if (name == "<<" && !node.quoted())
      return add(ErrorCode::format, node.at,
                 "YAML merge keys (<<) are not accepted; use like: to inherit settings");
    const auto [earlier, fresh] = top.seen.emplace(name, node.at);
    if (!fresh)
      return problems_.add(ErrorCode::conflict, node.at,
                           fmt::format("\"{}\" is given twice, first at {}; remove one", printable(name),
                                       earlier->second.text()));
    top.key = Key{name, node.at, node.quoted()};
    top.unusable_key = false;
  }

  std::string file_;
  Problems& problems_;
  std::vector<Open> open_;
  Node root_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
  bool good_ = true;
};

/// The first line, counted from 1, that is indented with a tab, up to `last`; 0 if there is none.
int tabbed_line(std::string_view text, int last) {
  int line = 1;
  bool indentation = true;
  for (const char c : text) {
    if (line > last) return 0;
    if (c == '\t' && indentation) return line;
    if (c == '\n') ++line;
    indentation = c == '\n' || (indentation && c == ' ');
  }
  return 0;
}

/// Refuses what is not UTF-8, and control characters that YAML excludes.
bool check_characters(std::string_view text, const std::string& file, Problems& problems) {
  Position at{file, 1, 1};
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_bytes(text.substr(i));
    const auto c = static_cast<unsigned char>(text[i]);
    const bool control = (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
    if (length == 0 || control) {
      problems.add(ErrorCode::format, at,
                   length == 0 ? fmt::format("the file is not UTF-8: found the byte 0x{:02x}", c)
                               : fmt::format("control character 0x{:02x}, which YAML does not allow", c));
      return false;
    }
    at.column = c == '\n' ? 1 : at.column + 1;
    at.line += c == '\n' ? 1 : 0;
    i += length;
  }
  return true;
}

}  // namespace

std::optional<Node> parse_yaml(const std::string& text, const std::string& file, Problems& problems) {
  if (text.size() > most_yaml_bytes) {
    problems.add(ErrorCode::format, {file, 0, 0},
                 fmt::format("the file has more than {} MiB: this is not an output description",
                             most_yaml_bytes >> 20));
    return std::nullopt;
  }
  if (!check_characters(text, file, problems)) return std::nullopt;
  NodeBuilder builder(file, problems);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    if (builder.good()) return builder.root();
  } catch (const Refused&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    const int line = error.mark.line + 1;
    if (const int tabbed = tabbed_line(text, line); tabbed > 0)
      problems.add(ErrorCode::format, {file, tabbed, 1},
                   "the line is indented with a tab, which YAML does not allow: use spaces");
    else
      problems.add(ErrorCode::format, {file, line, error.mark.column + 1},
                   fmt::format("this is not YAML: {}", printable_message(error.msg)));
  }
  return std::nullopt;
}

}  // namespace afterbay::describe
