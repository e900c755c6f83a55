// SPDX-License-Identifier: Apache-2.0
/// @file
/// InputFile: how a model reads fields while its output goes on.
///
/// @code
/// InputFile restart = session.open_input("restart.nc");
/// restart.prefetch("temperature", {.record = 0, .decomposition = "grid"});   // returns at once
/// restart.get("temperature", {.record = 0, .decomposition = "grid"}, temperature.data());
/// restart.close();
/// @endcode
///
/// The I/O servers read and decode; a rank copies its part out of their memory. Reads overtake the writing
/// of what was put before. Any netCDF file can be read, whoever wrote it and on however many ranks.
///
/// The rules of session.hpp hold, except that ranks need not make the same calls: only open_input is called
/// by every model rank. All errors are thrown as Failure; an error in reading a file leaves the session
/// usable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/types.hpp"

namespace afterbay {

/// The record of a variable without the unlimited dimension.
inline constexpr std::uint64_t no_record = ~std::uint64_t{0};

/// Which state of a file is read that this session itself writes.
enum class AsOf {
  closed,     ///< after all that was closed before under this name: open_input waits until it is published
  published,  ///< as it is under its final name now, whatever is on its way
  /// Of a file that is still open for output, in a collection with `readable: on`: the state of this
  /// session's last epoch, or a later one; open_input waits until that epoch is complete. As `closed` for
  /// other files.
  epoch
};

/// How a file is opened for input.
struct InputOptions {
  AsOf as_of = AsOf::closed;  ///< which state of a file that this session writes
};

/// What of a variable a rank reads. Every rank may ask for something else.
struct Selection {
  std::uint64_t record = no_record;  ///< the first; counted from 0
  std::uint64_t records = 1;         ///< how many: one after the other in the rank's array
  /// This rank's part of that decomposition; it may be registered after the file was opened. Elements of
  /// holes keep their values. A point that is listed more than once is read into each of its elements.
  /// A decomposition is checked alike whether it serves for reading or writing, so one whose lists overlap
  /// (halos), or leave points out, is a Map that is registered with
  ///   session.decomposition("with halo", map, {.gaps_allowed = true, .repeats = Repeats::first});
  /// (`last` does as well: what is read is the same). For a Block with its halo give `block` instead.
  std::string decomposition = {};
  /// Any box, instead of a decomposition: `global` may be empty, else it must be the variable's lengths.
  std::optional<Block> block = {};
  // With neither: all of the record.
};

/// A file open for input on this rank. A handle; copies name the same file.
class InputFile {
 public:
  /// Reads into `data`, which points to the start of the rank's array, whose layout is `memory` (dense by
  /// default); converts to T on the way. Values that T cannot hold make it fail with wrong_type, which
  /// tells how many they are, when all others have been read.
  /// Waits until the servers have read it. With inline servers in synchronous mode every model rank calls it.
  /// Throws unknown_name (variable, decomposition), invalid_argument (record, box, null pointer), wrong_type,
  /// bad_state after close, and format or io if the file cannot be read.
  template <class T>
  void get(std::string_view variable, const Selection& what, T* data, const MemoryLayout& memory = {}) {
    get_raw(variable, what, data, type_of<T>, memory);
  }
  /// The same for all of a variable without the unlimited dimension.
  template <class T>
  void get(std::string_view variable, T* data, const MemoryLayout& memory = {}) {
    get_raw(variable, {}, data, type_of<T>, memory);
  }
  /// All values of a string variable, of `record` if it has the unlimited dimension. Waits and throws as get
  /// does.
  [[nodiscard]] std::vector<std::string> get_strings(std::string_view variable,
                                                     std::uint64_t record = no_record);
  /// Has the servers read and decode ahead; a later `get` of the same, by any rank, costs one copy. It is
  /// kept while memory.input has room. Does not wait. Throws as get does for what is wrong in the request;
  /// errors in reading are thrown by `get`.
  void prefetch(std::string_view variable, const Selection& what);

  /// Dimensions, variables (with `chunk`, `deflate`, `shuffle`) and attributes as the file has them. Groups,
  /// and types that a Schema cannot hold, are left out.
  [[nodiscard]] const Schema& schema() const;
  /// How many records the file has.
  [[nodiscard]] std::uint64_t records() const;
  /// The file's path.
  [[nodiscard]] const std::string& path() const;
  /// Lets the servers close the file. Does not wait; does nothing if it is closed already. Destroying the
  /// last handle closes the file too.
  void close();

  /// As get, with the type as a value.
  void get_raw(std::string_view variable, const Selection& what, void* data, Type type,
               const MemoryLayout& memory);

  struct State;
  /// For the library.
  explicit InputFile(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// An empty handle: every call throws bad_state.
  InputFile() = default;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace afterbay
