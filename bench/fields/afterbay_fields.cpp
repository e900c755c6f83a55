// SPDX-License-Identifier: Apache-2.0
// Fields that are put once per step; a description says what is written of them (--output mean,
// five, instant). --output calls: what calls cost for fields of which nothing is written in the
// step.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "afterbay/mpi.hpp"
#include "afterbay/output.hpp"
#include "common/timing.hpp"
#include "fields/case.hpp"
#include "fields/description.hpp"

namespace bench::fields {
namespace {

/// Cell centres from `first` on.
std::vector<double> coordinates(double first, double length, std::size_t count) {
  const double width = length / static_cast<double>(count);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(first + (static_cast<double>(i) + 0.5) * width);
  return values;
}

afterbay::Output define(const Case& of, afterbay::Session& session, const Model& model) {
  const Tile& tile = model.tile();
  session.decomposition(
      "grid",
      {{of.grid.lat, of.grid.lon}, {tile.lat_start, tile.lon_start}, {tile.lat_count, tile.lon_count}});
  afterbay::Output output(session,
                          {.calendar = afterbay::Calendar("noleap"),
                           .start = {.year = 2000, .month = 1, .day = 1},
                           .step = afterbay::Period::parse(std::to_string(1440 / of.steps_per_day) + "min")});
  output.dimension("lat", coordinates(-90, 180, of.grid.lat),
                   {.units = "degrees_north", .standard_name = "latitude"});
  output.dimension("lon", coordinates(0, 360, of.grid.lon),
                   {.units = "degrees_east", .standard_name = "longitude"});
  output.dimension("lev", coordinates(0, 1000, of.grid.levels), {.units = "hPa"});
  output.grid("grid", {"lat", "lon"}, "grid");
  for (const Field& field : model.fields())
    output.field(field.name,
                 {.grid = "grid",
                  .axes = field.deep ? std::vector<std::string>{"lev"} : std::vector<std::string>{},
                  .units = "K"});
  output.start();
  return output;
}

class AfterbayWriter final : public Writer {
 public:
  AfterbayWriter(const Case& of, afterbay::Session& session, const Model& model)
      : session_(session), output_(define(of, session, model)) {}

  void step(int number, const Model& model) override {
    output_.step(number);
    for (const Field& field : model.fields()) output_.put(field.name, model.values(field).data());
  }
  void finish() override {
    output_.finalize();
    session_.finalize();
  }

 private:
  afterbay::Session& session_;
  afterbay::Output output_;
};

/// The median over many batches, which call for each name once.
template <class Call>
double ns_per_call(const std::vector<std::string>& names, Call call) {
  constexpr int batches = 2001;
  std::vector<double> times_s;
  for (int batch = 0; batch < batches; ++batch) {
    const double start = now_s();
    for (const std::string& name : names) call(name);
    times_s.push_back(now_s() - start);
  }
  std::nth_element(times_s.begin(), times_s.begin() + batches / 2, times_s.end());
  return 1e9 * times_s[batches / 2] / static_cast<double>(names.size());
}

void measure_calls(const Case& of, afterbay::Session& session) {
  const double start = now_s();
  const Model model(of, tile_of(of.grid, session.model_rank(), session.model_size()));
  afterbay::Output output = define(of, session, model);
  output.step(1);
  std::vector<std::string> later;
  std::vector<std::string> unused;
  const std::vector<Field>& fields = model.fields();
  for (std::size_t i = 1; i < fields.size(); ++i)
    (i <= fields.size() / 2 ? later : unused).push_back(fields[i].name);
  const float* const data = model.values().data();
  const auto put = [&](const std::string& name) { output.put(name, data); };
  std::size_t wanted = 0;
  const auto ask = [&](const std::string& name) { wanted += output.wants(name) ? 1 : 0; };
  nlohmann::json line{{"program", "afterbay_fields"},
                      {"put_unused_ns", ns_per_call(unused, put)},
                      {"put_later_ns", ns_per_call(later, put)},
                      {"wants_unused_ns", ns_per_call(unused, ask)},
                      {"wants_later_ns", ns_per_call(later, ask)}};
  if (wanted != 0) throw std::runtime_error("a field is wanted in the first step of a month");
  output.put(fields.front().name, model.values(fields.front()).data());
  output.finalize();
  const int rank = session.model_rank();
  session.finalize();
  line["end_s"] = now_s() - start;
  if (rank == 0) std::printf("BENCH %s\n", line.dump().c_str());
}

/// Rank 0 writes it, for all.
std::string write_description(const Case& of) {
  const std::string path = of.directory + "/fields.yaml";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && !(std::ofstream(path) << description_of(of)).flush())
    throw std::runtime_error("cannot write " + path);
  MPI_Barrier(MPI_COMM_WORLD);
  return path;
}

void run(const Case& of) {
  afterbay::SessionOptions options;
  options.name = "bench";
  options.set("report.table", "off").set("servers", std::to_string(of.servers));
  options.set("output", write_description(of));
  options.arguments = of.settings;
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, options);
  if (session.is_server()) return session.serve();
  if (of.output == "calls") return measure_calls(of, session);
  MPI_Comm model = MPI_COMM_NULL;  // the session's own ends with it
  MPI_Comm_dup(afterbay::model_comm(session), &model);
  run_case(of, model, [&](const Model& it) { return std::make_unique<AfterbayWriter>(of, session, it); },
           {{"program", "afterbay_fields"}, {"output", of.output}});
  MPI_Comm_free(&model);
}

}  // namespace
}  // namespace bench::fields

int main(int argc, char** argv) {
  return bench::fields::run_program(
      argc, argv, "described output of fields (--output mean, five, instant, calls)", bench::fields::run);
}
