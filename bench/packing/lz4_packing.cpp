// SPDX-License-Identifier: Apache-2.0
// lz4 alone. --level has no effect.
#include <lz4.h>

#include "packing/library_packing.hpp"

namespace bench::packing {
namespace {

class Lz4 final : public Library {
 public:
  [[nodiscard]] std::size_t most_bytes(std::size_t bytes) const override {
    return static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes)));
  }
  std::size_t encode(std::span<const std::byte> from, std::span<std::byte> to) override {
    const int size =
        LZ4_compress_default(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                             static_cast<int>(from.size()), static_cast<int>(to.size()));
    require(size > 0, "LZ4_compress_default failed");
    return static_cast<std::size_t>(size);
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    const int size =
        LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                            static_cast<int>(from.size()), static_cast<int>(to.size()));
    require(size == static_cast<int>(to.size()), "LZ4_decompress_safe failed");
  }
};

}  // namespace
}  // namespace bench::packing

int main(int argc, char** argv) {
  using namespace bench::packing;
  return run_library(argc, argv, "lz4_packing", [](int) { return std::make_unique<Lz4>(); });
}
