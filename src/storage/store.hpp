// SPDX-License-Identifier: Apache-2.0
// Store: makes files of one format. File: one file in the making, published when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/striping/striper.hpp"

namespace afterbay::storage {

class ByteAllowance;
class Disk;

enum class Existing { refuse, replace, append };  ///< what to do when the final name exists
enum class DirectIo { automatic, on, off };       ///< O_DIRECT: try, insist, never

inline constexpr std::uint64_t default_chunk_memory_bytes = std::uint64_t{64} << 20;

struct FileRequest {
  std::string path;  ///< final name; work is done in `path + ".part"`
  Schema schema;     ///< per-file changes already applied
  std::shared_ptr<const model::FileLayout> layout;
  Existing existing = Existing::refuse;
  DirectIo direct_io = DirectIo::automatic;
  bool make_directories = true;  ///< create missing parent directories
  std::shared_ptr<Disk> disk;    ///< system calls of fault tests; null: the real ones
  /// Memory for compressed chunks that wait for more of their records, shared by the files that are given
  /// the same one; null: default_chunk_memory_bytes for this file.
  std::shared_ptr<ByteAllowance> chunk_memory;
  StripePolicy stripes;  ///< where the file system has stripes
};

/// One piece's bytes in stored layout and byte order (`piece->bytes` of them).
struct PieceWrite {
  const model::Piece* piece = nullptr;
  std::uint64_t record = 0;  ///< ignored for fixed variables
  std::span<const std::byte> bytes;
};

/// Where the time of a write went, and what was written.
struct WriteCost {
  std::uint64_t encode_ns = 0;
  std::uint64_t place_ns = 0;  ///< in the format library
  std::uint64_t write_ns = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;     ///< on the file
  std::uint64_t direct_bytes = 0;  ///< of these, by O_DIRECT
};

/// A file in the making. `write` and `write_strings` may be called by several threads at once;
/// the others by one thread while no write runs. Errors name the file, the variable and errno.
class File {
 public:
  virtual ~File() = default;

  /// Records that the file held when it was opened (append), else 0.
  [[nodiscard]] virtual std::uint64_t records() const = 0;

  /// Writes pieces that lie in one page-aligned buffer in frame order (neighbours in the buffer
  /// that are neighbours in the file become one write). A piece may be written only once a record.
  virtual Result<WriteCost> write(std::span<const PieceWrite> pieces) = 0;

  /// Writes all elements of a string variable (of `record`, if it has the record dimension).
  virtual Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                          std::span<const std::string> values) = 0;

  /// Gives the fill value to all that was never written in records [0, n) (n: most records of any
  /// variable), closes, makes durable (fsync of file and directory) and renames to the final name.
  /// After this, or after a failure of it, the object may only be destroyed.
  virtual Result<WriteCost> publish() = 0;

  /// Closes without publishing; the partial file keeps its `.part` name (nothing is left for memory).
  virtual void abandon() noexcept = 0;

  /// "direct", "buffered", "memory": how bytes reach the file; for the profile.
  [[nodiscard]] virtual std::string engine() const = 0;

  /// On which file system the file is, and what was set there; for the profile.
  [[nodiscard]] virtual Striping striping() const { return {}; }
};

class Store {
 public:
  virtual ~Store() = default;
  /// Makes `path + ".part"` with all structure, attributes and constant values.
  /// With Existing::append an existing file's schema is checked against the request first and the
  /// append is done on a copy, so that the published file stays whole until it is replaced.
  virtual Result<std::unique_ptr<File>> create(const FileRequest& request) = 0;
};

/// The store of a format. `memory` gives a store that keeps files for `memory_store_of`.
std::unique_ptr<Store> make_store(Format format);

}  // namespace afterbay::storage
