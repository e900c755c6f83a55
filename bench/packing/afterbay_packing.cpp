// SPDX-License-Identifier: Apache-2.0
// Afterbay's codecs as servers use them: rounding (--round), then filters (--filters) of a chunk;
// or WGDOS, level by level (--wgdos).
#include <CLI/CLI.hpp>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "afterbay/schema.hpp"
#include "codec/chunk_codec.hpp"
#include "codec/filter_chain.hpp"
#include "packing/case.hpp"
#include "packing/wgdos.hpp"
#include "pipeline/stages.hpp"

namespace bench::packing {
namespace {

using namespace afterbay;

template <class T>
T checked(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// NAME=VALUE
std::pair<std::string, std::string> pair_of(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) throw std::runtime_error("'" + text + "' is not NAME=VALUE");
  return {text.substr(0, at), text.substr(at + 1)};
}

pipeline::Stages stages_of(const std::vector<std::string>& settings, const Data& data) {
  if (settings.empty()) return {};
  Variable variable{"x", Type::float32, {"level", "row", "column"}};
  if (data.missing == data.missing) variable.with_fill(Values(data.missing));
  pipeline::Settings given;
  for (const std::string& setting : settings) given.insert(pair_of(setting));
  return checked(pipeline::make_stages(variable, given));
}

codec::ChunkCodec codec_of(const std::vector<std::string>& filters) {
  FilterChain chain;
  for (const std::string& filter : filters) {
    const auto [name, level] = pair_of(filter);
    const codec::Codec* const codec = codec::find_codec(name);
    if (codec == nullptr) throw std::runtime_error("there is no codec " + name);
    codec::set_filter(chain, codec->id, codec::filter_of_level(*codec, std::stoi(level)));
  }
  return checked(codec::ChunkCodec::make(codec::in_order(std::move(chain)), sizeof(float)));
}

/// What a worker does with a chunk of a netCDF-4 file.
class ChainPacker final : public ChunkPacker {
 public:
  ChainPacker(const Data& data, const std::vector<std::string>& settings,
              const std::vector<std::string>& filters)
      : stages_(stages_of(settings, data)), codec_(codec_of(filters)), scratch_(data.chunk_bytes()) {}

 protected:
  std::size_t pack_chunk(std::span<const float> chunk) override {
    std::span<const std::byte> bytes = std::as_bytes(chunk);
    for (const auto& stage : stages_) {
      pipeline::StageRun state;
      static_cast<void>(stage->run_at(scratch_.data(), bytes.data(), chunk.size(), state));
      bytes = scratch_;
    }
    if (!codec_.active()) return bytes.size();
    encoded_ = checked(codec_.encode(bytes));
    return encoded_.bytes.size();
  }
  void unpack_chunk(std::span<float> to) override {
    if (!codec_.active()) {
      std::memcpy(to.data(), scratch_.data(), to.size_bytes());
      return;
    }
    checked(codec_.decode(std::as_const(encoded_.bytes).bytes(), encoded_.skipped, std::as_writable_bytes(to),
                          workspace_));
  }

 private:
  pipeline::Stages stages_;
  codec::ChunkCodec codec_;
  Pages<std::byte> scratch_;
  codec::EncodedChunk encoded_;
  codec::OwnWorkspace workspace_;
};

class WgdosPacker final : public ChunkPacker {
 public:
  WgdosPacker(const Data& data, int accuracy, bool verify) : data_(data) {
    options_.accuracy = accuracy;
    options_.verify = verify;
    options_.missing = static_cast<double>(data.missing);
    level_bytes_ = afterbay::packing::most_wgdos_bytes(shape());
    packed_.resize(data.levels * level_bytes_);
  }

 protected:
  std::size_t pack_chunk(std::span<const float> chunk) override {
    std::size_t bytes = 0;
    for (std::size_t level = 0; level < data_.levels; ++level)
      bytes += checked(afterbay::packing::wgdos_pack(chunk.subspan(level * data_.plane(), data_.plane()),
                                                     shape(), options_, place(level)))
                   .bytes;
    return bytes;
  }
  void unpack_chunk(std::span<float> to) override {
    for (std::size_t level = 0; level < data_.levels; ++level)
      checked(afterbay::packing::wgdos_unpack(place(level), to.subspan(level * data_.plane(), data_.plane()),
                                              options_.missing));
  }

 private:
  [[nodiscard]] afterbay::packing::FieldShape shape() const { return {data_.rows, data_.columns}; }
  std::span<std::byte> place(std::size_t level) {
    return std::span(packed_).subspan(level * level_bytes_, level_bytes_);
  }

  const Data& data_;
  afterbay::packing::WgdosOptions options_;
  std::size_t level_bytes_ = 0;
  std::vector<std::byte> packed_;
};

}  // namespace
}  // namespace bench::packing

int main(int argc, char** argv) {
  using namespace bench::packing;
  std::vector<std::string> filters, round, unverified;
  std::optional<int> wgdos;
  bool verify = false;
  return run_program(
      argc, argv,
      {"afterbay_packing",
       [&](CLI::App& app) {
         app.add_option("--filters", filters, "NAME=LEVEL, ...")->delimiter(',');
         app.add_option("--round", round, "settings of the stage quantize: NAME=VALUE, ...")->delimiter(',');
         app.add_option("--beside", unverified, "the same without verification, for comparison")
             ->delimiter(',');
         app.add_option("--wgdos", wgdos, "accuracy, a power of two");
         app.add_flag("--verify", verify, "WGDOS, verified");
       },
       [&](const Data& data, std::unique_ptr<Packer>& other) -> std::unique_ptr<Packer> {
         if (!wgdos) {
           if (!unverified.empty()) other = std::make_unique<ChainPacker>(data, unverified, filters);
           return std::make_unique<ChainPacker>(data, round, filters);
         }
         if (verify) other = std::make_unique<WgdosPacker>(data, *wgdos, false);
         return std::make_unique<WgdosPacker>(data, *wgdos, verify);
       }});
}
