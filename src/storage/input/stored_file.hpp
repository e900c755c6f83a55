// SPDX-License-Identifier: Apache-2.0
// StoredFile: a netCDF file that several threads can read.
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

/// The time that a read takes, and the amount of data.
struct ReadCost {
  std::uint64_t read_ns = 0;     ///< in system calls that read data
  std::uint64_t decode_ns = 0;   ///< decoding chunks, changing byte order
  std::uint64_t library_ns = 0;  ///< in netCDF-C and HDF5, including waits for their lock
  /// Read from the file; bytes that the library reads are counted after decoding.
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;     ///< bytes of values
  std::uint64_t direct_bytes = 0;  ///< part of bytes_in that was read with O_DIRECT

  ReadCost& operator+=(const ReadCost& other) noexcept;
};

inline constexpr std::chrono::milliseconds default_reader_deadline{60'000};

/// A file opened for input. It remains the same file even if its name is given to another one
/// later. Any thread may call any function, several at the same time. Memory in addition to the
/// caller's is bounded: decoded chunks are kept up to input_chunk_memory_bytes, and each reading
/// thread needs buffers of one block or chunk.
class StoredFile {
 public:
  ~StoredFile();
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;

  /// Opens any netCDF file that netCDF-C can read (netCDF-4, CDF-1, CDF-2, CDF-5). Takes the
  /// library lock. Fails with io if the system refuses (native: errno, ENOENT for a missing file),
  /// with format if it is not such a file or is damaged. Files of all but the classic formats are
  /// opened by a reader process, which must answer each request within `deadline`. `disk`: system
  /// calls of fault tests; null: the real ones.
  static Result<std::unique_ptr<StoredFile>> open(
      const std::string& path, DirectIo direct_io, std::shared_ptr<Disk> disk = nullptr,
      std::chrono::milliseconds deadline = default_reader_deadline);

  [[nodiscard]] const std::string& path() const noexcept;
  /// Dimensions, variables and attributes of the file, as far as a Schema can represent them.
  /// `fill`, `chunk` and the filters are those of the file. If there are several unlimited
  /// dimensions, one is the record dimension (the first that is the leading dimension of a
  /// variable); the others have their length at `open`.
  [[nodiscard]] const Schema& schema() const noexcept;
  [[nodiscard]] Format format() const noexcept;  ///< cdf2 also for CDF-1
  [[nodiscard]] std::uint64_t records() const noexcept;

  /// The reason why a variable of the file is not in `schema`; nullopt if there is no variable with
  /// that name. Variables of groups are found as "group/name", and by their name alone if it is
  /// unique.
  [[nodiscard]] std::optional<std::string> unreadable(std::string_view variable) const;
  /// All of these variables, with "group/name" for variables of groups.
  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept;

  /// Reads the values of `box` (in the variable's dimensions without the record dimension) of
  /// `record` (ignored for fixed variables) into `to`, which has exactly the required size: native
  /// byte order, dense, C order. Values that were never written are the fill value. Waits for the
  /// disk; waits for the library lock only if our own code cannot read the variable, and to find
  /// chunks that were not requested before. Fails with invalid_argument or wrong_type (strings) if
  /// there is no such part, with format if the file is truncated or damaged, with io and errno; the
  /// error names file, variable and record.
  Result<ReadCost> read(std::uint32_t variable, std::uint64_t record, const model::Box& box,
                        std::span<std::byte> to);
  /// All strings of a string variable, of `record` if it has the record dimension.
  Result<std::vector<std::string>> read_strings(std::uint32_t variable, std::uint64_t record);

  /// Lengths, without the record dimension, to whose multiples reads should be aligned so that no
  /// chunk is decoded twice; the variable's lengths if it is not chunked.
  [[nodiscard]] model::Index grain(std::uint32_t variable) const;

  /// How a variable is read, for the profile: "direct", "buffered" or "library".
  [[nodiscard]] std::string engine(std::uint32_t variable) const;
  /// The same for the file: "library" if no variable is read by our own code.
  [[nodiscard]] std::string engine() const;

 private:
  struct State;
  explicit StoredFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Limit of the decoded chunks that an open file keeps; the library's caches have the same limit.
inline constexpr std::uint64_t input_chunk_memory_bytes = std::uint64_t{64} << 20;

}  // namespace afterbay::storage
