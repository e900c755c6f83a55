// SPDX-License-Identifier: Apache-2.0
// E3SM-IO's combined decomposition file: several maps of one number of ranks in one netCDF file.
// Its converter has written three layouts.
//
// Since 2020 ("fills"), which is what E3smWriter writes. For map k:
//
//   D<k>.nreqs(decomp_nprocs)        (offset, length) pairs of each rank; they follow each other
//                                    rank by rank
//   D<k>.fill_starts(decomp_nprocs)  how many of a rank's pairs it holds; the others are points
//                                    that nobody holds, distributed to be written with fill values
//   D<k>.offsets, D<k>.lengths       0-based, row-major; no pair goes beyond an end of the last
//                                    dimension
//   D<k>.raw_nreqs, D<k>.raw_offsets the list that the pairs were made from, point by point,
//                                    1-based, without the holes; may be missing
//   attributes D<k>.ndims, .dims (C order), .max_nreqs, .min_nreqs, .fully_covered
//   attributes of D<k>.lengths       max, min: of the pairs that are held
//
// The pairs are in the order of the list (the converter sorts them only when it is asked to).
//
// 2019 ("pairs"): the same without fill_starts, fully_covered and raw lists. All pairs are held.
//
// 2018 ("padded"), the layout of the published 866x72_16p.nc, of the F case only:
//
//   D<k>.nreqs(num_procs)                    points of each rank
//   D<k>.offsets(num_procs, D<k>.max_nreqs)  a row per rank: its points, 0-based, row-major, then
//                                            padding
//   attributes dim_len_Y, dim_len_X          D1 and D2 lie on (dim_len_X), D3 on
//                                            (dim_len_Y, dim_len_X)
//   attributes D<k>.max_nreqs, .min_nreqs
#pragma once

#include <string>
#include <vector>

#include "decomp/decomposition.hpp"
#include "decomp/netcdf_file.hpp"

namespace afterbay::decomp {

/// Whether the file has one of the layouts.
Result<bool> is_e3sm_file(const NetcdfFile& file);

/// Map `index` of a file with the layout of 2018.
Result<Decomposition> read_padded_map(const NetcdfFile& file, std::size_t ranks, std::size_t index);

class E3smReader {
 public:
  static Result<E3smReader> open(NetcdfFile file);

  [[nodiscard]] std::size_t maps() const noexcept { return maps_; }
  /// Map `index` from 0, named D1, D2, ... Its lists are the raw ones, or the pairs if those are
  /// missing; holes were lost when the file was created. Redundant information is compared, which
  /// takes one bit of memory per point.
  Result<Decomposition> read(std::size_t index) const;

 private:
  E3smReader(NetcdfFile file, std::size_t maps, std::size_t ranks, bool padded)
      : file_(std::move(file)), padded_(padded), maps_(maps), ranks_(ranks) {}
  static Result<E3smReader> open_padded(NetcdfFile file, std::size_t ranks);
  NetcdfFile file_;
  bool padded_;  ///< the layout of 2018
  std::size_t maps_;
  std::size_t ranks_;
};

/// Writes a CDF-5 file, with int if the values allow it and int64 otherwise. Names and holes are
/// lost. Points that no rank holds are distributed evenly, in ascending order, as pairs to be
/// filled.
class E3smWriter {
 public:
  static Result<E3smWriter> create(const std::string& path, std::size_t maps, std::size_t ranks,
                                   const std::string& command_line);
  Result<> add(const Decomposition& map);
  Result<> close() { return file_.close(); }

 private:
  E3smWriter(NetcdfFile file, std::size_t ranks, int rank_dimension)
      : file_(std::move(file)), ranks_(ranks), rank_dimension_(rank_dimension) {}
  NetcdfFile file_;
  std::size_t ranks_;
  int rank_dimension_;
  std::size_t written_ = 0;
};

}  // namespace afterbay::decomp
