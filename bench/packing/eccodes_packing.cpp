// SPDX-License-Identifier: Apache-2.0
// ecCodes alone: a GRIB2 message per level. The conversion to float64, which ecCodes needs, counts.
#include <eccodes.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "packing/case.hpp"

namespace bench::packing {
namespace {

void check(int status, const char* what) {
  if (status != CODES_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + codes_get_error_message(status));
}

struct Delete {
  void operator()(codes_handle* handle) const noexcept { codes_handle_delete(handle); }
};
using Handle = std::unique_ptr<codes_handle, Delete>;

class EccodesPacker final : public ChunkPacker {
 public:
  EccodesPacker(const Data& data, const std::string& packing, long bits)
      : bits_(bits),
        plane_(data.plane()),
        missing_(data.missing),
        messages_(data.levels),
        numbers_(data.plane()) {
    prototype_.reset(codes_grib_handle_new_from_samples(nullptr, "regular_ll_sfc_grib2"));
    if (prototype_ == nullptr) throw std::runtime_error("ecCodes has no sample regular_ll_sfc_grib2");
    const auto set = [&](const char* key, long value) {
      check(codes_set_long(prototype_.get(), key, value), key);
    };
    set("Ni", static_cast<long>(data.columns));
    set("Nj", static_cast<long>(data.rows));
    set("numberOfDataPoints", static_cast<long>(data.plane()));
    if (data.missing == data.missing) set("bitmapPresent", 1);
    check(codes_set_double_array(prototype_.get(), "values", numbers_.data(), numbers_.size()), "values");
    std::size_t length = packing.size();
    check(codes_set_string(prototype_.get(), "packingType", packing.c_str(), &length), "packingType");
  }

 protected:
  std::size_t pack_chunk(std::span<const float> chunk) override {
    std::size_t bytes = 0;
    for (std::size_t level = 0; level < messages_.size(); ++level) {
      const std::span<const float> values = chunk.subspan(level * plane_, plane_);
      for (std::size_t i = 0; i < plane_; ++i) numbers_[i] = static_cast<double>(values[i]);
      const Handle handle(codes_handle_clone(prototype_.get()));
      mark_missing(handle);
      check(codes_set_long(handle.get(), "bitsPerValue", bits_),
            "bitsPerValue");  // a constant field has none
      check(codes_set_double_array(handle.get(), "values", numbers_.data(), plane_), "values");
      const void* message = nullptr;
      std::size_t size = 0;
      check(codes_get_message(handle.get(), &message, &size), "codes_get_message");
      const auto* const begin = static_cast<const std::byte*>(message);
      messages_[level].assign(begin, begin + size);
      bytes += size;
    }
    return bytes;
  }
  void unpack_chunk(std::span<float> to) override {
    for (std::size_t level = 0; level < messages_.size(); ++level) {
      const Handle handle(
          codes_handle_new_from_message(nullptr, messages_[level].data(), messages_[level].size()));
      if (handle == nullptr) throw std::runtime_error("codes_handle_new_from_message failed");
      mark_missing(handle);
      std::size_t count = plane_;
      check(codes_get_double_array(handle.get(), "values", numbers_.data(), &count), "values");
      for (std::size_t i = 0; i < plane_; ++i) to[level * plane_ + i] = static_cast<float>(numbers_[i]);
    }
  }

 private:
  /// Messages do not contain this value, so that each handle has to know it.
  void mark_missing(const Handle& handle) const {
    if (missing_ == missing_)
      check(codes_set_double(handle.get(), "missingValue", static_cast<double>(missing_)), "missingValue");
  }

  long bits_;
  std::size_t plane_;
  float missing_;
  Handle prototype_;
  std::vector<std::vector<std::byte>> messages_;
  std::vector<double> numbers_;
};

}  // namespace
}  // namespace bench::packing

int main(int argc, char** argv) {
  using namespace bench::packing;
  std::string packing = "grid_simple";
  long bits = 16;
  return run_program(
      argc, argv,
      {"eccodes_packing",
       [&](CLI::App& app) {
         app.add_option("--packing", packing)->check(CLI::IsMember({"grid_simple", "grid_ccsds"}));
         app.add_option("--bits", bits, "per value");
       },
       [&](const Data& data, std::unique_ptr<Packer>&) -> std::unique_ptr<Packer> {
         return std::make_unique<EccodesPacker>(data, packing, bits);
       }});
}
