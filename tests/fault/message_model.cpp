// SPDX-License-Identifier: Apache-2.0
// A model that keeps a file of messages open and marks epochs: message_model STORE DIRECTORY
// RECORDS. Every process writes its id to pid.ROLE.RANK. The humidity is put in every second record
// only, so that later messages wait.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "process_mark.hpp"

namespace {

using namespace afterbay;

constexpr std::uint64_t rows = 31, columns = 60;
constexpr std::uint64_t records_between_epochs = 3;

Schema make_schema(const std::string& store) {
  std::vector<double> latitudes(rows), longitudes(columns);
  for (std::uint64_t j = 0; j < rows; ++j) latitudes[j] = 90.0 - 6.0 * static_cast<double>(j);
  for (std::uint64_t i = 0; i < columns; ++i) longitudes[i] = 6.0 * static_cast<double>(i);
  Schema it;
  it.dimension("time", unlimited).dimension("lat", rows).dimension("lon", columns);
  it.variable("time", Type::float64, {"time"}).attribute("units", "hours since 2000-01-01");
  it.variable("lat", Type::float64, {"lat"})
      .attribute("units", "degrees_north")
      .with_constant(Values(latitudes));
  it.variable("lon", Type::float64, {"lon"})
      .attribute("units", "degrees_east")
      .with_constant(Values(longitudes));
  for (const auto& [name, standard_name, units] :
       {std::tuple{"hurs", "relative_humidity", "%"}, std::tuple{"ts", "surface_temperature", "K"}})
    it.variable(name, Type::float32, {"time", "lat", "lon"})
        .on("grid")
        .attribute("standard_name", standard_name)
        .attribute("units", units);
  if (store != "pp" && store != "fieldsfile") return it;
  it.find_variable("hurs")->attribute("PP_stash", "m01s30i206").attribute("PP_accuracy", -4);
  it.find_variable("ts")->attribute("PP_accuracy", -8);
  return it;
}

void model(Session& session, const std::string& store, const std::string& directory, std::uint64_t records) {
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const std::uint64_t first = rows * rank / ranks;
  const std::uint64_t mine = rows * (rank + 1) / ranks - first;
  session.decomposition("grid", Block{{rows, columns}, {first, 0}, {mine, columns}});
  OutputFile file = session
                        .collection("forecast", make_schema(store),
                                    {.directory = directory, .store = store, .existing = "replace"})
                        .open("out." + store);
  std::vector<float> values(mine * columns);
  for (std::uint64_t record = 0; record < records; ++record) {
    for (std::uint64_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((record * 613 + first * columns + i) % 101);
    const auto hours = static_cast<double>(record);
    file.put("ts", record, values.data());
    if (record % 2 == 0) file.put("hurs", record, values.data());
    file.put("time", record, &hours);
    session.end_step();
    if ((record + 1) % records_between_epochs == 0) (void)session.epoch(std::to_string(record + 1));
  }
  session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    Session session = open_session(MPI_COMM_WORLD, SessionOptions().with_arguments(argc, argv));
    test::leave_mark("pid", session, rank);
    if (session.is_server())
      session.serve();
    else
      model(session, argv[1], argv[2], static_cast<std::uint64_t>(std::atoll(argv[3])));
  } catch (const Failure& failure) {
    std::cerr << "rank " << rank << ": " << failure.what() << std::endl;
    _exit(1);
  }
  MPI_Finalize();
}
