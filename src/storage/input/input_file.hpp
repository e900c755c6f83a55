// SPDX-License-Identifier: Apache-2.0
// InputFile: any netCDF file, opened to be read by several threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/box.hpp"
#include "model/format.hpp"
#include "storage/store.hpp"
#include "storage/structure/read_schema.hpp"

namespace afterbay::storage {

/// Where the time of a read went, and what was read.
struct ReadCost {
  std::uint64_t read_ns = 0;       ///< in system calls that read data
  std::uint64_t decode_ns = 0;     ///< expanding chunks, changing byte order
  std::uint64_t library_ns = 0;    ///< in netCDF-C and HDF5, waiting for their lock included
  std::uint64_t bytes_in = 0;      ///< from the file; what the library reads counts as it comes out
  std::uint64_t bytes_out = 0;     ///< values
  std::uint64_t direct_bytes = 0;  ///< of bytes_in, by O_DIRECT

  ReadCost& operator+=(const ReadCost& other) noexcept;
};

inline constexpr std::chrono::milliseconds default_reader_deadline{60'000};

/// A file opened for input: it stays the file that it was then, whatever is put under its name later. Any
/// thread may call any function, several at once. Memory beside the caller's is bounded: decoded chunks are
/// kept up to input_chunk_memory_bytes, and each reading thread needs buffers of one block or chunk.
class InputFile {
 public:
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Opens any netCDF file that netCDF-C can read (netCDF-4, CDF-1, CDF-2, CDF-5). Takes the library lock.
  /// Fails with io when the system refuses (native: errno, ENOENT for a missing file), with format when it
  /// is no such file or is damaged. All but files of the classic formats are opened by a reader process,
  /// which must answer each request within `deadline`. `disk`: system calls of fault tests; null: the real
  /// ones.
  static Result<std::unique_ptr<InputFile>> open(
      const std::string& path, DirectIo direct_io, std::shared_ptr<Disk> disk = nullptr,
      std::chrono::milliseconds deadline = default_reader_deadline);

  [[nodiscard]] const std::string& path() const noexcept;
  /// Dimensions, variables and attributes as the file has them, as far as a Schema can hold them. `fill`,
  /// `chunk` and the filters are the file's. Of several unlimited dimensions one is the record
  /// dimension (the first that leads a variable), the others have the length they had at `open`.
  [[nodiscard]] const Schema& schema() const noexcept;
  [[nodiscard]] Format format() const noexcept;  ///< cdf2 for CDF-1 too
  [[nodiscard]] std::uint64_t records() const noexcept;

  /// Why a variable of the file is not in `schema`; nothing: there is none of that name. Variables of groups
  /// are known by "group/name", and by their name alone where no other has it.
  [[nodiscard]] std::optional<std::string> unreadable(std::string_view variable) const;
  /// All of these, with "group/name" for those of groups.
  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept;

  /// Reads the values of `box` (in the variable's dimensions without the record dimension) of `record`
  /// (ignored for fixed variables) into `to`, which has exactly their bytes: native byte order, dense, C
  /// order. Where nothing was ever written stands the fill value. Blocks on the disk; waits for the library
  /// lock only for what our own code cannot read, and to find chunks that nobody asked for before.
  /// Fails with invalid_argument or wrong_type (strings) when there is no such part, with format when the
  /// file is truncated or damaged, with io and errno; file, variable and record are named.
  Result<ReadCost> read(std::uint32_t variable, std::uint64_t record, const model::Box& box,
                        std::span<std::byte> to);
  /// All strings of a string variable, of `record` if it has the record dimension.
  Result<std::vector<std::string>> read_strings(std::uint32_t variable, std::uint64_t record);

  /// Lengths, without the record dimension, by whose multiples reads should be cut so that no chunk is
  /// decoded twice; the variable's lengths when it is not chunked.
  [[nodiscard]] model::Index grain(std::uint32_t variable) const;

  /// How a variable is read, for the profile: "direct", "buffered" or "library".
  [[nodiscard]] std::string engine(std::uint32_t variable) const;
  /// The same of the file: "library" when no variable is read by our own code.
  [[nodiscard]] std::string engine() const;

 private:
  struct State;
  explicit InputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Most bytes of decoded chunks that an open file keeps; the library's caches have the same bound.
inline constexpr std::uint64_t input_chunk_memory_bytes = std::uint64_t{64} << 20;

}  // namespace afterbay::storage
