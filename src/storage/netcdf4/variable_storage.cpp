// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/variable_storage.hpp"

#include <limits>
#include <utility>

#include "codec/filter_chain.hpp"
#include "storage/sealed.hpp"

namespace afterbay::storage {
namespace {

constexpr std::uint64_t most_parameters = 8;  ///< maximum per filter

constexpr std::uint64_t number_of(StorageKind kind) noexcept {
  switch (kind) {
    case StorageKind::chunks: return 0;
    case StorageKind::dense: return 1;
    case StorageKind::library: return 2;
  }
  return 2;
}

Result<StorageKind> open_kind(SealedReader& reader) {
  AFTERBAY_TRY_ASSIGN(const std::uint64_t number, reader.number(number_of(StorageKind::library)));
  if (number == number_of(StorageKind::chunks)) return StorageKind::chunks;
  return number == number_of(StorageKind::dense) ? StorageKind::dense : StorageKind::library;
}

void seal_codec(SealedWriter& writer, const codec::ChunkCodec& codec) {
  writer.number(codec.element_bytes());
  writer.number(codec.filters().size());
  for (const Filter& filter : codec.filters()) {
    writer.number(filter.id);
    writer.number(filter.parameters.size());
    for (const std::uint32_t parameter : filter.parameters) writer.number(parameter);
  }
}

Result<codec::ChunkCodec> open_codec(SealedReader& reader) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  AFTERBAY_TRY_ASSIGN(const std::uint64_t element_bytes, reader.number(8));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t filters, reader.number(codec::most_filters));
  FilterChain chain;
  for (std::uint64_t i = 0; i < filters; ++i) {
    Filter& filter = chain.emplace_back();
    AFTERBAY_TRY_ASSIGN(const std::uint64_t id, reader.number(most));
    filter.id = static_cast<std::uint32_t>(id);
    AFTERBAY_TRY_ASSIGN(const std::uint64_t parameters, reader.number(most_parameters));
    for (std::uint64_t p = 0; p < parameters; ++p) {
      AFTERBAY_TRY_ASSIGN(const std::uint64_t parameter, reader.number(most));
      filter.parameters.push_back(static_cast<std::uint32_t>(parameter));
    }
  }
  auto codec = codec::ChunkCodec::make(std::move(chain), element_bytes);
  if (!codec)
    return fail(ErrorCode::format, "the description of a shared file has filters that are not possible: {}",
                codec.error().message);
  return codec;
}

}  // namespace

std::vector<std::byte> seal(const Netcdf4Share& share, const model::FileLayout& layout) {
  SealedWriter writer(SealedKind::netcdf4_share, digest_of(layout));
  share.part.write(writer);
  for (const VariableStorage& variable : share.variables) {
    writer.number(number_of(variable.kind));
    writer.number(variable.span);
    seal_codec(writer, variable.codec);
  }
  return std::move(writer).finish();
}

Result<Netcdf4Share> open_netcdf4_share(std::span<const std::byte> bytes, const model::FileLayout& layout) {
  AFTERBAY_TRY_ASSIGN(SealedReader reader,
                      SealedReader::open(bytes, SealedKind::netcdf4_share, digest_of(layout)));
  Netcdf4Share share;
  AFTERBAY_TRY_ASSIGN(share.part, LeaderPart::read(reader));
  for (std::size_t v = 0; v < layout.variables.size(); ++v) {
    VariableStorage variable;
    AFTERBAY_TRY_ASSIGN(variable.kind, open_kind(reader));
    AFTERBAY_TRY_ASSIGN(variable.span, reader.number());
    AFTERBAY_TRY_ASSIGN(variable.codec, open_codec(reader));
    if (variable.span == 0)
      return fail(ErrorCode::format, "the description of a shared file has a chunk of no records");
    share.variables.push_back(std::move(variable));
  }
  AFTERBAY_TRY(reader.end());
  return share;
}

}  // namespace afterbay::storage
