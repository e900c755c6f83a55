// SPDX-License-Identifier: Apache-2.0
#include "manual.hpp"

#include <fmt/format.h>

#include "afterbay/version.h"
#include "command.hpp"

namespace afterbay::app {

namespace {

/// Plain text for roff: backslashes, hyphens and lines that look like requests are escaped.
std::string escaped(std::string_view text) {
  std::string roff;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) roff += "\\&";
    if (c == '\\')
      roff += "\\(rs";
    else if (c == '-')
      roff += "\\-";
    else
      roff += c;
    line_begins = c == '\n';
  }
  return roff;
}

/// Options, then subcommands with theirs. `path` is the command including its parents.
std::string section_of(const CLI::App& app, const std::string& path) {
  std::string page = fmt::format(".SS {}\n{}.\n", escaped(path), escaped(app.get_description()));
  for (const CLI::Option* option : app.get_options()) {
    std::string name = option->get_name(option->get_positional(), true);
    if (!option->get_type_name().empty() && !option->get_positional()) name += " " + option->get_type_name();
    page += fmt::format(".TP\n.B {}\n{}\n", escaped(name), escaped(option->get_description()));
  }
  for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; }))
    page += section_of(*inner, path + " " + inner->get_name());
  return page;
}

/// Preformatted lines.
std::string preformatted(const std::string& text) { return ".nf\n" + escaped(text) + ".fi\n"; }

}  // namespace

std::string manual_page(const CLI::App& root) {
  std::string page = fmt::format(
      ".TH AFTERBAY 1 \"\" \"Afterbay {}\" \"Afterbay\"\n"
      ".SH NAME\nafterbay \\- I/O servers for Earth\\-system models: checks, tools and a server program\n"
      ".SH SYNOPSIS\n.B afterbay\n.I COMMAND\n[options] [\\-\\-afterbay.NAME=VALUE ...]\n"
      ".SH COMMANDS\n",
      AFTERBAY_VERSION);
  for (const Command& command : commands())
    page += section_of(*root.get_subcommand(command.name), "afterbay " + command.name);
  page += ".SH EXIT STATUS\n" + preformatted(exit_codes_text());
  page += ".SH ENVIRONMENT\n.TP\n.B AFTERBAY_CONFIG\nA YAML file with settings.\n";
  page += ".TP\n.B AFTERBAY_READER\nThe program that opens netCDF\\-4 input, instead of the installed one.\n";
  page +=
      ".TP\n.B AFTERBAY_NAME\nA setting: AFTERBAY_MEMORY_SERVER=256MiB is "
      "\\-\\-afterbay.memory.server=256MiB.\n";
  page += ".SH SEE ALSO\n.B afterbay help\n.IR COMMAND ,\n.B afterbay settings\n.IR NAME ,\n";
  page += "and the tutorial in share/doc/afterbay/docs/tutorial.md of the installation.\n";
  return page;
}

}  // namespace afterbay::app
