// SPDX-License-Identifier: Apache-2.0
// zlib alone.
#include <zlib.h>

#include "packing/library_packing.hpp"

namespace bench::packing {
namespace {

class Zlib final : public Library {
 public:
  explicit Zlib(int level) : level_(level) {}
  [[nodiscard]] std::size_t most_bytes(std::size_t bytes) const override { return compressBound(bytes); }
  std::size_t encode(std::span<const std::byte> from, std::span<std::byte> to) override {
    uLongf size = to.size();
    require(compress2(reinterpret_cast<Bytef*>(to.data()), &size, reinterpret_cast<const Bytef*>(from.data()),
                      from.size(), level_) == Z_OK,
            "compress2 failed");
    return size;
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    uLongf size = to.size();
    require(uncompress(reinterpret_cast<Bytef*>(to.data()), &size,
                       reinterpret_cast<const Bytef*>(from.data()), from.size()) == Z_OK,
            "uncompress failed");
  }

 private:
  int level_;
};

}  // namespace
}  // namespace bench::packing

int main(int argc, char** argv) {
  using namespace bench::packing;
  return run_library(argc, argv, "zlib_packing", [](int level) { return std::make_unique<Zlib>(level); });
}
