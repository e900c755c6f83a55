// SPDX-License-Identifier: Apache-2.0
// Writes two records of eight points from all model ranks; the last rank is the I/O server.
#include <afterbay/version.h>
#include <afterbay/afterbay.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

static void write_hello(int argc, char** argv) {
  auto session = afterbay::open_session(
      MPI_COMM_WORLD, afterbay::SessionOptions{}.set("servers", "1").with_arguments(argc, argv));
  if (session.is_server()) {
    session.serve();
    return;
  }
  const int points = 8;
  const int count = points / session.model_size();
  const int start = count * session.model_rank();
  session.decomposition("line", {{points}, {start}, {count}});

  afterbay::Schema schema;
  schema.dimension("time", afterbay::unlimited).dimension("x", points);
  schema.variable("signal", afterbay::Type::float64, {"time", "x"}).on("line");
  auto collection = session.collection("hello", schema);
  auto file = collection.open();
  for (std::uint64_t record = 0; record < 2; ++record) {
    std::vector<double> signal;
    for (int i = 0; i < count; ++i) signal.push_back(10.0 * static_cast<double>(record) + start + i);
    file.put("signal", record, signal.data());
    session.end_step();
  }
  file.close();
  session.finalize();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    write_hello(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hello (library %s): %s\n", afterbay_version(), error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
