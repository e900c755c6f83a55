// SPDX-License-Identifier: Apache-2.0
// libdeflate alone.
#include <libdeflate.h>

#include "packing/library_packing.hpp"

namespace bench::packing {
namespace {

class Libdeflate final : public Library {
 public:
  explicit Libdeflate(int level)
      : compressor_(libdeflate_alloc_compressor(level), &libdeflate_free_compressor),
        decompressor_(libdeflate_alloc_decompressor(), &libdeflate_free_decompressor) {
    require(compressor_ != nullptr && decompressor_ != nullptr, "libdeflate knows no such level");
  }
  [[nodiscard]] std::size_t most_bytes(std::size_t bytes) const override {
    return libdeflate_zlib_compress_bound(compressor_.get(), bytes);
  }
  std::size_t encode(std::span<const std::byte> from, std::span<std::byte> to) override {
    const std::size_t size =
        libdeflate_zlib_compress(compressor_.get(), from.data(), from.size(), to.data(), to.size());
    require(size > 0, "libdeflate_zlib_compress failed");
    return size;
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    require(libdeflate_zlib_decompress(decompressor_.get(), from.data(), from.size(), to.data(), to.size(),
                                       nullptr) == LIBDEFLATE_SUCCESS,
            "libdeflate_zlib_decompress failed");
  }

 private:
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor_;
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor_;
};

}  // namespace
}  // namespace bench::packing

int main(int argc, char** argv) {
  using namespace bench::packing;
  return run_library(argc, argv, "libdeflate_packing",
                     [](int level) { return std::make_unique<Libdeflate>(level); });
}
