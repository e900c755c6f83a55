// SPDX-License-Identifier: Apache-2.0
// A model that keeps its files open and marks epochs: epoch_model DIRECTORY RECORDS. Values are
// derived from record and place, so that restored files can be checked. Every process writes its id
// to pid.ROLE.RANK.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "process_mark.hpp"

namespace {

using namespace afterbay;
using test::leave_mark;

constexpr std::uint64_t rows = 60, columns = 80;
constexpr std::uint64_t records_between_epochs = 3;

Schema schema_of(bool chunks) {
  Schema it;
  it.dimension("time", unlimited).dimension("lat", rows).dimension("lon", columns);
  it.variable("temperature", Type::float32, {"time", "lat", "lon"}).on("grid");
  if (chunks) {
    it.variable("rain", Type::float32, {"time", "lat", "lon"})
        .with_chunk({4, 30, 80})
        .with_deflate(1)
        .on("grid");
    it.variable("label", Type::string, {"time"});
  }
  return it;
}

void model(Session& session, const std::string& directory, std::uint64_t records) {
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const std::uint64_t first = rows * rank / ranks;
  const std::uint64_t mine = rows * (rank + 1) / ranks - first;
  session.decomposition("grid", Block{{rows, columns}, {first, 0}, {mine, columns}});
  OutputFile files[] = {
      session.collection("packed", schema_of(true), {.directory = directory, .existing = "replace"})
          .open("packed.nc"),
      session
          .collection("classic", schema_of(false),
                      {.directory = directory, .store = "cdf5", .existing = "replace"})
          .open("classic.nc")};
  std::vector<float> values(mine * columns);
  for (std::uint64_t record = 0; record < records; ++record) {
    for (std::uint64_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((record * 613 + first * columns + i) % 100'003);
    for (OutputFile& file : files) file.put("temperature", record, values.data());
    files[0].put("rain", record, values.data());
    files[0].put_strings("label", record, std::vector<std::string>{"record " + std::to_string(record)});
    session.end_step();
    if ((record + 1) % records_between_epochs == 0)
      (void)session.epoch(std::to_string(record + 1));  // a name equal to the number of another
                                                        // epoch
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
    leave_mark("pid", session, rank);
    if (session.is_server())
      session.serve();
    else
      model(session, argv[1], static_cast<std::uint64_t>(std::atoll(argv[2])));
  } catch (const Failure& failure) {
    std::cerr << "rank " << rank << ": " << failure.what() << std::endl;
    _exit(1);
  }
  MPI_Finalize();
}
