// SPDX-License-Identifier: Apache-2.0
// The packing benchmark: data from a file, one way of packing them, and its speed in one thread.
// The same for every library.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::packing {

/// Memory that begins on a page, as the frames of a server do.
template <class T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::size_t page = 4096;
  PageAllocator() = default;
  template <class U>
  explicit PageAllocator(const PageAllocator<U>&) {}
  T* allocate(std::size_t count) {
    void* const memory = std::aligned_alloc(page, (count * sizeof(T) + page - 1) / page * page);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }
  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};
template <class T>
using Pages = std::vector<T, PageAllocator<T>>;

/// One chunk of real values, and how often it is packed per pass. Copies lie one behind the other,
/// so that values come from memory; codecs see one chunk at a time and find no repetitions.
struct Data {
  std::size_t levels = 1, rows = 1, columns = 1;
  std::size_t copies = 1;
  float missing = std::numeric_limits<float>::quiet_NaN();  ///< NaN: no points are missing
  Pages<float> values;                                      ///< values of all copies

  [[nodiscard]] std::size_t plane() const { return rows * columns; }
  [[nodiscard]] std::size_t chunk_values() const { return levels * plane(); }
  [[nodiscard]] std::size_t chunk_bytes() const { return chunk_values() * sizeof(float); }
  [[nodiscard]] std::size_t bytes() const { return copies * chunk_bytes(); }
  [[nodiscard]] std::span<const float> chunk(std::size_t copy) const {
    return std::span(values).subspan(copy * chunk_values(), chunk_values());
  }
};

/// Options that say which data there are: --data FILE (float32 in the byte order of the machine),
/// --levels, --rows, --columns, --missing, --copies.
struct DataOptions {
  std::string file;
  Data shape;
  void add_to(CLI::App& app);
  /// Throws std::runtime_error if the file is shorter than a chunk.
  [[nodiscard]] Data load() const;
};

/// What packing all chunks took, in seconds, and made, in bytes.
struct Packed {
  double seconds = 0;
  std::size_t bytes = 0;
};

/// A way of packing. Errors are exceptions.
class Packer {
 public:
  virtual ~Packer() = default;
  /// Packs all chunks.
  virtual Packed pack(const Data& data) = 0;
  /// Unpacks as many chunks as were packed last; returns seconds.
  virtual double unpack(const Data& data, std::span<float> to) = 0;
};

/// A way of packing chunks one by one.
class ChunkPacker : public Packer {
 public:
  Packed pack(const Data& data) final;
  /// Unpacks the last chunk as often.
  double unpack(const Data& data, std::span<float> to) final;

 protected:
  /// Returns the bytes of the result, which is kept until the next call.
  virtual std::size_t pack_chunk(std::span<const float> chunk) = 0;
  virtual void unpack_chunk(std::span<float> to) = 0;
};

/// Measures in passes over all chunks, each beside a memcpy of them to a buffer of one chunk that
/// is reused, and beside `other`, if there is one. Prints a line `BENCH {json}`:
///   end_s, copy_s, other_s, unpack_s   medians over passes, for all chunks
///   of_copy                            median of copy / end
///   of_other                           median of end / other
///   bytes, packed_bytes, largest_error, passes
void measure(const Data& data, double seconds, Packer& packer, Packer* other, nlohmann::json about);

/// main() of a program for one library. `add` adds its options, `make` makes the way of packing and
/// may set the other one.
struct Program {
  std::string name;
  std::function<void(CLI::App&)> add = [](CLI::App&) {};
  std::function<std::unique_ptr<Packer>(const Data&, std::unique_ptr<Packer>& other)> make;
};
int run_program(int argc, char** argv, const Program& program);

/// As HDF5's filter `shuffle`: the first bytes of all values, then the second ones.
std::vector<std::byte> shuffled(std::span<const float> values);

}  // namespace bench::packing
