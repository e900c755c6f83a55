// SPDX-License-Identifier: Apache-2.0
// zstd alone.
#include <zstd.h>

#include "packing/library_packing.hpp"

namespace bench::packing {
namespace {

class Zstd final : public Library {
 public:
  explicit Zstd(int level) : level_(level) {}
  [[nodiscard]] std::size_t most_bytes(std::size_t bytes) const override { return ZSTD_compressBound(bytes); }
  std::size_t encode(std::span<const std::byte> from, std::span<std::byte> to) override {
    const std::size_t size =
        ZSTD_compressCCtx(context_.get(), to.data(), to.size(), from.data(), from.size(), level_);
    require(ZSTD_isError(size) == 0, "ZSTD_compressCCtx failed");
    return size;
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    require(ZSTD_decompress(to.data(), to.size(), from.data(), from.size()) == to.size(),
            "ZSTD_decompress failed");
  }

 private:
  int level_;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

}  // namespace
}  // namespace bench::packing

int main(int argc, char** argv) {
  using namespace bench::packing;
  return run_library(argc, argv, "zstd_packing", [](int level) { return std::make_unique<Zstd>(level); });
}
