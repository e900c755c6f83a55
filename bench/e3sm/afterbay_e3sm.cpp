// SPDX-License-Identifier: Apache-2.0
// E3SM's output by Afterbay: every map of the case is a decomposition, registered once; one put per
// variable and record. --mode dedicated (the last --servers ranks serve), synchronous or thread
// (inline).
#include <mpi.h>

#include <algorithm>

#include "afterbay/mpi.hpp"
#include "common/timing.hpp"
#include "e3sm/run.hpp"

namespace bench::e3sm {
namespace {

afterbay::SessionOptions session_options(const Options& options) {
  afterbay::SessionOptions session;
  session.name = "e3sm";
  session.set("report.table", "off");
  if (options.mode == "dedicated") {
    session.set("topology", "dedicated").set("servers", std::to_string(options.servers));
  } else {
    session.set("topology", "inline").set("inline.mode", options.mode);
  }
  session.arguments = options.settings;
  return session;
}

afterbay::Type library_type(Type type) {
  switch (type) {
    case Type::text: return afterbay::Type::text;
    case Type::int32: return afterbay::Type::int32;
    case Type::float32: return afterbay::Type::float32;
    case Type::float64: return afterbay::Type::float64;
  }
  return afterbay::Type::float64;
}

afterbay::Values values_of(const Attribute& attribute) {
  const std::vector<double>& numbers = attribute.numbers;
  switch (attribute.type) {
    case Type::text: return attribute.text;
    case Type::int32: return std::vector<std::int32_t>(numbers.begin(), numbers.end());
    case Type::float32: return std::vector<float>(numbers.begin(), numbers.end());
    case Type::float64: return numbers;
  }
  return {};
}

afterbay::Schema schema_of(const Case& source) {
  afterbay::Schema schema;
  for (const Dimension& dimension : source.dimensions) schema.dimension(dimension.name, dimension.length);
  for (const Variable& variable : source.variables) {
    afterbay::Variable& made =
        schema.variable(variable.name, library_type(variable.type), source.names_of(variable.dimensions));
    if (variable.map >= 0) made.on(source.maps[static_cast<std::size_t>(variable.map)].name);
    for (const Attribute& attribute : variable.attributes) {
      if (attribute.name == "_FillValue") {
        made.with_fill(values_of(attribute));
      } else {
        made.attribute(attribute.name, values_of(attribute));
      }
    }
  }
  for (const Attribute& attribute : source.attributes) schema.attribute(attribute.name, values_of(attribute));
  return schema;
}

class AfterbayWriter final : public Writer {
 public:
  AfterbayWriter(const Options& options, afterbay::Session& session, const Case& source, const Fields& fields)
      : session_(session), case_(source), fields_(fields) {
    for (const Map& map : source.maps) {
      afterbay::Map made;
      made.global = map.dims;
      made.indices = map.points;
      session.decomposition(map.name, made);
    }
    afterbay::CollectionOptions how;
    how.directory = options.directory;
    how.file = "e3sm.nc";
    how.store = options.store;
    history_ = session.collection("e3sm", schema_of(source), how);
    session.start();
  }

  void open() override { file_ = history_.open(); }

  void post(int record) override {
    for (const int position : case_.order) {
      const Variable& variable = case_.variables[static_cast<std::size_t>(position)];
      if (!variable.record && record > 0) continue;
      const std::uint64_t index = variable.record ? static_cast<std::uint64_t>(record) : afterbay::no_record;
      file_.put_raw(variable.name, index, fields_.data(position), library_type(variable.type), {}, true);
    }
  }

  void flush(int /*record*/) override { session_.end_step(); }
  void close() override { ticket_ = file_.close(); }
  void finish() override { session_.wait(ticket_); }

 private:
  afterbay::Session& session_;
  const Case& case_;
  const Fields& fields_;
  afterbay::Collection history_;
  afterbay::OutputFile file_;
  afterbay::Ticket ticket_;
};

/// Total peak memory of the servers; collective over all processes.
double servers_memory(bool serves, double own_mib) {
  const double mine = serves ? own_mib : 0;
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

void serve(const Options& options) {
  const MemoryWatch memory;
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, session_options(options));
  session.serve();
  const MemoryUse grown = memory.grown();
  servers_memory(true, grown.own_mib + grown.shared_mib);
}

void write(const Options& options, MPI_Comm model) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(model, &rank);
  MPI_Comm_size(model, &ranks);
  const Case source = load_case(options.case_file, rank, ranks, ArrayOrder::captured);
  Fields fields(source, rank);
  const CopyTime copied = options.copy ? copy_time(model, fields, options.records) : CopyTime();
  const MemoryWatch memory;
  const double start = now_s();
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, session_options(options));
  const double opened = now_s();
  AfterbayWriter writer(options, session, source, fields);
  const double registered = now_s();
  Timings timings = run_case(options, model, fields, writer);
  timings.setup_s = registered - start;
  timings.copy_s = copied.slowest_s;
  timings.copy_together_s = copied.together_s;
  const MemoryUse grown = memory.grown();
  session.finalize();
  nlohmann::json about = {{"program", "afterbay_e3sm"}, {"mode", options.mode}, {"store", options.store}};
  about["session_s"] = opened - start;
  about["registration_s"] = registered - opened;
  about["server_memory_mib"] = servers_memory(false, 0);
  report(options, source, model, fields, timings, grown, about);
}

void run(const Options& options) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int servers = options.mode == "dedicated" ? options.servers : 0;
  const bool serves = rank >= ranks - servers;
  MPI_Comm model = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, serves ? 1 : 0, rank, &model);
  if (serves) {
    serve(options);
  } else {
    write(options, model);
  }
  MPI_Comm_free(&model);
}

}  // namespace
}  // namespace bench::e3sm

int main(int argc, char** argv) {
  return bench::e3sm::run_program(
      argc, argv, "E3SM's output by Afterbay (--mode dedicated, synchronous, thread)", bench::e3sm::run);
}
