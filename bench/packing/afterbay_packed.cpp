// SPDX-License-Identifier: Apache-2.0
// A session that writes real fields, packed in some way: several files at once, a record of each
// per step. --mode dedicated (the last --servers ranks serve), synchronous (the model packs and
// writes itself), none (no output). A step is: pause, compute, output; with --reference then
// compute again and a plain copy of the same arrays.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include "afterbay/mpi.hpp"
#include "afterbay/session.hpp"
#include "common/copy_reference.hpp"
#include "common/timing.hpp"
#include "packing/case.hpp"

namespace bench::packing {
namespace {

constexpr std::chrono::milliseconds time_to_allocate{500};  // a server allocates ahead of need

struct Quantity {
  const char* name;
  const char* standard_name;
  const char* units;
};
constexpr std::array<Quantity, 4> quantities{{{"ta", "air_temperature", "K"},
                                              {"ua", "eastward_wind", "m s-1"},
                                              {"va", "northward_wind", "m s-1"},
                                              {"wap", "lagrangian_tendency_of_air_pressure", "Pa s-1"}}};

struct Options {
  DataOptions data;
  std::string mode = "dedicated";
  std::string store = "netcdf4";
  std::vector<std::string> attributes;  ///< NAME=VALUE, for all variables
  std::string directory = ".";
  int servers = 1;
  int files = 1;
  std::size_t variables = 1;  ///< number per file
  int steps = 10;
  int warm_up_steps = 0;
  double pause_ms = 0;
  double compute_ms = 0;
  bool reference = false;
  std::vector<std::string> settings;  ///< arguments that begin with --afterbay.
};

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> own;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes a vector in reverse order
    const std::string argument = argv[i];
    const bool setting = argument.starts_with("--afterbay.");
    (setting ? options.settings : own).push_back(argument);
  }
  CLI::App app("packed output of real fields");
  options.data.add_to(app);
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"dedicated", "synchronous", "none"}));
  app.add_option("--store", options.store);
  app.add_option("--attribute", options.attributes, "NAME=VALUE, of all variables");
  app.add_option("--dir", options.directory)->check(CLI::ExistingDirectory);
  app.add_option("--servers", options.servers)->check(CLI::PositiveNumber);
  app.add_option("--files", options.files, "written at the same time")->check(CLI::PositiveNumber);
  app.add_option("--variables", options.variables, "of each file")
      ->check(CLI::Range(std::size_t{1}, quantities.size()));
  app.add_option("--steps", options.steps)->check(CLI::PositiveNumber);
  app.add_option("--warm-up-steps", options.warm_up_steps, "written to other files before the clock starts");
  app.add_option("--pause-ms", options.pause_ms, "per step: the model waits, as for an accelerator");
  app.add_option("--compute-ms", options.compute_ms, "per step: the model keeps a core busy");
  app.add_flag("--reference", options.reference, "compute again and copy the same arrays");
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

std::vector<double> coordinates(double first, double distance, std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(first + distance * static_cast<double>(i));
  return values;
}

/// NAME=VALUE; the value may be an integer.
void set_attribute(afterbay::Variable& variable, const std::string& text) {
  const std::size_t at = std::min(text.find('='), text.size() - 1);
  const std::string value = text.substr(at + 1);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size())
    variable.attribute(text.substr(0, at), number);
  else
    variable.attribute(text.substr(0, at), value);
}

/// A regional grid, of which every store has the coordinates.
afterbay::Schema schema_of(const Options& options, const Data& data) {
  constexpr double south = 50, west = 1, distance = 0.01, lowest_hpa = 1000, thickness_hpa = 10;
  afterbay::Schema schema;
  schema.dimension("time", afterbay::unlimited).dimension("plev", data.levels);
  schema.dimension("lat", data.rows).dimension("lon", data.columns);
  schema.variable("time", afterbay::Type::float64, {"time"})
      .attribute("standard_name", "time")
      .attribute("units", "hours since 2026-11-01");
  schema.variable("plev", afterbay::Type::float64, {"plev"})
      .attribute("standard_name", "air_pressure")
      .attribute("units", "hPa")
      .with_constant(afterbay::Values(coordinates(lowest_hpa, -thickness_hpa, data.levels)));
  schema.variable("lat", afterbay::Type::float64, {"lat"})
      .attribute("standard_name", "latitude")
      .attribute("units", "degrees_north")
      .with_constant(afterbay::Values(coordinates(south, distance, data.rows)));
  schema.variable("lon", afterbay::Type::float64, {"lon"})
      .attribute("standard_name", "longitude")
      .attribute("units", "degrees_east")
      .with_constant(afterbay::Values(coordinates(west, distance, data.columns)));
  for (std::size_t v = 0; v < options.variables; ++v) {
    const Quantity& quantity = quantities[v];
    auto& variable = schema.variable(quantity.name, afterbay::Type::float32, {"time", "plev", "lat", "lon"})
                         .on("grid")
                         .attribute("standard_name", quantity.standard_name)
                         .attribute("units", quantity.units);
    if (options.store == "netcdf4") variable.with_chunk({1, data.levels, data.rows, data.columns});
    if (data.missing == data.missing) variable.with_fill(afterbay::Values(data.missing));
    for (const std::string& attribute : options.attributes) set_attribute(variable, attribute);
  }
  return schema;
}

class Writer {
 public:
  virtual ~Writer() = default;
  virtual void open(int /*first*/) {}
  virtual void put(std::uint64_t /*record*/) {}
  virtual void close() {}
  /// Returns when all files are durable.
  virtual void finish() {}
  virtual void warm_up() {}
};

class AfterbayWriter final : public Writer {
 public:
  AfterbayWriter(const Options& options, const Data& data, afterbay::Session& session)
      : options_(options), data_(data), session_(session) {
    if (session.model_size() > 1) throw std::runtime_error("the model must be one rank");
    session.decomposition("grid", {{data.rows, data.columns}, {0, 0}, {data.rows, data.columns}});
    afterbay::CollectionOptions how;
    how.directory = options.directory;
    how.file = "packed.{step}";
    how.store = options.store;
    collection_ = session.collection("packed", schema_of(options, data), how);
    session.start();
  }

  void open(int first) override {
    files_.clear();
    for (int file = 0; file < options_.files; ++file) {
      afterbay::FileName name;
      name.step = first + file;
      files_.push_back(collection_.open(name));
    }
  }
  void put(std::uint64_t record) override {
    const auto hours = static_cast<double>(record);
    for (afterbay::OutputFile& file : files_) {
      file.put("time", record, &hours);
      for (std::size_t v = 0; v < options_.variables; ++v)
        file.put(quantities[v].name, record, data_.chunk(v % data_.copies).data());
    }
    session_.end_step();
  }
  void close() override {
    for (afterbay::OutputFile& file : files_) tickets_.push_back(file.close());
  }
  void finish() override {
    for (const afterbay::Ticket ticket : tickets_) session_.wait(ticket);
    tickets_.clear();
  }

  /// Twice, because servers allocate ahead of need while they are idle (see afterbay_history).
  void warm_up() override {
    for (int time = 0; time < 2 && options_.warm_up_steps > 0; ++time) {
      open(1000);
      for (int step = 0; step < options_.warm_up_steps; ++step) put(static_cast<std::uint64_t>(step));
      close();
      finish();
      for (int file = 0; file < options_.files; ++file)
        std::filesystem::remove(options_.directory + "/packed." + std::to_string(1000 + file));
      std::this_thread::sleep_for(time_to_allocate);
    }
  }

 private:
  const Options& options_;
  const Data& data_;
  afterbay::Session& session_;
  afterbay::Collection collection_;
  std::vector<afterbay::OutputFile> files_;
  std::vector<afterbay::Ticket> tickets_;
};

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::uintmax_t bytes_on_disk(const Options& options) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(options.directory))
    if (entry.path().filename().string().starts_with("packed.")) bytes += entry.file_size();
  return bytes;
}

void run_model(const Options& options, const Data& data, Writer& writer) {
  const std::size_t per_file = options.variables * data.chunk_bytes();
  const std::size_t step_bytes = per_file * static_cast<std::size_t>(options.files);
  std::optional<CopyReference> copies;
  if (options.reference) copies.emplace(step_bytes, 1);
  std::vector<std::span<const std::byte>> arrays;
  for (int file = 0; file < options.files; ++file)
    for (std::size_t v = 0; v < options.variables; ++v)
      arrays.push_back(std::as_bytes(data.chunk(v % data.copies)));
  writer.warm_up();
  if (copies) copies->copy(arrays);

  std::vector<double> blocked_s, copy_s;
  const double cpu_start = process_cpu_s();
  const double start = now_s();
  for (int step = 0; step < options.steps; ++step) {
    if (options.pause_ms > 0)
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(options.pause_ms));
    compute_for(options.compute_ms);
    const double before = now_s();
    if (step == 0) writer.open(0);
    writer.put(static_cast<std::uint64_t>(step));
    if (step == options.steps - 1) writer.close();
    blocked_s.push_back(now_s() - before);
    if (!copies) continue;
    compute_for(options.compute_ms);
    const double before_copy = now_s();
    copies->copy(arrays);
    copy_s.push_back(now_s() - before_copy);
  }
  const double waiting = now_s();
  writer.finish();
  const double end = now_s();
  nlohmann::json line{
      {"program", "afterbay_packed"},
      {"mode", options.mode},
      {"end_s", end - start},
      {"finish_s", end - waiting},
      {"cpu_s", process_cpu_s() - cpu_start},
      {"steps", options.steps},
      {"bytes", step_bytes * static_cast<std::size_t>(options.steps)},
      {"disk_bytes", bytes_on_disk(options)},
      {"blocked_s", {{"max", sum(blocked_s)}, {"longest", *std::ranges::max_element(blocked_s)}}}};
  if (copies) line["copy_s"] = {{"max", sum(copy_s)}};
  std::printf("BENCH %s\n", line.dump().c_str());
  std::fflush(stdout);
}

void run(const Options& options) {
  if (options.mode == "none") {
    const Data data = options.data.load();
    Writer none;
    return run_model(options, data, none);
  }
  afterbay::SessionOptions session_options;
  session_options.name = "bench";
  session_options.set("report.table", "off");
  if (options.mode == "dedicated")
    session_options.set("topology", "dedicated").set("servers", std::to_string(options.servers));
  else
    session_options.set("topology", "inline").set("inline.mode", "synchronous");
  session_options.arguments = options.settings;
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, session_options);
  if (session.is_server()) return session.serve();
  const Data data = options.data.load();
  AfterbayWriter writer(options, data, session);
  run_model(options, data, writer);
  session.finalize();
}

}  // namespace
}  // namespace bench::packing

int main(int argc, char** argv) {
  const bench::packing::Options options = bench::packing::parse(argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    bench::packing::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
