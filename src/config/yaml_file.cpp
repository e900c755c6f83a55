// SPDX-License-Identifier: Apache-2.0
#include <yaml-cpp/yaml.h>

#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "config/settings.hpp"
#include "config/sources.hpp"

namespace afterbay::config {

namespace {

struct Reader {
  std::string place;  ///< source of the text: a path or a variable's name
  Source source;
  std::vector<Assignment>& found;
  Problems& problems;

  [[nodiscard]] std::string at(const YAML::Mark& mark) const {
    return mark.is_null() ? place : fmt::format("{}:{}:{}", place, mark.line + 1, mark.column + 1);
  }
  [[nodiscard]] std::string at(const YAML::Node& node) const { return at(node.Mark()); }
};

bool is_group(std::string_view name) { return !members_of(session_settings(), name).empty(); }

/// Calls visit(key text, key, value) for each pair, after refusing keys that are not text or occur
/// twice (of which YAML libraries silently use one).
template <class Visit>
void each(Reader& reader, const YAML::Node& mapping, Visit visit) {
  std::map<std::string, std::string> seen;
  for (const auto& pair : mapping) {
    if (!pair.first.IsScalar()) {
      reader.problems.add(ErrorCode::wrong_type, reader.at(pair.first), "expected a name before the colon");
      continue;
    }
    const std::string& key = pair.first.Scalar();
    const auto [earlier, fresh] = seen.emplace(key, reader.at(pair.first));
    if (!fresh) {
      reader.problems.add(
          ErrorCode::conflict, reader.at(pair.first),
          fmt::format("\"{}\" is given twice, first at {}; remove one", key, earlier->second));
      continue;
    }
    visit(key, pair.first, pair.second);
  }
}

/// Scalars joined by commas; false if an element is not a scalar.
bool join(const YAML::Node& sequence, std::string& text) {
  for (const auto& element : sequence) {
    if (!element.IsScalar()) return false;
    if (!text.empty()) text += ',';
    text += element.Scalar();
  }
  return true;
}

void assign(Reader& reader, Assignment assignment, const YAML::Node& key, const YAML::Node& value) {
  using Shape = Assignment::Shape;
  assignment.origin = {reader.source, reader.at(value.IsNull() ? key : value)};
  assignment.name_place = reader.at(key);
  if (value.IsScalar()) {
    assignment.value = value.Scalar();
  } else if (value.IsSequence()) {
    assignment.shape = join(value, assignment.value) ? Shape::list : Shape::mapping;
  } else {
    assignment.shape = value.IsMap() ? Shape::mapping : Shape::nothing;
  }
  reader.found.push_back(std::move(assignment));
}

/// Settings of the session, or of a pool; `prefix` is the group that `mapping` belongs to, with its
/// dot.
void read_session(Reader& reader, const YAML::Node& mapping, const std::string& prefix,
                  const std::string& pool = {}) {
  each(reader, mapping, [&](const std::string& key, const YAML::Node& key_node, const YAML::Node& value) {
    const std::string name = prefix + key;
    const bool is_setting = find_setting(session_settings(), name) != nullptr;  // also a group: output
    if (is_group(name) && (value.IsMap() || (value.IsNull() && !is_setting))) {
      read_session(reader, value, name + ".", pool);
    } else {
      Assignment assignment;
      assignment.pool = pool;
      assignment.name = name;
      assign(reader, std::move(assignment), key_node, value);
    }
  });
}

/// Refuses values that are neither a mapping nor empty.
bool expect_mapping(Reader& reader, const YAML::Node& node, const YAML::Node& key, std::string_view of) {
  if (node.IsMap()) return true;
  if (!node.IsNull()) {
    reader.problems.add(
        ErrorCode::wrong_type, reader.at(node),
        fmt::format("expected settings of {} (indented lines \"name: value\"), found {}", of,
                    node.IsSequence() ? std::string("a list") : fmt::format("\"{}\"", node.Scalar())));
  } else {
    reader.problems.add(
        ErrorCode::wrong_type, reader.at(key),
        fmt::format("expected settings of {} (indented lines \"name: value\"), found nothing", of));
  }
  return false;
}

void read_variables(Reader& reader, const std::string& collection, const YAML::Node& mapping) {
  each(reader, mapping, [&](const std::string& variable, const YAML::Node& key, const YAML::Node& settings) {
    if (!expect_mapping(reader, settings, key, fmt::format("the variable \"{}\"", variable))) return;
    each(reader, settings,
         [&](const std::string& name, const YAML::Node& name_node, const YAML::Node& value) {
           Assignment assignment;
           assignment.collection = collection;
           assignment.variable = variable;
           assignment.name = name;
           assign(reader, std::move(assignment), name_node, value);
         });
  });
}

/// `prefix` is the group that `mapping` belongs to, with its dot.
void read_collection(Reader& reader, const std::string& collection, const YAML::Node& mapping,
                     const std::string& prefix = {}) {
  each(reader, mapping, [&](const std::string& last_name, const YAML::Node& key, const YAML::Node& value) {
    const std::string name = prefix + last_name;
    if (name == "variables") {
      if (expect_mapping(reader, value, key, "variables")) read_variables(reader, collection, value);
      return;
    }
    if (value.IsMap() && !members_of(collection_settings(), name).empty()) {
      read_collection(reader, collection, value, name + ".");
      return;
    }
    Assignment assignment;
    assignment.collection = collection;
    assignment.name = name;
    assign(reader, std::move(assignment), key, value);
  });
}

void read_all_collections(Reader& reader, const YAML::Node& mapping) {
  each(reader, mapping,
       [&](const std::string& collection, const YAML::Node& key, const YAML::Node& settings) {
         if (collection.empty()) {
           reader.problems.add(ErrorCode::invalid_argument, reader.at(key),
                               "expected a collection's name, found \"\"");
         } else if (expect_mapping(reader, settings, key, fmt::format("the collection \"{}\"", collection))) {
           read_collection(reader, collection, settings);
         }
       });
}

void read_all_triggers(Reader& reader, const YAML::Node& mapping) {
  each(reader, mapping, [&](const std::string& trigger, const YAML::Node& key, const YAML::Node& settings) {
    if (trigger.empty() || trigger.find('.') != std::string::npos) {
      reader.problems.add(ErrorCode::invalid_argument, reader.at(key),
                          fmt::format("expected a trigger's name without dots, found \"{}\"", trigger));
    } else if (expect_mapping(reader, settings, key, fmt::format("the trigger \"{}\"", trigger))) {
      each(reader, settings,
           [&](const std::string& name, const YAML::Node& name_node, const YAML::Node& value) {
             Assignment assignment;
             assignment.trigger = trigger;
             assignment.name = name;
             assign(reader, std::move(assignment), name_node, value);
           });
    }
  });
}

/// `small: {}`: a pool with the settings of the session.
void declare_pool(Reader& reader, const std::string& pool, const YAML::Node& key) {
  Assignment assignment;
  assignment.pool = pool;
  assignment.shape = Assignment::Shape::mapping;
  assignment.origin = {reader.source, reader.at(key)};
  assignment.name_place = assignment.origin.place;
  reader.found.push_back(std::move(assignment));
}

void read_all_pools(Reader& reader, const YAML::Node& mapping) {
  each(reader, mapping, [&](const std::string& pool, const YAML::Node& key, const YAML::Node& settings) {
    if (pool.empty() || pool.find('.') != std::string::npos) {
      reader.problems.add(ErrorCode::invalid_argument, reader.at(key),
                          fmt::format("expected a pool's name without dots, found \"{}\"", pool));
    } else if (expect_mapping(reader, settings, key, fmt::format("the pool \"{}\"", pool))) {
      if (settings.size() == 0) declare_pool(reader, pool, key);
      read_session(reader, settings, "", pool);
    }
  });
}

void unknown_section(Reader& reader, const std::string& key, const YAML::Node& node) {
  const std::vector<std::string> sections{"afterbay", "pools", "triggers", "collections"};
  std::string hint = did_you_mean(key, sections);
  if (hint.empty() && (is_group(key) || find_setting(session_settings(), key) != nullptr)) {
    hint = fmt::format("; \"{}\" belongs under \"afterbay:\", indented", key);
  }
  reader.problems.add(
      ErrorCode::unknown_name, reader.at(node),
      fmt::format("expected \"afterbay:\", \"pools:\", \"triggers:\" or \"collections:\", found \"{}\"{}",
                  key, hint));
}

/// A section whose entries have names; false: there is no such section.
bool read_one_section(Reader& reader, const std::string& section, const YAML::Node& key,
                      const YAML::Node& value) {
  void (*read)(Reader&, const YAML::Node&) = section == collections_key ? read_all_collections
                                             : section == triggers_key  ? read_all_triggers
                                             : section == pools_key     ? read_all_pools
                                                                        : nullptr;
  if (read == nullptr) return false;
  if (expect_mapping(reader, value, key, section)) read(reader, value);
  return true;
}

void read_document(Reader& reader, const YAML::Node& root) {
  if (root.IsNull()) return;
  if (!root.IsMap()) {
    reader.problems.add(
        ErrorCode::format, reader.at(root),
        "expected \"afterbay:\", \"pools:\", \"triggers:\" and \"collections:\" with indented settings");
    return;
  }
  each(reader, root, [&](const std::string& key, const YAML::Node& key_node, const YAML::Node& value) {
    if (key == "afterbay") {
      if (expect_mapping(reader, value, key_node, "the session")) read_session(reader, value, "");
    } else if (!read_one_section(reader, key, key_node, value)) {
      unknown_section(reader, key, key_node);
    }
  });
}

/// The first line, counted from 0, that is indented with a tab; -1 if there is none.
int line_indented_with_tab(std::string_view text) {
  int line = 0;
  bool indentation = true;
  for (const char c : text) {
    if (c == '\t' && indentation) return line;
    if (c == '\n') ++line;
    indentation = c == '\n' || (indentation && c == ' ');
  }
  return -1;
}

/// The text's only document; problems are recorded.
bool parse(Reader& reader, const std::string& text, YAML::Node& root) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      reader.problems.add(ErrorCode::format, reader.at(documents[1]),
                          "expected one YAML document, found another one after \"---\"");
      return false;
    }
    if (!documents.empty()) root = documents.front();
    return true;
  } catch (const YAML::Exception& error) {
    if (const int line = line_indented_with_tab(text); line >= 0 && line <= error.mark.line + 1)
      reader.problems.add(ErrorCode::format, fmt::format("{}:{}", reader.place, line + 1),
                          "the line is indented with a tab, which YAML does not allow: use spaces");
    else
      reader.problems.add(ErrorCode::format, reader.at(error.mark),
                          fmt::format("this is not YAML: {}", error.msg));
    return false;
  }
}

constexpr std::size_t most_file_bytes = std::size_t{16} << 20;

}  // namespace

void read_file(const std::string& path, std::vector<Assignment>& found, Problems& problems) {
  const auto text = read_text_file(path, most_file_bytes, "a configuration file");
  if (!text) {
    problems.add(text.error().code, path, text.error().message);
    return;
  }
  Reader reader{path, Source::file, found, problems};
  YAML::Node root;
  if (parse(reader, *text, root)) read_document(reader, root);
}

void read_section(std::string_view section, std::string_view text, const Origin& origin,
                  std::vector<Assignment>& found, Problems& problems) {
  Reader reader{origin.place, origin.source, found, problems};
  YAML::Node root;
  if (parse(reader, std::string(text), root)) read_one_section(reader, std::string(section), root, root);
}

}  // namespace afterbay::config
