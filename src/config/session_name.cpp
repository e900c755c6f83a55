// SPDX-License-Identifier: Apache-2.0
#include "config/session_name.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/printable.hpp"

namespace afterbay::config {
namespace {

constexpr std::size_t longest_name = 100;  ///< leaves room in a file name
constexpr std::string_view session_mark = "{session}";

/// The problem with the name; empty: none.
std::string problem(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > longest_name)
    return fmt::format("it has {} bytes, at most {} are possible", name.size(), longest_name);
  if (name.front() == '.') return "it begins with '.'";
  if (const auto at = name.find_first_of("/{}"); at != std::string_view::npos)
    return fmt::format("it contains '{}'", name[at]);
  if (printable(name) != name)
    return "it contains a backslash, control characters or bytes that are not UTF-8";
  return {};
}

void replace_all(std::string& path, const std::string& name) {
  for (auto at = path.find(session_mark); at != std::string::npos;
       at = path.find(session_mark, at + name.size()))
    path.replace(at, session_mark.size(), name);
}

}  // namespace

Kind<std::string> session_name_kind() {
  Kind<std::string> kind = text(
      "name", "a name of 1 to 100 bytes without '/', '{', '}', '\\', control characters or a leading '.'");
  kind.parse = [accepted = kind.accepted](std::string_view found) -> Result<std::string> {
    if (const std::string wrong = problem(found); !wrong.empty())
      return fail(ErrorCode::invalid_argument, "expected {}, found \"{}\": {}", accepted, printable(found),
                  wrong);
    return std::string(found);
  };
  return kind;
}

Result<> name_session(Config& config, const std::string& name) {
  if (const std::string wrong = problem(name); !wrong.empty())
    return fail(ErrorCode::invalid_argument,
                "the program calls the session \"{}\", which is not a valid name: {}; expected {}",
                printable(name), wrong, session_name_kind().accepted);
  config.session = name;
  for (std::string* const path :
       {&config.report.json, &config.report.trace, &config.report.html, &config.report.prometheus,
        &config.journal.directory, &config.statistics.directory, &config.writing.spill.directory})
    replace_all(*path, name);
  return {};
}

const std::string& session_name(const Config& config, const std::string& program) {
  return config.session.empty() ? program : config.session;
}

}  // namespace afterbay::config
