// SPDX-License-Identifier: Apache-2.0
// Common parts of the input tests: files written by third-party software, and comparison with the
// data that netCDF-C reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/store_harness.hpp"
#include "storage/input/stored_file.hpp"

namespace afterbay::test {

/// Makes a file from CDL text; `kind` as ncgen's -k: "classic", "64-bit offset", "cdf5", "nc4".
void make_from_cdl(const std::string& cdl, const std::string& path, const std::string& kind = "nc4");

/// Whether a Python with these modules is available.
bool python_has(const std::string& modules);
/// Runs a script with that Python, with `path` in `sys.argv[1]`; fails the test if it fails.
void run_python(const std::string& script, const std::string& path);

/// Opens for input; if that fails, fails the test and throws.
std::unique_ptr<storage::StoredFile> open_input(const std::string& path,
                                                storage::DirectIo direct_io = storage::DirectIo::automatic);

/// Number of a variable in the schema.
std::uint32_t number_of(const storage::StoredFile& file, std::string_view variable);
/// All values of a record, or of a fixed variable.
model::Box whole_of(const storage::StoredFile& file, std::uint32_t variable);
model::Box box_of(std::vector<std::uint64_t> start, std::vector<std::uint64_t> count);

/// Values of a part; fails the test if reading fails.
std::vector<std::byte> read_box(storage::StoredFile& file, std::uint32_t variable, std::uint64_t record,
                                const model::Box& box);
/// All values of one record, as numbers of type T.
template <class T>
std::vector<T> read_whole(storage::StoredFile& file, std::string_view variable, std::uint64_t record = 0) {
  const std::uint32_t number = number_of(file, variable);
  const std::vector<std::byte> bytes = read_box(file, number, record, whole_of(file, number));
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Expects the same values, dimensions and attributes as netCDF-C reads: every whole variable, and
/// random parts of every record.
void expect_as_netcdf(storage::StoredFile& file);

/// The error of reading a whole record; fails the test if there is none.
Error read_error(storage::StoredFile& file, std::string_view variable, std::uint64_t record = 0);

}  // namespace afterbay::test
