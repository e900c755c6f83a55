// SPDX-License-Identifier: Apache-2.0
// Common parts of the storage tests: data to write, frames made from them as by a server, and an
// independent reader (netCDF-C).
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "model/layout.hpp"
#include "storage/memory/memory_store.hpp"
#include "storage/store.hpp"

namespace afterbay::test {

/// A temporary directory for one test, removed afterwards.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The numeric types and text, as far as the format supports them.
std::vector<Type> number_types(Format format);
/// One fixed, one record, one scalar and one record scalar variable of each type, with odd lengths.
Schema schema_of_types(Format format);
/// NetCDF-4 variables with all kinds of chunks: plain and encoded, of one and of several records,
/// fixed.
Schema filtered_schema();

/// Dense native-endian bytes of one record of a variable (record 0 for fixed ones).
using Source = std::function<std::vector<std::byte>(std::uint32_t variable, std::uint64_t record)>;

/// Different values at every point, variable and record.
Source sample_data(const Schema& schema, const model::FileLayout& layout);

/// Data that do not compress.
Source noise_data(const Schema& schema, const model::FileLayout& layout);

std::shared_ptr<const model::FileLayout> layout_of(const Schema& schema, Format format,
                                                   const model::LayoutSizes& sizes = {});

storage::FileRequest request_of(const std::string& path, const Schema& schema, Format format,
                                storage::Existing existing = storage::Existing::refuse,
                                const model::LayoutSizes& sizes = {});

/// Assembles a frame like a server (page-aligned, with the layout's phase, garbage between pieces)
/// and writes it. `epochs`: see PieceWrite.
Result<storage::WriteCost> write_frame(storage::File& file, const storage::FileRequest& request,
                                       std::size_t frame, std::uint64_t record, const Source& source,
                                       std::uint64_t epochs = 0);

/// The same for some pieces of a frame.
Result<storage::WriteCost> write_pieces(storage::File& file, const storage::FileRequest& request,
                                        const std::vector<model::Piece>& pieces, std::uint64_t record,
                                        const Source& source, std::uint64_t epochs = 0);

/// All record frames of a record, or (record < 0) all fixed frames.
void write_record(storage::File& file, const storage::FileRequest& request, std::uint64_t record,
                  const Source& source);
void write_fixed(storage::File& file, const storage::FileRequest& request, const Source& source);

/// Native values of a whole variable, read by netCDF-C.
struct ReadVariable {
  Type type = Type::text;
  std::vector<std::string> dimensions;
  std::vector<std::uint64_t> shape;
  Values values;
  std::map<std::string, Values> attributes;
};

struct ReadFile {
  int format = 0;  ///< NC_FORMAT_*
  std::vector<Dimension> dimensions;
  std::uint64_t records = 0;
  std::vector<std::string> order;  ///< names of the variables
  std::map<std::string, ReadVariable> variables;
  std::map<std::string, Values> attributes;
};

/// Reads a whole netCDF file with netCDF-C, or a file in a memory store.
ReadFile read_netcdf(const std::string& path);
ReadFile read_memory(const storage::MemoryStore& store, const std::string& path);

/// Expected values of a whole variable: `source` for the records in `written`, the fill value
/// elsewhere.
Values expected_values(const Schema& schema, const model::FileLayout& layout, std::uint32_t variable,
                       std::uint64_t records, const std::function<bool(std::uint64_t)>& written,
                       const Source& source);

/// Compares every numeric variable with the values of the source for `records` records.
void expect_contents(const ReadFile& file, const storage::FileRequest& request, std::uint64_t records,
                     const Source& source);

std::vector<std::byte> file_bytes(const std::string& path);
bool file_exists(const std::string& path);

/// Expects that the checksum returned by publishing is that of the file: CRC-64/XZ, computed here
/// bit by bit (none in memory).
void expect_checksum(const storage::FileRequest& request, const storage::Published& published);
void expect_checksum(const std::string& path, const storage::Published& published);

/// The output of a shell command; fails the test if its exit status is not 0.
std::string output_of(const std::string& command);

}  // namespace afterbay::test
