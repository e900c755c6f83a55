// SPDX-License-Identifier: Apache-2.0
/// @file
/// InputFile: how a model reads fields while its output continues.
///
/// @code
/// InputFile restart = session.open_input("restart.nc");
/// restart.prefetch("temperature", {.record = 0, .decomposition = "grid"});   // returns at once
/// restart.get("temperature", {.record = 0, .decomposition = "grid"}, temperature.data());
/// restart.close();
/// @endcode
///
/// The I/O servers read and decode; a rank copies its part from their memory. Reads take precedence
/// over the writing of data that were put before. Any netCDF file can be read, whichever program
/// wrote it and on any number of ranks.
///
/// The rules of session.hpp apply, except that ranks need not make the same calls: only open_input
/// must be called by every model rank. All errors are thrown as Failure; an error in reading a file
/// leaves the session usable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/export.h"
#include "afterbay/schema.hpp"
#include "afterbay/types.hpp"

namespace afterbay {

/// The record of a variable without the unlimited dimension.
inline constexpr std::uint64_t no_record = ~std::uint64_t{0};

/// Which state of a file that this session itself writes is read.
enum class AFTERBAY_API AsOf {
  closed,     ///< after everything closed before under this name: open_input waits until it is
              ///< published
  published,  ///< the file under its final name as it is now; pending output is ignored
  /// For a file that is still open for output, in a collection with `readable: on`: the state of
  /// this session's last epoch, or a later one; open_input waits until that epoch is complete.
  /// Other files: as `closed`.
  epoch
};

/// How a file is opened for input.
struct AFTERBAY_API InputOptions {
  AsOf as_of = AsOf::closed;  ///< the state to read of a file that this session writes
};

/// The part of a variable that a rank reads; it may differ between ranks.
struct AFTERBAY_API Selection {
  std::uint64_t record = no_record;  ///< the first record, counted from 0
  std::uint64_t records = 1;         ///< the number of records, consecutive in the rank's array
  /// This rank's part of that decomposition, which may be registered after the file was opened.
  /// Elements of holes keep their values. A point that is listed more than once is read into each
  /// of its elements.
  /// Decompositions are checked in the same way for reading and writing. One whose lists overlap
  /// (halos) or leave points out must therefore be a Map registered with
  ///   session.decomposition("with halo", map, {.gaps_allowed = true, .repeats = Repeats::first});
  /// (or `last`, which reads the same values). For a Block with its halo use `block` instead.
  std::string decomposition = {};
  /// Any box, instead of a decomposition. `global` may be empty; otherwise it must be the
  /// variable's lengths.
  std::optional<Block> block = {};
  // With neither: the whole record.
};

/// A file open for input on this rank. A handle; copies name the same file.
class AFTERBAY_API InputFile {
 public:
  /// Reads into `data`, which points to the start of the rank's array with the layout `memory`
  /// (dense by default), and converts to T. Values that T cannot represent cause wrong_type, with
  /// their number, after all other values have been read.
  /// Waits until the servers have read the data, and as Session::start does if a decomposition is
  /// named and there are new definitions. With inline servers in synchronous mode every model rank
  /// calls it.
  /// Throws unknown_name (variable, decomposition), invalid_argument (record, box, null pointer),
  /// wrong_type, bad_state after close, and format or io if the file cannot be read.
  template <class T>
  void get(std::string_view variable, const Selection& what, T* data, const MemoryLayout& memory = {}) {
    get_raw(variable, what, data, type_of<T>, memory);
  }
  /// The same for a whole variable without the unlimited dimension.
  template <class T>
  void get(std::string_view variable, T* data, const MemoryLayout& memory = {}) {
    get_raw(variable, {}, data, type_of<T>, memory);
  }
  /// Reads all values of a string variable, for `record` if it has the unlimited dimension. Waits
  /// and throws as get does.
  [[nodiscard]] std::vector<std::string> get_strings(std::string_view variable,
                                                     std::uint64_t record = no_record);
  /// Asks the servers to read and decode ahead; a later `get` of the same data, by any rank, costs
  /// one copy. The data are kept while memory.input has room. Does not wait, except as
  /// Session::start does if a decomposition is named and there are new definitions. Throws as get
  /// does for invalid requests; errors in reading are thrown by `get`.
  void prefetch(std::string_view variable, const Selection& what);

  /// Dimensions, variables (with `chunk`, `deflate`, `shuffle`, `filters`) and attributes of the
  /// file. Groups and types that a Schema cannot hold are left out. Does not wait. Throws bad_state
  /// on an empty handle.
  [[nodiscard]] const Schema& schema() const;
  /// The number of records in the file. Does not wait. Throws bad_state on an empty handle.
  [[nodiscard]] std::uint64_t records() const;
  /// The file's path. Does not wait. Throws bad_state on an empty handle.
  [[nodiscard]] const std::string& path() const;
  /// Lets the servers close the file; requests made before are still served. Does not wait. Does
  /// nothing if it is closed already. Destroying the last handle also closes the file.
  void close();

  /// Like get, with the type as a value.
  void get_raw(std::string_view variable, const Selection& what, void* data, Type type,
               const MemoryLayout& memory);

  struct State;
  /// Internal: used by the library.
  explicit InputFile(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// An empty handle: every call throws bad_state.
  InputFile() = default;
  /// Throws bad_state if the handle is empty.
  [[nodiscard]] State& state() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace afterbay
