// SPDX-License-Identifier: Apache-2.0
// afterbay index: writes beside GRIB files where each message lies. Needs no MPI.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/new_file.hpp"
#include "command.hpp"
#include "standard_output.hpp"
#include "storage/grib2/message_index.hpp"

namespace afterbay::app {
namespace {

struct IndexOptions {
  std::vector<std::string> files;
  bool print = false;
};

/// A line per message, as ECMWF publishes its open data with: JSON, `_offset` and `_length` in
/// bytes.
std::string line_of(const storage::grib2::IndexedMessage& message) {
  nlohmann::ordered_json line;
  for (const auto& [key, value] : message.keys) line[key] = value;
  line["_offset"] = message.offset_bytes;
  line["_length"] = message.size_bytes;
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Exit index_file(const std::string& path, bool print) {
  std::string text;
  const auto indexed = storage::grib2::index_messages(
      path, [&](const storage::grib2::IndexedMessage& message) { text += line_of(message); });
  if (!indexed) {
    complain("index", indexed.error().text());
    return exit_of_input(indexed.error().code);
  }
  if (print) {
    fmt::print("{}", text);
    return Exit::ok;
  }
  const std::string name = path + ".index";
  if (const int number = replace_file(name, text); number != 0) {
    complain("index", fmt::format("cannot write {}: {}", name, std::strerror(number)));
    return Exit::io;
  }
  return Exit::ok;
}

Exit index_files(const IndexOptions& options) {
  Exit worst = Exit::ok;
  for (const std::string& path : options.files)
    if (const Exit code = index_file(path, options.print); code != Exit::ok) worst = code;
  return worst;
}

Action prepare_index(CLI::App& app) {
  auto options = std::make_shared<IndexOptions>();
  app.add_option("FILE", options->files, "GRIB files")->required();
  app.add_flag("--print", options->print, "print the lines, and write no file");
  app.footer(
      "Writes FILE.index: one line of JSON per message, with the keys of MARS, `_offset` and\n"
      "`_length` in bytes, as ECMWF's open data have it. Readers fetch single fields with it, also\n"
      "over a network. An index of an earlier file of this name is replaced.\n"
      "Exit codes: 0 written, 2 wrong command line or no ecCodes, 3 a file cannot be read or written,\n"
      "or is not a GRIB file; the other files are still indexed.");
  return [options](const Invocation&) { return index_files(*options); };
}

const Registration index_registration({.name = "index",
                                       .summary = "writes where the messages of GRIB files lie",
                                       .prepare = prepare_index});

}  // namespace
}  // namespace afterbay::app
