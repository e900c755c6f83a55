// SPDX-License-Identifier: Apache-2.0
// afterbay describe: checks an output description and prints what it resolves to, or what a run
// with it will do.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/new_file.hpp"
#include "command.hpp"
#include "describe/print.hpp"
#include "describe/read.hpp"
#include "describe/yaml.hpp"
#include "output/model_definitions.hpp"
#include "output/preview.hpp"
#include "preview.hpp"

namespace afterbay::app {

namespace {

struct DescribeOptions {
  std::vector<std::string> files;
  std::vector<std::string> variables;
  std::string calendar;
  std::string step;
  std::string definitions;
  std::string length;
  std::string drawing;
  std::int64_t model_ranks = 0;  ///< 0: as in the definitions
  std::int64_t servers = 0;
  bool definitions_page = false;
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

Exit refuse(const Error& error) {
  complain("describe", error.message);
  return exit_of(error.code);
}

/// Shows what a run will do. The description is read as by a run, which learns the calendar and the
/// step later.
Exit show_preview(const DescribeOptions& options, describe::ReadOptions read) {
  const auto model = output::read_definitions(options.definitions);
  if (!model) return refuse(model.error());
  output::PreviewOptions how;
  if (!options.length.empty()) how.length = Period::parse(options.length);
  how.processes = model->processes;
  if (options.model_ranks > 0) how.processes.model_ranks = options.model_ranks;
  if (options.servers > 0) how.processes.servers = options.servers;
  read.calendar.reset();
  const auto description = describe::read_files(options.files, read);
  if (!description) return refuse(description.error());
  ShownPreview shown{options.files, options.definitions, {}};
  try {
    shown.preview = output::preview(*description, *model, how);
  } catch (const Failure& failure) {
    return refuse(failure.error());
  }
  if (!options.drawing.empty())
    if (const int number = replace_file(options.drawing, preview_drawing(shown.preview)); number != 0)
      return refuse(make_error(ErrorCode::io, "--draw: '{}' cannot be written: {}", options.drawing,
                               std::strerror(number)));
  return show_text(options.json ? preview_json(shown) : preview_text(shown));
}

Exit describe_files(const DescribeOptions& options) {
  if (options.schema) return show_text(describe::json_schema());
  if (options.markdown) return show_text(describe::reference_page());
  if (options.definitions_page) return show_text(output::definitions_page());
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
  if (!options.definitions.empty()) return show_preview(options, read);
  const auto description = describe::read_files(options.files, read);
  if (!description) return refuse(description.error());
  const describe::Node node = describe::node_of(*description);
  return show_text(options.json ? describe::write_json(node) : describe::write_yaml(node));
}

Action prepare_describe(CLI::App& app) {
  auto options = std::make_shared<DescribeOptions>();
  auto* files = app.add_option("FILE", options->files, "YAML files that describe the output");
  app.add_option("--set", options->variables,
                 "NAME=VALUE, a value for ${NAME} in the files; it overrides the environment")
      ->allow_extra_args(false);
  auto* calendar = app.add_option("--calendar", options->calendar,
                                  "calendar of the model, for dates and multiples of periods");
  auto* step =
      app.add_option("--step", options->step, "time step of the model: periods must be multiples of it");
  auto* definitions =
      app.add_option("--definitions", options->definitions,
                     "print what a run will do; the FILE is written by a run with output.definitions")
          ->option_text("FILE")
          ->excludes(calendar)
          ->excludes(step);
  constexpr std::int64_t most_processes = 100'000'000;
  app.add_option("--length", options->length, "of the run, for example 30d or 100ts; default: 1y")
      ->check(CLI::Validator(
          [](const std::string& text) {
            try {
              const Period length = Period::parse(text);
              const bool good = !length.is_zero() && length.years >= 0 && length.months >= 0 &&
                                length.days >= 0 && length.seconds >= 0 && length.steps >= 0;
              return good ? std::string() : "expected a length of time above 0, found " + text;
            } catch (const Failure& failure) {
              return failure.error().message;
            }
          },
          "PERIOD"))
      ->needs(definitions);
  app.add_option("--model-ranks", options->model_ranks, "of the run; default: as in the definitions")
      ->check(CLI::Range(std::int64_t{1}, most_processes))
      ->needs(definitions);
  app.add_option("--servers", options->servers, "of the run; default: as in the definitions")
      ->check(CLI::Range(std::int64_t{1}, most_processes))
      ->needs(definitions);
  app.add_option("--draw", options->drawing, "also draw the fields, what is computed, and the files")
      ->option_text("FILE.svg")
      ->needs(definitions);
  app.add_flag("--no-environment", options->no_environment, "take ${NAME} only from --set");
  auto* json = app.add_flag("--json", options->json, "print JSON instead of YAML");
  auto* schema =
      app.add_flag("--schema", options->schema, "print the JSON Schema of descriptions, for editors")
          ->excludes(files)
          ->excludes(json);
  auto* markdown = app.add_flag("--markdown", options->markdown, "print the reference page")
                       ->excludes(files)
                       ->excludes(json)
                       ->excludes(schema);
  app.add_flag("--definitions-markdown", options->definitions_page,
               "print the reference page of files of definitions")
      ->excludes(files)
      ->excludes(json)
      ->excludes(schema)
      ->excludes(markdown);
  app.footer(
      "Prints every file with all its properties, after includes, variables, groups and inheritance have\n"
      "been resolved, as YAML that reads back to the same description. All problems are listed, with\n"
      "their places.\n"
      "With --definitions: prints the files, records, sizes, puts, memory and traffic of a run instead;\n"
      "names of fields and dimensions are then checked too.\n"
      "Read on: --markdown prints the reference of all keys; docs/how-to/describe-output.md is a guide,\n"
      "docs/reference/expressions.md has the functions (installed in share/doc/afterbay).\n"
      "Exit codes: 0 correct, 1 wrong, 2 wrong command line, 3 a file cannot be read.");
  return [options](const Invocation&) { return describe_files(*options); };
}

const Registration describe_registration(
    {.name = "describe",
     .summary = "checks an output description and prints what it resolves to or will do",
     .prepare = prepare_describe});

}  // namespace

}  // namespace afterbay::app
