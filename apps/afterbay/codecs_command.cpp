// SPDX-License-Identifier: Apache-2.0
// afterbay codecs: measures codecs on a file and prints the settings of the one that suits. Needs
// no MPI.
#include <fmt/format.h>

#include <memory>

#include "codec/trial.hpp"
#include "codec_samples.hpp"
#include "command.hpp"
#include "observe/profile.hpp"
#include "observe/progress.hpp"

namespace afterbay::app {
namespace {

struct CodecsOptions {
  std::string file;
  std::string collection = "*";
  double every_s = 0;
  double share = codec::usual_share;
  int writers = 1;
  std::uint64_t records = 2;
  std::uint64_t sample_mib = 32;
  std::vector<std::string> only;
};

std::string size_text(double bytes) { return observe::text_of_bytes(bytes); }

Exit measure(const CodecsOptions& options) {
  const auto refuse = [](const Error& error) {
    complain("codecs", error.text());
    return exit_of_input(error.code);
  };
  auto file = NetcdfReader::open(options.file);
  if (!file) return refuse(file.error());
  const auto samples = sample_chunks(*file, options.records, options.sample_mib << 20);
  if (!samples) return refuse(samples.error());
  std::vector<codec::Trial> trials;
  for (const codec::FilterLevels& filters : codec::chains_to_try(options.only)) {
    auto trial = try_filters(filters, *samples);
    if (!trial) return refuse(trial.error());
    trials.push_back(*std::move(trial));
  }
  const double budget_s = options.every_s * options.writers * options.share;
  const codec::Trial& chosen = trials[codec::choose(trials, budget_s)];
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
  fmt::print("{}#\n", codec::table_of(trials, chosen.filters, budget_s, plain_bytes));
  fmt::print("# The smallest files among those in time. No filter changes values.\n{}",
             codec::settings_of(options.collection, chosen.filters));
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
  const std::vector<std::string> compressors = codec::compressors_here();
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
