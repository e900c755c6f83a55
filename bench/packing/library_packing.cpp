// SPDX-License-Identifier: Apache-2.0
#include "packing/library_packing.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/timing.hpp"

namespace bench::packing {
namespace {

std::vector<std::byte> plain(std::span<const float> values) {
  const std::span<const std::byte> bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

class LibraryPacker final : public Packer {
 public:
  LibraryPacker(const Data& data, bool shuffles, std::unique_ptr<Library> library)
      : shuffles_(shuffles),
        library_(std::move(library)),
        encoded_(library_->most_bytes(data.chunk_bytes())) {
    const std::vector<std::byte> chunk = shuffles ? shuffled(data.chunk(0)) : plain(data.chunk(0));
    for (std::size_t copy = 0; copy < data.copies; ++copy)
      from_.insert(from_.end(), chunk.begin(), chunk.end());
  }

  Packed pack(const Data& data) override {
    Packed result;
    const double start = now_s();
    for (std::size_t copy = 0; copy < data.copies; ++copy) {
      const std::span<const std::byte> all = from_;
      size_ = library_->encode(all.subspan(copy * data.chunk_bytes(), data.chunk_bytes()), encoded_);
      result.bytes += size_;
    }
    result.seconds = now_s() - start;
    return result;
  }

  double unpack(const Data& data, std::span<float> to) override {
    const std::span<std::byte> bytes = std::as_writable_bytes(to);
    const double start = now_s();
    for (std::size_t copy = 0; copy < data.copies; ++copy)
      library_->decode(std::span(std::as_const(encoded_)).first(size_),
                       bytes.subspan(copy * data.chunk_bytes(), data.chunk_bytes()));
    const double seconds = now_s() - start;
    if (shuffles_) check(data, bytes);
    return seconds;
  }

 private:
  /// Shuffled bytes are as they were; then they need not be put in order.
  void check(const Data& data, std::span<std::byte> bytes) const {
    if (!std::ranges::equal(bytes, from_)) throw std::runtime_error("unpacked bytes differ");
    std::ranges::copy(std::as_bytes(std::span(data.values)), bytes.begin());
  }

  bool shuffles_;
  std::unique_ptr<Library> library_;
  std::vector<std::byte> from_, encoded_;
  std::size_t size_ = 0;
};

}  // namespace

int run_library(int argc, char** argv, const std::string& name,
                const std::function<std::unique_ptr<Library>(int level)>& make) {
  int level = 1;
  bool shuffles = false;
  return run_program(argc, argv,
                     {name,
                      [&](CLI::App& app) {
                        app.add_option("--level", level);
                        app.add_flag("--shuffle", shuffles, "shuffle the bytes before");
                      },
                      [&](const Data& data, std::unique_ptr<Packer>&) -> std::unique_ptr<Packer> {
                        return std::make_unique<LibraryPacker>(data, shuffles, make(level));
                      }});
}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace bench::packing
