// SPDX-License-Identifier: Apache-2.0
#include "config/reference.hpp"

#include <algorithm>
#include <array>

#include "base/glob.hpp"
#include "base/suggest.hpp"
#include "base/wrapped.hpp"
#include "config/settings.hpp"

namespace afterbay::config {

namespace {

/// A setting of any table, as text.
struct Entry {
  std::string name;
  std::string type;
  std::string fallback;
  std::string accepted;
  std::string documentation;
  std::string environment;  ///< empty: none of its own
};

template <class Target>
void append(std::vector<Entry>& entries, const std::vector<Setting<Target>>& table,
            const std::string& prefix) {
  const Target untouched{};
  for (const auto& setting : table) {
    entries.push_back({prefix + setting.name, setting.type, setting.print(untouched), setting.accepted,
                       setting.documentation,
                       prefix.empty() ? environment_name(setting.name) : std::string{}});
  }
}

std::vector<Entry> session_entries() {
  std::vector<Entry> entries;
  append(entries, session_settings(), "");
  return entries;
}

std::vector<Entry> collection_entries() {
  std::vector<Entry> entries;
  append(entries, collection_settings(), "collections.NAME.");
  append(entries, variable_settings(), "collections.NAME.variables.VARIABLE.");
  return entries;
}

std::vector<Entry> trigger_entries() {
  std::vector<Entry> entries;
  append(entries, trigger_settings(), "triggers.NAME.");
  return entries;
}

std::vector<Entry> pool_entries() {
  std::vector<Entry> entries;
  append(entries, pool_settings(), "pools.NAME.");
  return entries;
}

std::vector<Entry> all_entries() {
  auto entries = session_entries();
  for (Entry& entry : pool_entries()) entries.push_back(std::move(entry));
  const auto more = collection_entries();
  entries.insert(entries.end(), more.begin(), more.end());
  for (Entry& entry : trigger_entries()) entries.push_back(std::move(entry));
  return entries;
}

std::string explain(const Entry& entry) {
  std::string text = fmt::format("{}\n    accepted: {}\n", entry.name, entry.accepted);
  text += fmt::format("    default: {}\n", entry.fallback.empty() ? "none" : entry.fallback);
  if (!entry.environment.empty()) text += fmt::format("    environment: {}\n", entry.environment);
  text += fmt::format("    flag: --afterbay.{}=VALUE\n", entry.name);
  return text + wrapped(entry.documentation, 100, "    ", "    ");
}

std::string section(const Entry& entry) {
  std::string text = fmt::format("### `{}`\n\n", entry.name);
  text += fmt::format("- Accepted: {}\n", entry.accepted);
  text += entry.fallback.empty() ? std::string("- Default: none\n")
                                 : fmt::format("- Default: `{}`\n", entry.fallback);
  if (!entry.environment.empty()) text += fmt::format("- Environment: `{}`\n", entry.environment);
  return text + "\n" + wrapped(entry.documentation, 100, "", "") + "\n";
}

constexpr std::string_view page_start = R"(# Configuration

<!-- Made by `afterbay settings --markdown` from the table of settings; a test compares the two. -->

## How settings are given

A setting has a dotted name, such as `memory.server`. It can be given in five places. Later places
in this list override earlier ones:

1. its default;
2. code: `SessionOptions::set("memory.server", "1GiB")` and its equivalents in C and Fortran;
3. a YAML file, named by `SessionOptions::config_file`, else by the environment variable
   `AFTERBAY_CONFIG`; the flag `--afterbay.config=FILE` overrides both;
4. the environment: `AFTERBAY_MEMORY_SERVER=1GiB` (dots become underscores);
5. the program's command line: `--afterbay.memory.server=1GiB` or `--afterbay.memory.server 1GiB`.

```yaml
afterbay:                # the session
  servers: 2
  memory:
    server: 1GiB         # the same as "memory.server: 1GiB"
  report: {table: on}

pools:                   # groups of servers, see below; without pools, all servers are one group
  fast:
    servers: 1
  slow:
    servers: 3
    memory: {server: 256MiB}
triggers:                # by name, see below
  archive:
    command: cp "$AFTERBAY_TRIGGER_FILE" /archive/

collections:             # by name, or by a pattern with * and ?
  "*":
    existing: replace
  history:
    store: cdf5
    pool: slow
  restart:
    deflate: 1
    variables:
      temperature:
        chunk: [1, 64, 64]
```

The configuration of a [collection](../glossary.md#collection) overrides what the code says about it
(`CollectionOptions`, and the schema for compression and chunks). If several entries match a
collection, their source decides first: a flag overrides the environment, and so on. Within one
source, an exact name overrides a pattern, and the later of two entries the earlier one. On the
command line and in code, these settings have names such as `collections.history.store`. In the
environment, one variable holds all of them: `AFTERBAY_COLLECTIONS='{history: {store: cdf5}}'`. The
same applies to [pools](../glossary.md#pool): `pools.slow.servers` and `AFTERBAY_POOLS`.

Unknown names, wrong types, values out of range and contradictory settings are refused when the
session opens. The message lists all problems, each with its place, the value found, what is
accepted and the nearest name. `afterbay check FILE` does the same without a run, and `afterbay
check FILE --show` prints every value with its origin. A flag or a variable may change the topology
of a run; settings from a lower source that do not apply to the new topology are then ignored.

Variables that begin with `AFTERBAY_` and are not settings are refused too. Exceptions are those
that locate the installation (`AFTERBAY_ROOT`, `_DIR`, `_HOME`, `_PREFIX`, `_VERSION`, `_LIB`,
`_INC`, `_INCLUDE`, and `_READER`: the program `afterbay-reader`, if it is not in
`libexec/afterbay/` of the installation) and those of the project's own build and tests
(`AFTERBAY_BUILD`, `_SOURCE`, `_PYTHON`, `AFTERBAY_TEST_*`, `AFTERBAY_BENCH_*`, `AFTERBAY_DEMO_*`).

Sizes are a number and `B`, `kB`, `MB`, `GB`, `TB` (powers of 1000) or `KiB`, `MiB`, `GiB`, `TiB`
(powers of 1024); without a unit they are bytes. Durations are a number and `ms`, `s`, `min` or `h`.
`true` and `false` are the same as `on` and `off`.

Terms such as [frame](../glossary.md#frame), [frontend](../glossary.md#frontend) and
[epoch](../glossary.md#epoch) are explained in the [glossary](../glossary.md).

)";

std::string three_columns(const std::vector<std::array<std::string, 3>>& rows) {
  std::size_t first = 0;
  std::size_t second = 0;
  for (const auto& row : rows) {
    first = std::max(first, row[0].size());
    second = std::max(second, row[1].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}  {:<{}}  {}\n", row[0], first, row[1], second, row[2]);
  }
  return text;
}

}  // namespace

std::string reference_page() {
  std::string text(page_start);
  text += "## The session\n\n";
  for (const Entry& entry : session_entries()) text += section(entry);
  text += "## Pools of servers\n\n";
  for (const Entry& entry : pool_entries()) text += section(entry);
  text += "## Collections and their variables\n\n";
  for (const Entry& entry : collection_entries()) text += section(entry);
  text +=
      "## Triggers\n\nHow to use them: [triggers](../how-to/triggers.md). In the environment: "
      "`AFTERBAY_TRIGGERS`.\n\n";
  for (const Entry& entry : trigger_entries()) text += section(entry);
  text.pop_back();  // one newline at the end of the file
  return text;
}

std::string list_settings() {
  std::vector<std::array<std::string, 3>> rows{{"SETTING", "DEFAULT", "ACCEPTED"}};
  for (const Entry& entry : all_entries()) {
    rows.push_back({entry.name, entry.fallback.empty() ? "-" : entry.fallback, entry.accepted});
  }
  return three_columns(rows);
}

std::vector<std::string> all_setting_names() {
  std::vector<std::string> names;
  for (const Entry& entry : all_entries()) names.push_back(entry.name);
  return names;
}

Result<std::string> explain_settings(const std::vector<std::string>& patterns) {
  const auto entries = all_entries();
  std::string text;
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (const Entry& entry : entries) {
      if (!glob_match(pattern, entry.name) && !entry.name.starts_with(pattern + ".")) continue;
      text += (text.empty() ? "" : "\n") + explain(entry);
      found = true;
    }
    if (!found) {
      return fail(ErrorCode::unknown_name, "no setting \"{}\"{}", pattern,
                  did_you_mean(pattern, all_setting_names()));
    }
  }
  return text;
}

std::map<std::string, std::string> given_settings(const Config& config) {
  std::map<std::string, std::string> given;
  for (const auto& setting : session_settings())
    if (config.origin(setting.name).source != Source::fallback) given[setting.name] = setting.print(config);
  for (const PoolOverride& item : config.overrides.pools) given[item.full_name()] = item.value;
  for (const CollectionOverride& item : config.overrides.collections) given[item.full_name()] = item.value;
  for (const triggers::Trigger& it : config.triggers.all)
    for (const auto& setting : trigger_settings())
      if (const std::string name = "triggers." + it.name + "." + setting.name; config.origins.contains(name))
        given[name] = setting.print(it);
  return given;
}

std::string show(const Config& config) {
  std::vector<std::array<std::string, 3>> rows{{"SETTING", "VALUE", "ORIGIN"}};
  for (const auto& setting : session_settings()) {
    const std::string value = setting.print(config);
    rows.push_back({setting.name, value.empty() ? "-" : value, config.origin(setting.name).place});
  }
  for (const PoolOverride& item : config.overrides.pools)
    rows.push_back({item.full_name(), item.value, item.origin.place});
  for (const CollectionOverride& item : config.overrides.collections) {
    rows.push_back({item.full_name(), item.value, item.origin.place});
  }
  for (const triggers::Trigger& it : config.triggers.all)
    for (const auto& setting : trigger_settings())
      if (const std::string name = "triggers." + it.name + "." + setting.name; config.origins.contains(name))
        rows.push_back({name, setting.print(it), config.origin(name).place});
  return three_columns(rows);
}

}  // namespace afterbay::config
