// SPDX-License-Identifier: Apache-2.0
// Baseline: all ranks write one netCDF-4 file together with the parallel builds of netCDF and HDF5.
// The library takes one request at a time, so every piece needs a call. The pieces are written
// independently, because collective calls would need the same number on all ranks. The first
// request of a variable is collective: it allocates the record.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <stdexcept>

#include "e3sm/run.hpp"

namespace bench::e3sm {
namespace {

nc_type nc_type_of(Type type) {
  switch (type) {
    case Type::text: return NC_CHAR;
    case Type::int32: return NC_INT;
    case Type::float32: return NC_FLOAT;
    case Type::float64: return NC_DOUBLE;
  }
  return NC_NAT;
}

class ParallelWriter final : public Writer {
 public:
  ParallelWriter(const Options& options, const Case& source, const Fields& fields)
      : options_(options), case_(source), fields_(fields), path_(options.directory + "/e3sm.nc") {
    for (const Map& map : source.maps) pieces_.push_back(pieces_of(map));
  }

  void open() override {
    // With dimension scales attached, defining hundreds of variables in parallel fails in HDF5
    // (netcdf-c #2251).
    const int how = NC_NETCDF4 | NC_CLOBBER | NC_NODIMSCALE_ATTACH;
    check(nc_create_par(path_.c_str(), how, MPI_COMM_WORLD, MPI_INFO_NULL, &id_), "create");
    check(nc_set_fill(id_, NC_NOFILL, nullptr), "set fill mode");
    define();
  }

  void post(int record) override {
    for (const int position : case_.order) {
      const Variable& variable = case_.variables[static_cast<std::size_t>(position)];
      if (!variable.record && record > 0) continue;
      const std::vector<Piece> whole = {{0, static_cast<std::int64_t>(variable.points)}};
      put(position, variable, variable.map < 0 ? whole : pieces_[static_cast<std::size_t>(variable.map)],
          record);
    }
  }

  void flush(int /*record*/) override {}
  void close() override { check(nc_close(id_), "close"); }
  void finish() override { finish_on_rank_0(options_, path_, MPI_COMM_WORLD); }

 private:
  /// All ranks write the first piece together, possibly an empty one.
  void put(int position, const Variable& variable, const std::vector<Piece>& pieces, int record) {
    const std::size_t mine = fields_.writes(position) ? pieces.size() : 0;
    const int id = ids_[static_cast<std::size_t>(position)];
    const std::byte* data = fields_.data(position);
    access(id, NC_COLLECTIVE);
    put_piece(id, variable, mine > 0 ? pieces[0] : Piece{0, 0}, record, data);
    if (variable.map < 0) return;
    access(id, NC_INDEPENDENT);
    for (std::size_t i = 1; i < mine; ++i) {
      data += static_cast<std::size_t>(pieces[i - 1].length) * size_of(variable.type);
      put_piece(id, variable, pieces[i], record, data);
    }
  }

  void put_piece(int id, const Variable& variable, const Piece& piece, int record, const std::byte* data) {
    std::size_t start[NC_MAX_VAR_DIMS] = {0};
    std::size_t count[NC_MAX_VAR_DIMS] = {1};
    const std::size_t dimensions = variable.dimensions.size();
    auto rest = static_cast<std::size_t>(piece.offset);
    for (std::size_t d = dimensions; d-- > 0;) {
      const std::size_t length = length_of(variable, d);
      start[d] = length == 0 ? static_cast<std::size_t>(record) : rest % length;
      count[d] = 1;
      if (variable.map < 0 && length > 0) count[d] = length;
      if (variable.map >= 0 && d + 1 == dimensions) count[d] = static_cast<std::size_t>(piece.length);
      if (length > 0) rest /= length;
    }
    if (piece.length == 0) std::fill_n(count, dimensions, 0);
    if (dimensions == 0 && piece.length == 0) {  // a scalar has no count that could be 0
      put_scalar_with_rank_0(id, data);
      return;
    }
    check(nc_put_vara(id_, id, start, count, data), variable.name);
  }

  /// All ranks hold the same value.
  void put_scalar_with_rank_0(int id, const std::byte* data) {
    check(nc_put_var(id_, id, data), "write scalar");
  }

  [[nodiscard]] std::size_t length_of(const Variable& variable, std::size_t dimension) const {
    return case_.dimensions[static_cast<std::size_t>(variable.dimensions[dimension])].length;
  }

  void access(int variable, int kind) { check(nc_var_par_access(id_, variable, kind), "change access"); }

  void define() {
    std::vector<int> dimensions;
    for (const Dimension& dimension : case_.dimensions) {
      check(nc_def_dim(id_, dimension.name.c_str(), dimension.length, &dimensions.emplace_back()),
            dimension.name);
    }
    for (const Variable& variable : case_.variables) {
      std::vector<int> on;
      for (const int position : variable.dimensions)
        on.push_back(dimensions[static_cast<std::size_t>(position)]);
      const int status = nc_def_var(id_, variable.name.c_str(), nc_type_of(variable.type),
                                    static_cast<int>(on.size()), on.data(), &ids_.emplace_back());
      check(status, variable.name);
      if (variable.record) chunk_by_record(variable, ids_.back());
      for (const Attribute& attribute : variable.attributes) describe(ids_.back(), attribute);
    }
    for (const Attribute& attribute : case_.attributes) describe(NC_GLOBAL, attribute);
    check(nc_enddef(id_), "end definitions");
  }

  void chunk_by_record(const Variable& variable, int id) {
    std::vector<std::size_t> chunk;
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
      chunk.push_back(std::max<std::size_t>(1, length_of(variable, d)));
    }
    check(nc_def_var_chunking(id_, id, NC_CHUNKED, chunk.data()), "chunk " + variable.name);
  }

  void describe(int variable, const Attribute& attribute) {
    const char* name = attribute.name.c_str();
    const int status =
        attribute.type == Type::text
            ? nc_put_att_text(id_, variable, name, attribute.text.size(), attribute.text.data())
            : nc_put_att_double(id_, variable, name, nc_type_of(attribute.type), attribute.numbers.size(),
                                attribute.numbers.data());
    check(status, attribute.name);
  }

  void check(int status, const std::string& what) const {
    if (status != NC_NOERR) throw std::runtime_error(path_ + ": " + what + ": " + nc_strerror(status));
  }

  const Options& options_;
  const Case& case_;
  const Fields& fields_;
  std::string path_;
  int id_ = -1;
  std::vector<int> ids_;
  std::vector<std::vector<Piece>> pieces_;  ///< by map
};

void run(const Options& options) {
  run_baseline(options, ArrayOrder::ascending,
               {{"program", "parallel_netcdf_e3sm"}, {"library", nc_inq_libvers()}},
               [&](const Case& source, const Fields& fields) {
                 return std::make_unique<ParallelWriter>(options, source, fields);
               });
}

}  // namespace
}  // namespace bench::e3sm

int main(int argc, char** argv) {
  return bench::e3sm::run_program(argc, argv, "E3SM's output by parallel netCDF-4", bench::e3sm::run);
}
