// SPDX-License-Identifier: Apache-2.0
// A model without any `catch` that makes the mistake named by its first argument.
#include <mpi.h>

#include <string>
#include <vector>

#include "afterbay/afterbay.hpp"

namespace {

using namespace afterbay;

constexpr std::uint64_t nx = 16, ny = 4;

void run(Session& session, const std::string& mistake) {
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const std::uint64_t start = mistake == "outside" && rank == 1 ? 9 : rank * nx / 2;
  session.decomposition("grid", Block{{ny, nx}, {0, start}, {ny, nx / 2}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", ny).dimension("x", nx);
  auto& height = schema.variable("height", Type::float32, {"time", "y", "x"}).with_fill(-999);
  if (mistake != "nowhere") height.on("grid");
  if (mistake == "never_put") {
    schema.variable("depth", Type::float32, {"y", "x"}).on("grid");
    schema.variable("crs", Type::int32, {});
    schema.variable("y", Type::float64, {"y"}).with_constant(std::vector<int>{1, 2, 3, 4});
  }
  if (mistake == "constant")
    schema.variable("y", Type::int8, {"y"}).with_constant(std::vector<int>{1, 2, 3, 400});
  Collection collection = session.collection("history", schema, {.file = "out.nc"});
  OutputFile file = collection.open();
  OutputFile second;
  if (mistake == "never_put") second = collection.open({.name = "out.nc2"});
  const std::vector<float> values(ny * nx / 2, 1.0F);
  const std::vector<char> text(ny * nx / 2, 'a');
  const std::vector<std::uint64_t> shape{ny, nx / 2};
  for (std::uint64_t record = 0; record < 2; ++record) {
    if (mistake == "text") file.put("height", record, text.data());
    MemoryLayout memory;
    memory.shape = shape;
    file.put("height", record, values.data(), memory);
    if (mistake == "twice" && record == 1) file.put("height", record, values.data());
    session.end_step();
  }
  file.close();
  session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  SessionOptions options;
  const std::string mistake = argv[1];
  if (mistake == "setting") options.set("no.such.setting", "1");
  Session session = open_session(MPI_COMM_WORLD, options.with_arguments(argc, argv));
  if (session.is_server())
    session.serve();
  else
    run(session, mistake);
  MPI_Finalize();
  return 0;
}
