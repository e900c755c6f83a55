// SPDX-License-Identifier: Apache-2.0
// Baseline: all ranks write one CDF-5 file together with PnetCDF. --mode nonblocking: iput_varn for
// every variable and one wait_all per record; --mode blocking: put_varn_all for every variable;
// --mode vard: put_vard_all with one file type for all decomposed variables of a type. Hints and
// order as in E3SM-IO.
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
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

MPI_Datatype mpi_type_of(Type type) {
  switch (type) {
    case Type::text: return MPI_CHAR;
    case Type::int32: return MPI_INT;
    case Type::float32: return MPI_FLOAT;
    case Type::float64: return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

/// Start and count of every request of a variable, and pointers to them in the form of varn.
class Requests {
 public:
  Requests(std::size_t requests, std::size_t dimensions)
      : dimensions_(dimensions), values_(2 * requests * dimensions), pointers_(2 * requests) {
    for (std::size_t i = 0; i < pointers_.size(); ++i) pointers_[i] = values_.data() + i * dimensions;
  }
  Requests(Requests&&) = default;

  [[nodiscard]] int size() const { return static_cast<int>(pointers_.size() / 2); }
  [[nodiscard]] MPI_Offset** starts() { return pointers_.data(); }
  [[nodiscard]] MPI_Offset** counts() { return pointers_.data() + pointers_.size() / 2; }
  void set_record(MPI_Offset record) {
    for (int i = 0; i < size(); ++i) starts()[i][0] = record;
  }

 private:
  std::size_t dimensions_;
  std::vector<MPI_Offset> values_;
  std::vector<MPI_Offset*> pointers_;
};

/// For a variable on `map`: its pieces, preceded by the record dimension, if any.
Requests requests_of(const Map& map, bool record) {
  const std::vector<Piece> pieces = pieces_of(map);
  const std::size_t front = record ? 1 : 0;
  Requests requests(pieces.size(), front + map.dims.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    MPI_Offset* start = requests.starts()[i];
    MPI_Offset* count = requests.counts()[i];
    MPI_Offset rest = pieces[i].offset;
    for (std::size_t d = map.dims.size(); d-- > 0;) {
      const auto length = static_cast<MPI_Offset>(map.dims[d]);
      start[front + d] = rest % length;
      count[front + d] = d + 1 == map.dims.size() ? pieces[i].length : 1;
      rest /= length;
    }
    if (record) count[0] = 1;
  }
  return requests;
}

/// Bytes in the file or in memory, in elements of one type.
class Blocks {
 public:
  void add(MPI_Aint place, std::int64_t elements) {
    lengths_.push_back(static_cast<int>(elements));
    places_.push_back(place);
  }
  [[nodiscard]] MPI_Datatype type_of(MPI_Datatype element) const {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(lengths_.size()), lengths_.data(), places_.data(), element,
                             &type);
    MPI_Type_commit(&type);
    return type;
  }
  [[nodiscard]] bool empty() const { return lengths_.empty(); }

 private:
  std::vector<int> lengths_;
  std::vector<MPI_Aint> places_;
};

class PnetcdfWriter final : public Writer {
 public:
  PnetcdfWriter(const Options& options, const Case& source, const Fields& fields)
      : options_(options),
        case_(source),
        fields_(fields),
        blocking_(options.mode != "nonblocking"),
        vard_(options.mode == "vard") {
    if (vard_)
      for (const Map& map : source.maps) pieces_.push_back(pieces_of(map));
    path_ = options.directory + "/e3sm.nc";
    for (const Map& map : source.maps) {
      fixed_.push_back(requests_of(map, false));
      records_.push_back(requests_of(map, true));
    }
  }

  void open() override {
    MPI_Info hints = MPI_INFO_NULL;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_cb_write", "enable");
    MPI_Info_set(hints, "romio_no_indep_rw", "true");
    MPI_Info_set(hints, "nc_var_align_size", "1");
    MPI_Info_set(hints, "nc_in_place_swap", "enable");
    const int status = ncmpi_create(MPI_COMM_WORLD, path_.c_str(), NC_64BIT_DATA | NC_CLOBBER, hints, &id_);
    MPI_Info_free(&hints);
    check(status, "create");
    define();
  }

  void post(int record) override {
    for (Requests& requests : records_) requests.set_record(record);
    for (const int position : case_.order) {
      const Variable& variable = variable_at(position);
      if (!variable.record && record > 0) continue;
      if (variable.map < 0) {
        put_whole(position, variable, record);
      } else if (!vard_) {
        put_decomposed(position, variable);
      }
    }
    if (!vard_) return;
    for (const Type type : {Type::text, Type::int32, Type::float32, Type::float64})
      for (const bool records : {false, true})
        if (records || record == 0) put_together(type, records, record);
  }

  void flush(int /*record*/) override {
    if (!blocking_) check(ncmpi_wait_all(id_, NC_REQ_ALL, nullptr, nullptr), "wait for writes");
    MPI_Offset bytes = 0;
    if (ncmpi_inq_malloc_max_size(&bytes) == NC_NOERR) heap_bytes_ = std::max(heap_bytes_, bytes);
  }

  void close() override { check(ncmpi_close(id_), "close"); }
  void finish() override { finish_on_rank_0(options_, path_, MPI_COMM_WORLD); }

  /// The maximum memory that PnetCDF allocated on one rank; 0 if it was built without this
  /// statistic.
  [[nodiscard]] double library_mib() const override { return static_cast<double>(heap_bytes_) / (1 << 20); }

 private:
  [[nodiscard]] const Variable& variable_at(int position) const {
    return case_.variables[static_cast<std::size_t>(position)];
  }

  void put_decomposed(int position, const Variable& variable) {
    const auto map = static_cast<std::size_t>(variable.map);
    Requests& requests = variable.record ? records_[map] : fixed_[map];
    put(position, variable, requests.size(), requests.starts(), requests.counts());
  }

  /// One call for all decomposed variables of one type: records, or those without the record
  /// dimension.
  void put_together(Type type, bool records, int record) {
    std::vector<int> members;
    for (std::size_t i = 0; i < case_.variables.size(); ++i)
      if (const Variable& it = case_.variables[i]; it.map >= 0 && it.type == type && it.record == records)
        members.push_back(static_cast<int>(i));
    if (members.empty()) return;
    std::vector<MPI_Offset> begins;
    for (const int position : members) begins.push_back(begin_of(position));
    const MPI_Offset first = *std::min_element(begins.begin(), begins.end());
    const int leader =
        members[static_cast<std::size_t>(std::min_element(begins.begin(), begins.end()) - begins.begin())];
    MPI_Offset record_bytes = 0;
    check(ncmpi_inq_recsize(id_, &record_bytes), "record size");
    Blocks in_file;
    Blocks in_memory;
    const auto bytes = static_cast<MPI_Aint>(size_of(type));
    for (std::size_t m = 0; m < members.size(); ++m) {  // variables lie in the file in the order of
                                                        // the case
      const int position = members[m];
      const Variable& variable = variable_at(position);
      const MPI_Offset begin = begins[m] - first + (records ? record * record_bytes : 0);
      for (const Piece& piece : pieces_[static_cast<std::size_t>(variable.map)])
        in_file.add(static_cast<MPI_Aint>(begin + piece.offset * bytes), piece.length);
      MPI_Aint address = 0;
      MPI_Get_address(fields_.data(position), &address);
      if (fields_.count(position) > 0)
        in_memory.add(address, static_cast<std::int64_t>(fields_.count(position)));
    }
    MPI_Datatype file_type = in_file.type_of(mpi_type_of(type));
    MPI_Datatype memory_type = in_memory.type_of(mpi_type_of(type));
    check(ncmpi_put_vard_all(id_, ids_[static_cast<std::size_t>(leader)], file_type, MPI_BOTTOM,
                             in_memory.empty() ? 0 : 1, memory_type),
          "put_vard_all");
    MPI_Type_free(&file_type);
    MPI_Type_free(&memory_type);
  }

  MPI_Offset begin_of(int position) {
    MPI_Offset begin = 0;
    check(ncmpi_inq_varoffset(id_, ids_[static_cast<std::size_t>(position)], &begin), "place of a variable");
    return begin;
  }

  /// Rank 0 writes it.
  void put_whole(int position, const Variable& variable, int record) {
    std::vector<MPI_Offset> start(variable.dimensions.size() + 1, 0);
    std::vector<MPI_Offset> count(1, 1);  // for a scalar nothing is read
    if (!variable.dimensions.empty()) count.clear();
    for (const int dimension : variable.dimensions) {
      const std::size_t length = case_.dimensions[static_cast<std::size_t>(dimension)].length;
      count.push_back(length == 0 ? 1 : static_cast<MPI_Offset>(length));
    }
    if (variable.record) start[0] = record;
    MPI_Offset* starts[] = {start.data()};
    MPI_Offset* counts[] = {count.data()};
    put(position, variable, fields_.writes(position) ? 1 : 0, starts, counts);
  }

  void put(int position, const Variable& variable, int requests, MPI_Offset* const* starts,
           MPI_Offset* const* counts) {
    const void* data = fields_.data(position);
    const auto elements = static_cast<MPI_Offset>(requests == 0 ? 0 : fields_.count(position));
    const MPI_Datatype type = mpi_type_of(variable.type);
    const int id = ids_[static_cast<std::size_t>(position)];
    if (blocking_ && variable.dimensions.empty()) {  // varn without requests would hang; all ranks have the
                                                     // same value
      check(ncmpi_put_var_all(id_, id, data, 1, type), variable.name);
    } else if (blocking_) {
      check(ncmpi_put_varn_all(id_, id, requests, starts, counts, data, elements, type), variable.name);
    } else if (requests > 0) {
      check(ncmpi_iput_varn(id_, id, requests, starts, counts, data, elements, type, nullptr), variable.name);
    }
  }

  void define() {
    std::vector<int> dimensions;
    for (const Dimension& dimension : case_.dimensions) {
      const MPI_Offset length =
          dimension.length == 0 ? NC_UNLIMITED : static_cast<MPI_Offset>(dimension.length);
      check(ncmpi_def_dim(id_, dimension.name.c_str(), length, &dimensions.emplace_back()), dimension.name);
    }
    for (const Variable& variable : case_.variables) {
      std::vector<int> on;
      for (const int position : variable.dimensions)
        on.push_back(dimensions[static_cast<std::size_t>(position)]);
      const int status = ncmpi_def_var(id_, variable.name.c_str(), nc_type_of(variable.type),
                                       static_cast<int>(on.size()), on.data(), &ids_.emplace_back());
      check(status, variable.name);
      for (const Attribute& attribute : variable.attributes) describe(ids_.back(), attribute);
    }
    for (const Attribute& attribute : case_.attributes) describe(NC_GLOBAL, attribute);
    check(ncmpi_enddef(id_), "end definitions");
  }

  void describe(int variable, const Attribute& attribute) {
    const char* name = attribute.name.c_str();
    if (attribute.type == Type::text) {
      const auto length = static_cast<MPI_Offset>(attribute.text.size());
      check(ncmpi_put_att_text(id_, variable, name, length, attribute.text.data()), attribute.name);
    } else {
      const auto length = static_cast<MPI_Offset>(attribute.numbers.size());
      check(ncmpi_put_att_double(id_, variable, name, nc_type_of(attribute.type), length,
                                 attribute.numbers.data()),
            attribute.name);
    }
  }

  void check(int status, const std::string& what) const {
    if (status != NC_NOERR) throw std::runtime_error(path_ + ": " + what + ": " + ncmpi_strerror(status));
  }

  const Options& options_;
  const Case& case_;
  const Fields& fields_;
  bool blocking_;
  bool vard_;
  std::vector<std::vector<Piece>> pieces_;  ///< by map, of --mode vard
  std::string path_;
  int id_ = -1;
  std::vector<int> ids_;
  std::vector<Requests> fixed_;    ///< by map
  std::vector<Requests> records_;  ///< by map
  MPI_Offset heap_bytes_ = 0;
};

void run(const Options& options) {
  if (options.mode != "blocking" && options.mode != "nonblocking" && options.mode != "vard")
    throw std::invalid_argument("--mode is '" + options.mode + "'; give blocking, nonblocking or vard");
  run_baseline(options, ArrayOrder::ascending,
               {{"program", "pnetcdf_e3sm"}, {"mode", options.mode}, {"library", ncmpi_inq_libvers()}},
               [&](const Case& source, const Fields& fields) {
                 return std::make_unique<PnetcdfWriter>(options, source, fields);
               });
}

}  // namespace
}  // namespace bench::e3sm

int main(int argc, char** argv) {
  return bench::e3sm::run_program(
      argc, argv, "E3SM's output by PnetCDF, CDF-5 (--mode blocking, nonblocking, vard)", bench::e3sm::run);
}
