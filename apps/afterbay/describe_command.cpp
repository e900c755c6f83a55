// SPDX-License-Identifier: Apache-2.0
// afterbay describe: checks an output description and prints what it resolves to.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "describe/print.hpp"
#include "describe/read.hpp"
#include "describe/yaml.hpp"

namespace afterbay::app {

namespace {

struct DescribeOptions {
  std::vector<std::string> files;
  std::vector<std::string> variables;
  std::string calendar;
  std::string step;
  bool json = false;
  bool schema = false;
  bool markdown = false;
  bool no_environment = false;
};

/// Throws Failure if an option is wrong.
describe::ReadOptions read_options(const DescribeOptions& options) {
  describe::ReadOptions read;
  if (options.no_environment) read.environment.emplace();
  if (!options.calendar.empty()) read.calendar = Calendar(options.calendar);
  if (!options.step.empty()) read.step = Period::parse(options.step);
  if (read.step && (read.step->is_zero() || read.step->steps != 0))
    throw Failure(make_error(ErrorCode::invalid_argument,
                             "--step: expected the length of a time step, for example 30min, found \"{}\"",
                             options.step));
  for (const std::string& text : options.variables) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw Failure(
          make_error(ErrorCode::invalid_argument, "--set: expected NAME=VALUE, found \"{}\"", text));
    read.variables.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  }
  return read;
}

Exit show_text(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Exit::ok;
}

Exit describe_files(const DescribeOptions& options) {
  if (options.schema) return show_text(describe::json_schema());
  if (options.markdown) return show_text(describe::reference_page());
  if (options.files.empty()) {
    complain("describe", "FILE is required\nTry: afterbay describe --help");
    return Exit::usage;
  }
  describe::ReadOptions read;
  try {
    read = read_options(options);
  } catch (const Failure& failure) {
    complain("describe", failure.error().message);
    return Exit::usage;
  }
  const auto description = describe::read_files(options.files, read);
  if (!description) {
    complain("describe", description.error().message);
    return exit_of(description.error().code);
  }
  const describe::Node node = describe::node_of(*description);
  return show_text(options.json ? describe::write_json(node) : describe::write_yaml(node));
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<DescribeOptions>();
  auto* files = app.add_option("FILE", options->files, "YAML files that describe the output");
  app.add_option("--set", options->variables,
                 "NAME=VALUE, a value for ${NAME} in the files; it overrides the environment")
      ->allow_extra_args(false);
  app.add_option("--calendar", options->calendar,
                 "calendar of the model, for dates and multiples of periods");
  app.add_option("--step", options->step, "time step of the model: periods must be multiples of it");
  app.add_flag("--no-environment", options->no_environment, "take ${NAME} only from --set");
  auto* json = app.add_flag("--json", options->json, "print JSON instead of YAML");
  auto* schema =
      app.add_flag("--schema", options->schema, "print the JSON Schema of descriptions, for editors")
          ->excludes(files)
          ->excludes(json);
  app.add_flag("--markdown", options->markdown, "print the reference page")
      ->excludes(files)
      ->excludes(json)
      ->excludes(schema);
  app.footer(
      "Prints every file with all its properties, after includes, variables, groups and inheritance have\n"
      "been resolved, as YAML that reads back to the same description. All problems are listed, with\n"
      "their places.\n"
      "Exit codes: 0 correct, 1 wrong, 2 wrong command line, 3 a file cannot be read.");
  return [options](const Invocation&) { return describe_files(*options); };
}

const Registration registration({.name = "describe",
                                 .summary = "checks an output description and prints what it resolves to",
                                 .prepare = prepare});

}  // namespace

}  // namespace afterbay::app
