// SPDX-License-Identifier: Apache-2.0
// Store: makes files of one format. File: one file in the making, published when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/file_options.hpp"
#include "model/layout.hpp"
#include "storage/epoch/epoch.hpp"
#include "storage/striping/striper.hpp"

namespace afterbay::storage {

using afterbay::DirectIo;
using afterbay::Existing;

class ByteAllowance;
class Disk;

inline constexpr std::uint64_t default_chunk_memory_bytes = std::uint64_t{64} << 20;

/// What a file is called while it is in the making.
inline std::string part_path(const std::string& path) { return path + ".part"; }

struct FileRequest {
  std::string path;  ///< final name; work is done in `part_path`
  Schema schema;     ///< per-file changes already applied
  std::shared_ptr<const model::FileLayout> layout;
  Existing existing = Existing::refuse;
  DirectIo direct_io = DirectIo::automatic;
  bool make_directories = true;  ///< create missing parent directories
  std::shared_ptr<Disk> disk;    ///< system calls of fault tests; null: the real ones
  /// Memory for compressed chunks that wait for more of their records, shared by the files that are given
  /// the same one; null: default_chunk_memory_bytes for this file.
  std::shared_ptr<ByteAllowance> chunk_memory;
  StripePolicy stripes;   ///< where the file system has stripes
  bool checksum = false;  ///< of the whole file, for Published; equal in all processes that write it
  /// Others may read the part file while it is written: it shows the state of its last epoch, or a later one.
  bool readable = false;
  std::uint64_t server = 0;  ///< number of the I/O server, different in all processes that write the file
  std::uint64_t epochs = 0;  ///< number of the last epoch that was called before the file was opened
};

/// One piece's bytes in stored layout and byte order (`piece->bytes` of them).
struct PieceWrite {
  const model::Piece* piece = nullptr;
  std::uint64_t record = 0;  ///< ignored for fixed variables
  std::span<const std::byte> bytes;
  std::uint64_t epochs = 0;  ///< number of the last epoch that was called before it was put; 0: none
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

/// A file that has its final name.
struct Published {
  WriteCost cost;                ///< of making it complete
  std::uint64_t size_bytes = 0;  ///< 0 in memory
  std::uint64_t records = 0;
  /// CRC-64/XZ of all its bytes, if it was asked for: of what was handed over, not of what the disk gives
  /// back.
  std::optional<std::uint64_t> checksum;
  std::uint64_t inode = 0;    ///< 0 in memory
  std::uint64_t born_ns = 0;  ///< when the inode was created; 0: not known
};

/// Called when all of the file is durable, and before it gets its final name; a failure prevents that.
using BeforeName = std::function<Result<>(const Published&)>;

class PartFile;

/// A member's part of an epoch, for the leader.
struct MemberEpoch {
  std::uint64_t server = 0;  ///< FileRequest::server of the member
  bool logged = false;       ///< it keeps a log of its own
  std::vector<std::byte> account;
};

/// A piece that wants a place in a file that another server makes.
struct PlaceRequest {
  std::uint32_t piece = 0;    ///< index in FileLayout::pieces
  std::uint64_t record = 0;   ///< of a chunk of several records: any of them; ignored for fixed variables
  std::uint64_t bytes = 0;    ///< stored bytes of the chunk after encoding; 0: not encoded
  std::uint32_t skipped = 0;  ///< filters left out, as in codec::EncodedChunk
};

/// Where pieces go in a file that another server makes. Any thread; may block until the leader has
/// answered, and then fails within the deadline of whoever implements it.
class Placer {
 public:
  virtual ~Placer() = default;
  /// For each request the file offset where its first byte is to be written: of the encoded chunk, or of
  /// this record of the piece.
  virtual Result<std::vector<std::uint64_t>> place(std::span<const PlaceRequest> requests) = 0;
};

/// A file in the making. `write` and `write_strings` may be called by several threads at once;
/// the others by one thread while no write runs. Errors name the file, the variable and errno.
///
/// A file may be written by several processes at once, on any nodes: the *leader*, who made it (`create`)
/// and publishes it, and *members*, who joined it (`Store::join`). A piece is written, in all its records,
/// by one of them only. A member's pieces go to their final place in the file; only the leader fills,
/// writes constants and strings, and makes the structure. A member that is destroyed without `hand_over`
/// leaves the file incomplete: the leader must then abandon it.
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

  /// The file is to have at least so many records, also where nothing is written in them. Before publish,
  /// while no write runs; not of members.
  virtual void reach(std::uint64_t /*records*/) {}

  /// Makes durable what was written, so that the file can be brought back to this point after a crash at
  /// any later moment, with `recover_file` (storage/epoch/recover.hpp). What `write` had returned from
  /// before the call has its values then, unless it was put after the epoch (PieceWrite::epochs); all else of
  /// records [0, epoch.records) has the fill value or, of a file that is appended to, the old value, and
  /// there are no later records. Writes may run meanwhile, but no other call; of a file that is appended to,
  /// only writes of what was put before the epoch may. Leader: `members` are the parts of all members.
  /// Nothing for memory.
  virtual Result<WriteCost> mark_epoch(const Epoch& epoch, std::span<const MemberEpoch> members);
  /// Member: the same for its own part.
  virtual Result<MemberEpoch> mark_member_epoch(const Epoch& epoch);

  /// The first step of publication: gives the fill value to all that was never written in records [0, n)
  /// (n: most records of any variable), writes what is held back, and closes the format's library. The file
  /// keeps its `.part` name and need not be durable yet; in memory it has its final name then. After this, or
  /// after a failure of it, the object may only be published and destroyed.
  virtual Result<Published> finish() = 0;
  /// What is still to be made durable and named after `finish`. Null for members and in memory.
  virtual PartFile* part() noexcept { return nullptr; }
  /// All of publication: `finish`, fsync, `before_name` (not in memory), rename to the final name, fsync of
  /// the directory. Several files at once: storage/publication.hpp. After this, or after a failure of it, the
  /// object may only be destroyed.
  Result<Published> publish(const BeforeName& before_name = {});

  /// Gives back the space of a file that is not to be published: empties it and removes its name and its
  /// logs of epochs, if they are still its own. Any thread; what is written meanwhile is lost. Nothing for
  /// members and memory.
  virtual void give_back_space() noexcept {}

  /// Closes without publishing; the partial file keeps its `.part` name (nothing is left for memory).
  virtual void abandon() noexcept = 0;

  /// Leader: all that `Store::join` needs, to be sent to members; the bytes are opaque, of this version of
  /// the library. Before the first write, or while none runs. Fails with bad_state for files that one server
  /// alone can write: those that are appended to, those in memory.
  virtual Result<std::vector<std::byte>> share();
  /// Leader: answers what a member asks its Placer. Any thread, also while writes run.
  virtual Result<std::vector<std::uint64_t>> place(std::span<const PlaceRequest> requests);
  /// Leader: takes the account of a member (from `hand_over`), so that `publish` fills only what nobody
  /// wrote. Before publish, by one thread. Fails, and takes nothing, with format when it is not the account
  /// of such a file, and with conflict when it is of another file, or names a piece that was written already.
  virtual Result<> take(std::span<const std::byte> account);
  /// Member: its writes have ended. Writes what it holds back, makes its bytes durable, closes, and gives
  /// the account of what it wrote. After this, or after a failure of it, the object may only be destroyed.
  virtual Result<std::vector<std::byte>> hand_over();

  /// "direct", "buffered", "memory": how bytes reach the file; for the profile.
  [[nodiscard]] virtual std::string engine() const = 0;

  /// On which file system the file is, and what was set there; for the profile.
  [[nodiscard]] virtual Striping striping() const { return {}; }
};

class Store {
 public:
  virtual ~Store() = default;
  /// Makes the part file with all structure, attributes and constant values.
  /// With Existing::append an existing file's schema is checked against the request first and the
  /// append is done on a copy, so that the published file stays whole until it is replaced.
  virtual Result<std::unique_ptr<File>> create(const FileRequest& request) = 0;
  /// Makes beforehand what files of this schema and layout have alike, so that `create` finds it; nothing
  /// else of the request is looked at. Takes as long as `create` does without it, and says nothing of errors:
  /// `create` meets them again. Any thread; a `create` meanwhile waits for it rather than doing the same.
  virtual void prepare(const FileRequest& request);
  /// Member: opens the part file that a leader made for the same request (schema, layout, path) and shares.
  /// `placer` is asked from the threads that write, and by `hand_over`; formats whose offsets are fixed
  /// never ask it. What belongs to the leader (write_strings, publish, share, place, take) is refused with
  /// bad_state. Fails with format when `share` is not one, with conflict when it is of another request.
  virtual Result<std::unique_ptr<File>> join(const FileRequest& request, std::span<const std::byte> share,
                                             std::shared_ptr<Placer> placer);
};

/// The store of a format. `memory` gives a store that keeps files for `memory_store_of`.
std::unique_ptr<Store> make_store(Format format);

}  // namespace afterbay::storage
