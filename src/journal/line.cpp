// SPDX-License-Identifier: Apache-2.0
#include "journal/line.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/printable.hpp"

namespace afterbay::journal {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;
constexpr std::string_view checksum_start = "crc64-xz:";
/// A longer list of files is left out. Readers keep the lists of all lines in memory.
constexpr std::size_t most_list_bytes = std::size_t{64} << 10;

/// A checksum as a field of a line.
struct ChecksumField {
  std::optional<std::uint64_t>& value;
};

/// Left out if there are none.
struct TriggersField {
  std::vector<std::string>& names;
};

/// Left out if there are none.
struct ErrorsField {
  std::map<std::string, double>& errors;
};

/// Left out if there are none, or if they take too much room.
struct FilesField {
  std::vector<ArtifactFile>& files;
};

/// A path, which need not be UTF-8.
template <class T>
struct PathField {
  T& value;
};
template <class T>
PathField(T&) -> PathField<T>;

// Each event is defined once, here, for both directions: `a(name, field)`.
template <class A>
void fields(A& a, ArtifactFile& v) {
  PathField name{v.name};
  a("name", name);
  a("bytes", v.bytes);
  ChecksumField checksum{v.checksum};
  a("checksum", checksum);
}
template <class A>
void fields(A& a, RunStarted& v) {
  a("session", v.session);
  a("version", v.version);
  a("host", v.host);
  a("pid", v.pid);
  PathField directory{v.directory};
  a("directory", directory);
  a("model_ranks", v.model_ranks);
  a("servers", v.servers);
  a("settings", v.settings);
}
template <class A>
void fields(A& a, FileFacts& v) {
  PathField path{v.path};
  a("path", path);
  a("number", v.number);
  a("collection", v.collection);
  a("format", v.format);
  a("step", v.step);
  a("member", v.member);
  a("date", v.date);
}
template <class A>
void fields(A& a, FileOpened& v) {
  fields(a, v.file);
  a("inode", v.inode);
  a("born_ns", v.born_ns);
}
template <class A>
void fields(A& a, FilePublished& v) {
  fields(a, v.file);
  a("bytes", v.bytes);
  a("records", v.records);
  ChecksumField checksum{v.checksum};
  a("checksum", checksum);
  a("dropped", v.dropped);
  TriggersField triggers{v.triggers};
  a("triggers", triggers);
  ErrorsField largest_errors{v.largest_errors};
  a("largest_errors", largest_errors);
  a("file_count", v.file_count);
  FilesField files{v.files};
  a("files", files);
}
template <class A>
void fields(A& a, FileReady& v) {
  fields(a, v.file);
  a("inode", v.inode);
  a("born_ns", v.born_ns);
  a("name", v.name);
}
template <class A>
void fields(A& a, FileRecovered& v) {
  fields(a, v.file);
  a("epoch", v.epoch);
  a("name", v.name);
}
template <class A>
void fields(A& a, EpochCompleted& v) {
  a("epoch", v.epoch);
  a("name", v.name);
  PathField unpublished{v.unpublished};
  a("unpublished", unpublished);
  PathField lost{v.lost};
  a("lost", lost);
  TriggersField triggers{v.triggers};
  a("triggers", triggers);
}
template <class A>
void fields(A& a, FileGivenUp& v) {
  fields(a, v.file);
  a("why", v.why);
}
template <class A>
void fields(A& a, Warned& v) {
  a("text", v.text);
}
template <class A>
void fields(A& a, Failed& v) {
  a("code", v.code);
  a("text", v.text);
  PathField file{v.file};
  a("file", file);
  a("variable", v.variable);
}
template <class A>
void fields(A& a, TriggerRan& v) {
  a("trigger", v.trigger);
  a("on", v.on);
  PathField path{v.path};
  a("path", path);
  a("epoch", v.epoch);
  a("ok", v.ok);
  a("seconds", v.seconds);
  a("text", v.text);
}
template <class A>
void fields(A& a, RunEnded& v) {
  a("ok", v.ok);
  a("files", v.files);
}
template <class A>
void fields(A& a, RunAbandoned& v) {
  a("abandoned", v.abandoned);
}

constexpr const char* name_of(const RunStarted&) { return "run_started"; }
constexpr const char* name_of(const FileOpened&) { return "file_opened"; }
constexpr const char* name_of(const FileReady&) { return "file_ready"; }
constexpr const char* name_of(const FilePublished&) { return "file_published"; }
constexpr const char* name_of(const FileRecovered&) { return "file_recovered"; }
constexpr const char* name_of(const FileGivenUp&) { return "file_given_up"; }
constexpr const char* name_of(const EpochCompleted&) { return "epoch_completed"; }
constexpr const char* name_of(const Warned&) { return "warning"; }
constexpr const char* name_of(const Failed&) { return "error"; }
constexpr const char* name_of(const TriggerRan&) { return "trigger_ran"; }
constexpr const char* name_of(const RunEnded&) { return "run_ended"; }
constexpr const char* name_of(const RunAbandoned&) { return "run_abandoned"; }

std::size_t list_bytes(const std::vector<ArtifactFile>& files) {
  constexpr std::size_t each = 80;  // the other fields
  std::size_t bytes = 0;
  for (const ArtifactFile& file : files) bytes += file.name.size() + each;
  return bytes;
}

/// Fields that are not set are left out.
class JsonWriter {
 public:
  explicit JsonWriter(Json& json) : json_(json) {}
  template <class T>
  void operator()(const char* name, T& value) {
    json_[name] = value;
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    if (value) json_[name] = *value;
  }
  void operator()(const char* name, PathField<std::string>& field) { json_[name] = utf8_name(field.value); }
  void operator()(const char* name, PathField<std::optional<std::string>>& field) {
    if (field.value) json_[name] = utf8_name(*field.value);
  }
  void operator()(const char* name, PathField<std::vector<std::string>>& field) {
    json_[name] = Json::array();
    for (const std::string& path : field.value) json_[name].push_back(utf8_name(path));
  }
  void operator()(const char* name, TriggersField& field) {
    if (!field.names.empty()) json_[name] = field.names;
  }
  void operator()(const char* name, ErrorsField& field) {
    if (!field.errors.empty()) json_[name] = field.errors;
  }
  void operator()(const char* name, ChecksumField& field) {
    if (field.value) json_[name] = print_checksum(*field.value);
  }
  void operator()(const char* name, FilesField& field) {
    if (field.files.empty() || list_bytes(field.files) > most_list_bytes) return;
    Json& list = json_[name] = Json::array();
    for (ArtifactFile& file : field.files) {
      Json entry;
      JsonWriter writer(entry);
      fields(writer, file);
      list.push_back(std::move(entry));
    }
  }

 private:
  Json& json_;
};

/// Missing fields keep their initial values; a field of another type makes the line unreadable,
/// unless it is in the list of files, without which the entry still says what was published.
class JsonReader {
 public:
  explicit JsonReader(const Json& json) : json_(json) {}
  template <class T>
  void operator()(const char* name, T& value) {
    if (const auto at = json_.find(name); at != json_.end()) at->get_to(value);
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    if (const auto at = json_.find(name); at != json_.end()) value = at->template get<T>();
  }
  void operator()(const char* name, PathField<std::string>& field) {
    if (const auto at = json_.find(name); at != json_.end())
      field.value = name_from_utf8(at->get<std::string>());
  }
  void operator()(const char* name, PathField<std::optional<std::string>>& field) {
    if (const auto at = json_.find(name); at != json_.end())
      field.value = name_from_utf8(at->get<std::string>());
  }
  void operator()(const char* name, PathField<std::vector<std::string>>& field) {
    (*this)(name, field.value);
    for (std::string& path : field.value) path = name_from_utf8(path);
  }
  void operator()(const char* name, ChecksumField& field) {
    if (const auto at = json_.find(name); at != json_.end())
      field.value = parse_checksum(at->get<std::string>());
  }
  void operator()(const char* name, TriggersField& field) { (*this)(name, field.names); }
  void operator()(const char* name, ErrorsField& field) { (*this)(name, field.errors); }
  void operator()(const char* name, FilesField& field) {
    const auto at = json_.find(name);
    if (at == json_.end() || !at->is_array()) return;
    try {
      for (const Json& entry : *at) {
        for (const char* needed : {"name", "bytes"}) static_cast<void>(entry.at(needed));  // throws
        JsonReader reader(entry);
        fields(reader, field.files.emplace_back());
      }
    } catch (const Json::exception&) {
      field.files.clear();
    }
  }

 private:
  const Json& json_;
};

/// The event of that name among the alternatives from number `I` on.
template <std::size_t I = 1>
Event read_event(const std::string& name, const Json& json) {
  if constexpr (I < std::variant_size_v<Event>) {
    std::variant_alternative_t<I, Event> event;
    if (name != name_of(event)) return read_event<I + 1>(name, json);
    JsonReader reader(json);
    fields(reader, event);
    return event;
  } else {
    return std::monostate();
  }
}

}  // namespace

std::string text_of(const Line& line) {
  Json json{{"journal", format_version}, {"at", line.at}, {"run", line.run}, {"server", line.server}};
  if (line.sequence != 0) json["sequence"] = line.sequence;
  std::visit(
      [&json](auto event) {
        if constexpr (!std::is_same_v<decltype(event), std::monostate>) {
          json["event"] = name_of(event);
          JsonWriter writer(json);
          fields(writer, event);
        }
      },
      line.event);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // texts need not be UTF-8
}

std::optional<Line> parse_line(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("journal")) return std::nullopt;
  try {
    Line line;
    json.at("at").get_to(line.at);
    json.at("run").get_to(line.run);
    json.at("server").get_to(line.server);
    line.sequence = json.value("sequence", std::uint64_t{0});
    line.event = read_event(json.at("event").get<std::string>(), json);
    return line;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool is_cut_off(std::string_view text) {
  if (!text.starts_with('{')) return false;
  try {
    return Json::parse(text).is_discarded();  // it never is
  } catch (const Json::parse_error& error) {
    return error.byte > text.size();  // everything before the end is as it should be
  }
}

bool is_of_command(const Line& line) noexcept {
  const auto* const ready = std::get_if<FileReady>(&line.event);
  return std::holds_alternative<FileRecovered>(line.event) || (ready != nullptr && ready->name);
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - seconds).count();
  const std::time_t time = std::chrono::system_clock::to_time_t(seconds);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03}Z", text, ms);
}

std::string print_checksum(std::uint64_t checksum) {
  return fmt::format("{}{:016x}", checksum_start, checksum);
}

std::optional<std::uint64_t> parse_checksum(std::string_view text) {
  if (!text.starts_with(checksum_start)) return std::nullopt;
  text.remove_prefix(checksum_start.size());
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != 16) return std::nullopt;
  return value;
}

}  // namespace afterbay::journal
