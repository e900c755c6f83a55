// SPDX-License-Identifier: Apache-2.0
// Store: makes files of one format. File: one unfinished file, published when complete.
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
#include "base/artifact_files.hpp"
#include "base/result.hpp"
#include "model/file_options.hpp"
#include "model/largest_error.hpp"
#include "model/layout.hpp"
#include "storage/epoch/epoch.hpp"
#include "storage/striping/striper.hpp"

namespace afterbay::storage {

using afterbay::DirectIo;
using afterbay::Existing;

class ByteAllowance;
class Disk;

inline constexpr std::uint64_t default_chunk_memory_bytes = std::uint64_t{64} << 20;

/// The name of an artifact while it is unfinished.
inline std::string part_path(const std::string& path) { return path + ".part"; }

struct FileRequest {
  std::string path;  ///< final name; the file is written under `part_path`
  Schema schema;     ///< with the changes for this file applied
  std::shared_ptr<const model::FileLayout> layout;
  Existing existing = Existing::refuse;
  DirectIo direct_io = DirectIo::automatic;
  bool make_directories = true;  ///< create missing parent directories
  std::shared_ptr<Disk> disk;    ///< system calls of fault tests; null: the real ones
  /// Memory for compressed chunks that wait for more of their records, shared by files that get the
  /// same object; null: default_chunk_memory_bytes for this file.
  std::shared_ptr<ByteAllowance> chunk_memory;
  StripePolicy stripes;  ///< used if the file system has stripes
  /// Compute the checksum of the whole file, for Published; equal in all processes that write it.
  bool checksum = false;
  /// Others may read the part file while it is written: it shows the state of its last epoch, or a
  /// later one.
  bool readable = false;
  /// Number of the I/O server, different in all processes that write the file.
  std::uint64_t server = 0;
  std::uint64_t epochs = 0;  ///< number of the last epoch before the file was opened
};

/// The bytes of one piece in stored layout and byte order (`piece.bytes` of them).
struct PieceWrite {
  model::Piece piece;
  std::uint64_t record = 0;  ///< ignored for fixed variables
  std::span<const std::byte> bytes;
  std::uint64_t epochs = 0;  ///< number of the last epoch before it was put; 0: none
};

/// The time of a write's steps, and the amount of data.
struct WriteCost {
  std::uint64_t encode_ns = 0;
  std::uint64_t place_ns = 0;  ///< in the format library
  std::uint64_t write_ns = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;          ///< written to the file
  std::uint64_t direct_bytes = 0;       ///< part of bytes_out that was written with O_DIRECT
  std::uint64_t kept_values = 0;        ///< values that stages kept to observe a stated accuracy
  std::uint64_t unpacked_messages = 0;  ///< messages whose values could not be packed as asked for
  model::LargestErrors errors{};        ///< errors of variables whose errors stages measure
};

/// An artifact that has its final name.
struct Published {
  WriteCost cost;                ///< cost of completing it
  std::uint64_t size_bytes = 0;  ///< size of the file, or of all files of a directory; 0 in memory
  std::uint64_t records = 0;
  /// CRC-64/XZ of all its bytes, if requested: of the bytes that were handed over, not of bytes
  /// read back from the disk. For a directory: checksum_of (base/artifact_files.hpp).
  std::optional<std::uint64_t> checksum;
  std::uint64_t inode = 0;    ///< 0 in memory
  std::uint64_t born_ns = 0;  ///< time of the inode's creation; 0: unknown
  /// The files of a directory, in the order of their names (set_files, storage/artifact.hpp).
  std::optional<std::vector<ArtifactFile>> files{};
  std::string warning{};  ///< from File::publish: see remove_replaced (storage/publication.hpp)
};

/// Called when the whole file is durable, and before it gets its final name; if it fails, the file
/// does not get the name.
using BeforeName = std::function<Result<>(const Published&)>;

class Artifact;

/// A member's part of an epoch, for the leader.
struct MemberEpoch {
  std::uint64_t server = 0;        ///< FileRequest::server of the member
  bool logged = false;             ///< it keeps a log of its own
  std::vector<std::byte> account;  ///< account of the pieces that it wrote: see member_file.hpp
  model::LargestErrors errors{};   ///< errors that it knows
};

/// A piece that needs a place: its position in a file that another server created.
struct PlaceRequest {
  std::uint32_t piece = 0;  ///< index in FileLayout::pieces
  /// Any record of a chunk of several records; ignored for fixed variables.
  std::uint64_t record = 0;
  std::uint64_t bytes = 0;    ///< stored bytes of the chunk after encoding; 0: not encoded
  std::uint32_t skipped = 0;  ///< skipped filters, as in codec::EncodedChunk
};

/// Assigns places to pieces in a file that another server created. Any thread; may block until
/// the leader has answered, and otherwise fails within the deadline of the implementation.
class Placer {
 public:
  virtual ~Placer() = default;
  /// Returns, for each request, the file offset of its first byte: of the encoded chunk, or of this
  /// record of the piece.
  virtual Result<std::vector<std::uint64_t>> place(std::span<const PlaceRequest> requests) = 0;
};

/// An unfinished file. `write` and `write_strings` may be called by several threads concurrently;
/// the other calls by one thread while no write runs. Errors name the file, the variable and errno.
///
/// A file may be written by several processes concurrently, on any nodes: the *leader*, which
/// created it (`create`) and publishes it, and *members*, which joined it (`Store::join`). All
/// records of a piece are written by the same process. A member writes its pieces at their final
/// position in the file; only the leader fills, writes constants and strings, and creates the
/// structure. A member that is destroyed without `hand_over` leaves the file incomplete: then the
/// leader must abandon it.
class File {
 public:
  virtual ~File() = default;

  /// Number of records when it was opened (append), otherwise 0.
  [[nodiscard]] virtual std::uint64_t records() const = 0;

  /// Writes pieces from one page-aligned buffer in frame order (pieces that are adjacent both in
  /// the buffer and in the file are merged into one write). Each piece may be written only once per
  /// record.
  virtual Result<WriteCost> write(std::span<const PieceWrite> pieces) = 0;

  /// Writes all elements of a string variable (of `record`, if it has the record dimension).
  virtual Result<WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                          std::span<const std::string> values) = 0;

  /// Extends the file to at least this number of records, even if nothing is written in them. Call
  /// it before publish, while no write runs; not on members.
  virtual void reach(std::uint64_t /*records*/) {}

  /// Sets the attribute for the largest error of variables that reserve it
  /// (model/largest_error.hpp): in the file when it is finished, and in what can be recovered from
  /// the next epoch on. In a file that is appended to, a larger value that it has remains. Leader
  /// and sole writer; by one thread, writes may run. Formats without such attributes do nothing.
  virtual Result<> note_errors(const model::LargestErrors& /*errors*/) { return {}; }

  /// Makes the written data durable, so that the state at this point can be recovered after a crash
  /// at any later time, with `recover_file` (storage/epoch/recover.hpp). This state contains the
  /// data of all `write` calls that returned before this call, unless they were put after the epoch
  /// (PieceWrite::epochs); all other values of records [0, epoch.records) are the fill value or, in
  /// a file that is appended to, the old value, and there are no later records. Writes may run
  /// meanwhile, but no other call; for a file that is appended to, only writes of data that were
  /// put before the epoch. Leader: `members` are the parts of all members. Without an
  /// implementation: does nothing in memory; otherwise fails with bad_state, because the data would
  /// be lost in a crash.
  virtual Result<WriteCost> mark_epoch(const Epoch& epoch, std::span<const MemberEpoch> members);
  /// Member: the same for its own part.
  virtual Result<MemberEpoch> mark_member_epoch(const Epoch& epoch);

  /// The first step of publication: writes the fill value to all values of records [0, n) that were
  /// never written (n: largest number of records of any variable), writes pieces that were held
  /// back, and closes the format's library. The file keeps its `.part` name and need not be durable
  /// yet; a file in memory gets its final name. Afterwards, also after a failure, the object may
  /// only be published and destroyed.
  virtual Result<Published> finish() = 0;
  /// What must be made durable and named after `finish`. Null for members and in memory.
  virtual Artifact* part() noexcept { return nullptr; }
  /// Performs the whole publication: `finish`, fsync, `before_name` (not in memory), rename to the
  /// final name, fsync of the directory. For several files: storage/publication.hpp. Afterwards,
  /// also after a failure, the object may only be destroyed.
  Result<Published> publish(const BeforeName& before_name = {});

  /// Releases the space of a file that will not be published: truncates it and removes its name and
  /// its epoch logs, if they still belong to it. Any thread; data that are written meanwhile are
  /// lost. Does nothing for members and memory.
  virtual void give_back_space() noexcept {}

  /// Closes without publishing; the part file is kept (nothing is kept in memory).
  virtual void abandon() noexcept = 0;

  /// Leader: the data that `Store::join` needs, to be sent to members; the bytes are opaque and
  /// specific to this version of the library. Call it before the first write, or while none runs.
  /// Fails with bad_state for files that only one server can write: files that are appended to, and
  /// files in memory.
  virtual Result<std::vector<std::byte>> share();
  /// Leader: answers requests of a member's Placer. Any thread, also while writes run.
  virtual Result<std::vector<std::uint64_t>> place(std::span<const PlaceRequest> requests);
  /// Leader: adds the account of a member (from `hand_over`), so that `publish` fills only values
  /// that no process wrote. Call it before publish, by one thread. Fails, and adds nothing, with
  /// format if it is not an account of such a file, and with conflict if it belongs to another
  /// file, or contains a piece that was already written.
  virtual Result<> take(std::span<const std::byte> account);
  /// Member: its writes have ended. Writes pieces that were held back, makes its bytes durable,
  /// closes, and returns the account of its pieces. Afterwards, also after a failure, the object
  /// may only be destroyed.
  virtual Result<std::vector<std::byte>> hand_over();

  /// "direct", "buffered", "memory": how bytes are written to the file; for the profile.
  [[nodiscard]] virtual std::string engine() const = 0;

  /// The file system of the file, and the stripes that were set; for the profile.
  [[nodiscard]] virtual Striping striping() const { return {}; }
};

class Store {
 public:
  virtual ~Store() = default;
  /// Creates the part file with all structure, attributes and constant values. With
  /// Existing::append, an existing file's schema is first checked against the request, and a copy
  /// is extended, so that the published file stays complete until it is replaced.
  virtual Result<std::unique_ptr<File>> create(const FileRequest& request) = 0;
  /// Prepares what files of this schema and layout have in common, so that `create` finds it;
  /// nothing else in the request is used. Takes as long as `create` would without it, and does not
  /// report errors: `create` will detect them. Any thread; a concurrent `create` waits for it
  /// instead of doing the same work.
  virtual void prepare(const FileRequest& request);
  /// Member: opens the part file that a leader created for the same request (schema, layout, path)
  /// and shares. `placer` is called by the threads that write, and by `hand_over`; formats with
  /// fixed offsets never call it. Operations of the leader (write_strings, publish, share, place,
  /// take) are refused with bad_state. Fails with format if `share` is invalid, with conflict if it
  /// belongs to another request.
  virtual Result<std::unique_ptr<File>> join(const FileRequest& request, std::span<const std::byte> share,
                                             std::shared_ptr<Placer> placer);
};

/// The store of a format. For `memory` it is a store that keeps files for `memory_store_of`.
std::unique_ptr<Store> make_store(Format format);

}  // namespace afterbay::storage
