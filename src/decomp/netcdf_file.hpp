// SPDX-License-Identifier: Apache-2.0
// NetcdfFile: the little that decomposition files need of netCDF. Integers are int64 in memory, whatever
// they are in the file; errors name file and variable.
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
  /// Opens a file of any kind for reading. A classic file that is shorter than its variables is refused.
  static Result<NetcdfFile> open(const std::string& path);
  /// Makes a CDF-5 file, over one that exists. In define mode.
  static Result<NetcdfFile> create_classic(const std::string& path);
  /// Makes a netCDF-4 file in memory, to be written by close_into: on a full disk HDF5 can neither close a
  /// file of its own nor end. In define mode. `path`: for messages.
  static Result<NetcdfFile> create_in_memory(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return handle_->path; }

  /// Reading. What does not fit into memory is refused before any of it is read.
  Result<std::optional<std::uint64_t>> find_dimension(const std::string& name) const;
  [[nodiscard]] bool has_variable(const std::string& name) const;
  [[nodiscard]] bool has_attribute(const std::string& variable, const std::string& name) const;
  Result<std::optional<std::string>> find_text(const std::string& variable, const std::string& name) const;
  /// An attribute that must be there; an empty `variable` is the file.
  Result<std::string> text(const std::string& variable, const std::string& name) const;
  Result<std::vector<std::int64_t>> integers(const std::string& variable, const std::string& name) const;
  /// The lengths of a variable of an integer type, in C order.
  Result<std::vector<std::uint64_t>> shape(const std::string& variable) const;
  /// The length of a variable of one dimension and an integer type.
  Result<std::uint64_t> length(const std::string& variable) const;
  Result<std::vector<std::int64_t>> read(const std::string& variable) const;  ///< all of it
  Result<std::vector<std::int64_t>> read(const std::string& variable, std::uint64_t start,
                                         std::uint64_t count) const;
  /// The first `count` values of one row of a variable of two dimensions.
  Result<std::vector<std::int64_t>> read_row(const std::string& variable, std::uint64_t row,
                                             std::uint64_t count) const;

  /// Writing. Names of dimensions and variables must be new.
  Result<int> add_dimension(const std::string& name, std::uint64_t length);
  Result<> add_variable(const std::string& name, nc_type type, std::optional<int> dimension);
  /// Chunks, compressed, with a checksum each: what has changed on the disk is refused when it is read.
  Result<> compress(const std::string& variable);
  Result<> put_text(const std::string& variable, const std::string& name, const std::string& value);
  Result<> put_integers(const std::string& variable, const std::string& name, nc_type type,
                        std::span<const std::int64_t> values);
  /// Ends define mode, leaving room for a header that grows later.
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
    int id = -1;                                 ///< of a file that is written
    std::string name;                            ///< under which netCDF has it
    std::unique_ptr<storage::ArrayFile> source;  ///< what is read
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

/// A mistake in a file's contents, with the place where it is.
template <class... Args>
tl::unexpected<Error> malformed(const NetcdfFile& file, const std::string& variable,
                                fmt::format_string<Args...> format, Args&&... args) {
  return fail(make_error(ErrorCode::format, format, std::forward<Args>(args)...)
                  .in_file(file.path())
                  .in_variable(variable));
}

}  // namespace afterbay::decomp
