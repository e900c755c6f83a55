// SPDX-License-Identifier: Apache-2.0
#include "describe/document.hpp"

#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "describe/keys.hpp"
#include "describe/yaml.hpp"

namespace afterbay::describe {

namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

class Joiner {
 public:
  Joiner(const ReadOptions& options, Problems& problems)
      : problems_(problems), variables_(options.environment ? *options.environment : process_environment()) {
    for (const auto& [name, value] : options.variables) variables_.insert_or_assign(name, value);
  }

  /// `from`: where it is included; line 0: named by the user.
  void read_file(const std::string& path, const Position& from) {
    std::error_code ignored;
    const fs::path canonical = fs::weakly_canonical(path, ignored);
    const std::string identity = ignored ? path : canonical.string();
    if (refuse_cycle(identity, path, from) || !read_.insert(identity).second) return;
    if (read_.size() > most_included_files || open_.size() >= most_include_depth)
      return problems_.add(ErrorCode::resources, from,
                           fmt::format("include: more than {} files, or nested more than {} deep",
                                       most_included_files, most_include_depth));
    const auto text = read_text_file(path, most_yaml_bytes, "an output description");
    if (!text) {
      const bool named = from.line == 0;
      problems_.add(text.error().code, named ? Position{path, 0, 0} : from,
                    named ? text.error().message
                          : fmt::format("include: \"{}\": {}", printable(path), text.error().message));
      return;
    }
    open_.push_back({identity, path});
    add_text(*text, path, fs::path(path).parent_path().string());
    open_.pop_back();
  }

  void add_text(const std::string& text, const std::string& name, const std::string& directory) {
    bytes_ += text.size();
    if (bytes_ > most_description_bytes)
      return problems_.add(ErrorCode::resources, {name, 0, 0},
                           fmt::format("the files of the description have more than {} MiB together",
                                       most_description_bytes >> 20));
    auto root = parse_yaml(text, name, problems_);
    if (!root || root->is_null()) return;
    if (!root->is_mapping())
      return problems_.add(
          ErrorCode::format, root->at,
          fmt::format("expected {} with indented lines, found {}", sections(), root->described()));
    replace(*root);
    for (auto& [key, value] : root->pairs()) add_section(key, value, directory);
  }

  [[nodiscard]] Document take() { return std::move(document_); }

 private:
  struct OpenFile {
    std::string identity;
    std::string path;
  };

  static std::string sections() {
    std::vector<std::string> names;
    for (const std::string& name : top_key_names()) names.push_back(name + ":");
    return one_of(names);
  }

  bool refuse_cycle(const std::string& identity, const std::string& path, const Position& from) {
    const auto same = [&](const OpenFile& it) { return it.identity == identity; };
    const auto begin = std::ranges::find_if(open_, same);
    if (begin == open_.end()) return false;
    std::string chain;
    for (auto it = begin; it != open_.end(); ++it) chain += printable(it->path) + " includes ";
    problems_.add(ErrorCode::conflict, from,
                  fmt::format("include: the files include each other: {}{}; remove one of these lines", chain,
                              printable(path)));
    return true;
  }

  void replace(Node& node) {
    if (node.is_sequence())
      for (Node& item : node.items()) replace(item);
    if (node.is_mapping())
      for (auto& [key, value] : node.pairs()) replace(value);
    if (!node.is_scalar() || node.characters().find("${") == std::string::npos) return;
    auto text = replace_variables(node.characters(), variables_);
    if (text)
      node.set_characters(*std::move(text));
    else
      problems_.add(text.error().code, node.at, text.error().message);
  }

  void add_section(const Key& key, Node& value, const std::string& directory) {
    if (key.name == "include") {
      include(value, directory);
    } else if (key.name == "case" || key.name == "state") {
      Node& given = key.name == "case" ? document_.case_name : document_.state;
      if (!given.is_null()) return duplicate(key, key.name, given.at);
      given = value;
    } else if (Pairs* const section = section_of(key.name)) {
      add_entries(*section, key, value);
    } else {
      problems_.add(
          ErrorCode::unknown_name, key.at,
          fmt::format("expected {}, found \"{}\"{}", sections(), printable(key.name), hint(key.name)));
    }
  }

  static std::string hint(const std::string& name) {
    const std::string meant = did_you_mean(name, top_key_names());
    if (!meant.empty()) return meant;
    return find_key(file_keys(), name) == nullptr
               ? ""
               : fmt::format("; \"{}\" belongs under \"defaults:\", or into a file under \"files:\"", name);
  }

  Pairs* section_of(std::string_view name) {
    if (name == "defaults") return &document_.defaults;
    if (name == "fields") return &document_.fields;
    if (name == "grids") return &document_.grids;
    if (name == "groups") return &document_.groups;
    if (name == "files") return &document_.files;
    return nullptr;
  }

  void add_entries(Pairs& section, const Key& key, Node& value) {
    if (value.is_null()) return;
    if (!value.is_mapping())
      return problems_.add(
          ErrorCode::wrong_type, value.at,
          fmt::format("{}: expected indented lines \"name: ...\", found {}", key.name, value.described()));
    for (auto& [name, entry] : value.pairs()) {
      const auto [earlier, fresh] = seen_.emplace(std::pair(key.name, name.name), name.at);
      if (fresh)
        section.emplace_back(name, std::move(entry));
      else
        duplicate(name, key.name + "." + printable(name.name), earlier->second);
    }
  }

  void duplicate(const Key& key, const std::string& what, const Position& earlier) {
    problems_.add(
        ErrorCode::conflict, key.at,
        fmt::format("{} is defined twice, first at {}; remove or rename one", what, earlier.text()));
  }

  void include(const Node& value, const std::string& directory) {
    const auto one = [&](const Node& item) {
      if (!item.is_scalar() || item.kind() != ScalarKind::text || item.characters().empty())
        return problems_.add(ErrorCode::wrong_type, item.at,
                             fmt::format("include: expected the path of a file, found {}", item.described()));
      read_file((fs::path(directory) / item.characters()).string(), item.at);
    };
    if (value.is_null()) return;
    if (!value.is_sequence()) return one(value);
    for (const Node& item : value.items()) one(item);
  }

  Problems& problems_;
  std::map<std::string, std::string> variables_;
  Document document_;
  std::set<std::string> read_;
  std::vector<OpenFile> open_;
  std::map<std::pair<std::string, std::string>, Position> seen_;
  std::size_t bytes_ = 0;
};

}  // namespace

Document join_files(const std::vector<std::string>& paths, const std::string& text,
                    const ReadOptions& options, Problems& problems) {
  Joiner joiner(options, problems);
  if (!text.empty()) joiner.add_text(text, std::string(program_text), "");
  for (const std::string& path : paths) joiner.read_file(path, {path, 0, 0});
  return joiner.take();
}

Document join_text(const std::string& text, const std::string& name, const ReadOptions& options,
                   Problems& problems) {
  Joiner joiner(options, problems);
  joiner.add_text(text, name, "");
  return joiner.take();
}

}  // namespace afterbay::describe
