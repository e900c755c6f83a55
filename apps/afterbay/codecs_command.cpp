// SPDX-License-Identifier: Apache-2.0
// afterbay codecs: measures codecs on a file and prints the settings of the one that suits. Needs
// no MPI.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "codec/codec.hpp"
#include "codec_trial.hpp"
#include "command.hpp"
#include "observe/profile.hpp"
#include "observe/progress.hpp"

namespace afterbay::app {
namespace {

struct CodecsOptions {
  std::string file;
  std::string collection = "*";
  double every_s = 0;
  double share = 0.5;
  int writers = 1;
  std::uint64_t records = 2;
  std::uint64_t sample_mib = 32;
  std::vector<std::string> only;
};

std::string size_text(double bytes) { return observe::text_of_bytes(bytes); }

/// A comment line per trial, the smallest first.
std::string table_of(std::vector<CodecTrial> trials, const CodecTrial& chosen, double budget_s,
                     double plain_bytes) {
  std::ranges::stable_sort(trials, {}, &CodecTrial::bytes);
  std::string text = fmt::format("#   {:<24} {:>8} {:>22}\n", "filters", "size", "seconds per record");
  for (const CodecTrial& it : trials)
    text += fmt::format("#   {:<24} {:>6.1f} % {:>22.3g}{}\n", text_of(it.filters),
                        100 * it.bytes / plain_bytes, it.seconds,
                        it.filters == chosen.filters ? "  <- chosen"
                        : it.seconds > budget_s      ? "  too slow"
                                                     : "");
  return text;
}

std::string settings_of(const std::string& collection, const FilterLevels& filters) {
  std::string text = fmt::format("collections:\n  \"{}\":\n", collection);
  if (filters.empty()) return text + "    deflate: 0\n";
  for (const auto& [name, level] : filters) {
    const bool is_level = text_of({{name, level}}) != name;
    text += fmt::format("    {}: {}\n", name, is_level ? std::to_string(level) : "on");
  }
  return text;
}

Exit measure(const CodecsOptions& options) {
  const auto refuse = [](const Error& error) {
    complain("codecs", error.text());
    return exit_of_input(error.code);
  };
  auto file = InputFile::open(options.file);
  if (!file) return refuse(file.error());
  const auto samples = sample_chunks(*file, options.records, options.sample_mib << 20);
  if (!samples) return refuse(samples.error());
  std::vector<CodecTrial> trials;
  for (const FilterLevels& filters : chains_to_try(options.only)) {
    auto trial = try_filters(filters, *samples);
    if (!trial) return refuse(trial.error());
    trials.push_back(*std::move(trial));
  }
  const double budget_s = options.every_s * options.writers * options.share;
  const CodecTrial& chosen = trials[choose(trials, budget_s)];
  const double plain_bytes = trials.front().bytes;
  double measured = 0;
  for (const ChunkSample& sample : *samples)
    for (const auto& chunk : sample.chunks) measured += static_cast<double>(chunk.size());
  fmt::print("# Measured by afterbay codecs on {} of the first {} records of {}, with one core.\n",
             size_text(measured), options.records, options.file);
  fmt::print(
      "# A record has {}. The model takes {:g} s for it, in which {} writer{} ha{} {:.3g} s to encode "
      "it.\n#\n",
      size_text(plain_bytes), options.every_s, options.writers, options.writers == 1 ? "" : "s",
      options.writers == 1 ? "s" : "ve", budget_s);
  fmt::print("{}#\n", table_of(trials, chosen, budget_s, plain_bytes));
  fmt::print("# The smallest files among those in time. No filter changes values.\n{}",
             settings_of(options.collection, chosen.filters));
  return Exit::ok;
}

Action prepare_codecs(CLI::App& app) {
  auto options = std::make_shared<CodecsOptions>();
  app.add_option("FILE", options->file, "a netCDF file with records that the model has written")->required();
  app.add_option("--every", options->every_s, "seconds that the model takes from record to record")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_option("--writers", options->writers, "writers of all servers of the file that have a core each")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--share", options->share, "share of the writers' time for encoding; the rest is for I/O")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  app.add_option("--records", options->records, "number of records to measure, from the first on")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--sample", options->sample_mib, "MiB to measure at most, about")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  std::vector<std::string> compressors;
  for (const codec::Codec* const it : codec::codecs_of(codec::FilterKind::compress))
    if (it->lacks.empty()) compressors.emplace_back(it->name);
  app.add_option("--only", options->only,
                 fmt::format("compressors that readers have: {}", fmt::join(compressors, ", ")))
      ->delimiter(',')
      ->check(CLI::IsMember(compressors));
  app.add_option("--collection", options->collection, "name of the collection in the printed settings")
      ->capture_default_str();
  app.footer(
      "Encodes chunks of the file with each chain of filters and prints, as YAML with comments, the\n"
      "settings of the one that makes the smallest files and still keeps pace with the model.\n"
      "Exit codes: 0 measured, 2 wrong command line, 3 the file cannot be read.");
  return [options](const Invocation&) { return measure(*options); };
}

const Registration codecs_registration({.name = "codecs",
                                        .summary = "measures codecs on a file, for a model's pace",
                                        .prepare = prepare_codecs});

}  // namespace
}  // namespace afterbay::app
