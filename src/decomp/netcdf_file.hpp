// SPDX-License-Identifier: Apache-2.0
// NetcdfFile: the subset of netCDF that decomposition files need. Integers are int64 in memory,
// whatever their type in the file; errors name file and variable.
#pragma once

#include <netcdf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "decomp/part_file.hpp"
#include "storage/reader/array_file.hpp"

namespace afterbay::decomp {

class NetcdfFile {
 public:
  /// Opens a file of any kind for reading. Fails if a classic file is shorter than its variables.
  static Result<NetcdfFile> open(const std::string& path);
  /// Creates a CDF-5 file, replacing an existing one. In define mode.
  static Result<NetcdfFile> create_classic(const std::string& path);
  /// Creates a netCDF-4 file in memory, to be written by close_into: on a full disk HDF5 can
  /// neither close its own file nor end. In define mode. `path`: for messages.
  static Result<NetcdfFile> create_in_memory(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return handle_->path; }

  /// Reading. Fails before reading if the values do not fit into memory.
  Result<std::optional<std::uint64_t>> find_dimension(const std::string& name) const;
  [[nodiscard]] bool has_variable(const std::string& name) const;
  [[nodiscard]] bool has_attribute(const std::string& variable, const std::string& name) const;
  Result<std::optional<std::string>> find_text(const std::string& variable, const std::string& name) const;
  /// A mandatory attribute; an empty `variable` is the file.
  Result<std::string> text(const std::string& variable, const std::string& name) const;
  Result<std::vector<std::int64_t>> integers(const std::string& variable, const std::string& name) const;
  /// The lengths of a variable with an integer type, in C order.
  Result<std::vector<std::uint64_t>> shape(const std::string& variable) const;
  /// The length of a variable with one dimension and an integer type.
  Result<std::uint64_t> length(const std::string& variable) const;
  Result<std::vector<std::int64_t>> read(const std::string& variable) const;  ///< all of it
  Result<std::vector<std::int64_t>> read(const std::string& variable, std::uint64_t start,
                                         std::uint64_t count) const;
  /// The first `count` values of one row of a variable with two dimensions.
  Result<std::vector<std::int64_t>> read_row(const std::string& variable, std::uint64_t row,
                                             std::uint64_t count) const;

  /// Writing. Names of dimensions and variables must be new.
  Result<int> add_dimension(const std::string& name, std::uint64_t length);
  Result<> add_variable(const std::string& name, nc_type type, std::optional<int> dimension);
  /// Sets compressed chunks with a checksum each, so that damage is detected when they are read.
  Result<> compress(const std::string& variable);
  Result<> put_text(const std::string& variable, const std::string& name, const std::string& value);
  Result<> put_integers(const std::string& variable, const std::string& name, nc_type type,
                        std::span<const std::int64_t> values);
  /// Ends define mode, and reserves space for a larger header later.
  Result<> end_definitions();
  Result<> define_more();
  Result<> write(const std::string& variable, std::uint64_t start, std::span<const std::int64_t> values);
  Result<> write_scalar(const std::string& variable, std::int64_t value);
  Result<> close();
  /// The same for a file in memory, which becomes the contents of `part`.
  Result<> close_into(PartFile& part);

 private:
  struct Handle {
    Handle(std::string path_in, bool writing_in) : path(std::move(path_in)), writing(writing_in) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle();
    std::string path;
    bool writing = false;
    int id = -1;                                 ///< netCDF id of a file that is written
    std::string name;                            ///< the file's name in netCDF
    std::unique_ptr<storage::ArrayFile> source;  ///< for reading
  };
  Result<> create(const std::string& at, int kind);
  explicit NetcdfFile(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}

  [[nodiscard]] int id() const noexcept { return handle_->id; }
  [[nodiscard]] Result<int> find(const std::string& variable) const;
  Result<const storage::ArrayVariable*> found(const std::string& variable) const;
  [[nodiscard]] const Values* attribute(const std::string& variable, const std::string& name) const;
  [[nodiscard]] Result<std::vector<std::int64_t>> read_box(const std::string& variable,
                                                           std::span<const std::uint64_t> start,
                                                           std::span<const std::uint64_t> count) const;
  [[nodiscard]] Result<> check_values(const std::string& variable, std::uint64_t count) const;
  [[nodiscard]] Error error(int status, const std::string& variable, const std::string& what) const;
  Result<> check(int status, const std::string& variable, const std::string& what) const;

  std::unique_ptr<Handle> handle_;
};

/// An error in the contents of a file, with its place.
template <class... Args>
tl::unexpected<Error> malformed(const NetcdfFile& file, const std::string& variable,
                                fmt::format_string<Args...> format, Args&&... args) {
  return fail(make_error(ErrorCode::format, format, std::forward<Args>(args)...)
                  .in_file(file.path())
                  .in_variable(variable));
}

}  // namespace afterbay::decomp
