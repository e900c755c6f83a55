// SPDX-License-Identifier: Apache-2.0
#include "storage/sealed.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace afterbay::storage {
namespace {

constexpr std::uint8_t sealed_version = 1;
constexpr std::array<std::byte, 3> sealed_magic{std::byte{'A'}, std::byte{'B'}, std::byte{'S'}};
constexpr std::size_t digest_bytes = 8;
constexpr std::size_t sealed_head_bytes = sealed_magic.size() + 2 + digest_bytes;

/// FNV-1a, 64 bits. Source: Fowler, Noll, Vo, "FNV Non-Cryptographic Hash Algorithm", IETF draft.
class Digest {
 public:
  void byte(std::uint8_t value) noexcept { value_ = (value_ ^ value) * 0x100000001b3u; }
  void number(std::uint64_t value) noexcept {
    for (int i = 0; i < 8; ++i, value >>= 8) byte(static_cast<std::uint8_t>(value & 0xff));
  }
  void index(const model::Index& index) noexcept {
    number(index.size);
    for (const std::uint64_t value : index) number(value);
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::uint64_t digest_of(std::span<const std::byte> bytes) {
  Digest digest;
  for (const std::byte byte : bytes) digest.byte(std::to_integer<std::uint8_t>(byte));
  return digest.value();
}

void append_digest(std::vector<std::byte>& bytes, std::uint64_t digest) {
  for (std::size_t i = 0; i < digest_bytes; ++i, digest >>= 8)
    bytes.push_back(static_cast<std::byte>(digest & 0xff));
}

std::uint64_t digest_at(std::span<const std::byte> bytes) {
  std::uint64_t digest = 0;
  for (std::size_t i = digest_bytes; i-- > 0;)
    digest = digest << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return digest;
}

const char* name_of(SealedKind kind) {
  if (kind == SealedKind::pieces) return "account of a shared file";
  return kind == SealedKind::checksum ? "checksum of a part of a shared file"
                                      : "description of a shared file";
}

}  // namespace

std::uint64_t digest_of(const model::FileLayout& layout) {
  Digest digest;
  digest.number(static_cast<std::uint64_t>(layout.format));
  digest.number(layout.big_endian ? 1 : 0);
  digest.number(layout.record_bytes);
  for (std::size_t v = 0; v < layout.variables.size(); ++v) {
    const model::VariableLayout& variable = layout.variables[v];
    const model::StoredVariable& stored = layout.stored[v];
    digest.number((variable.record ? 1u : 0u) | (variable.framed ? 2u : 0u) | (stored.chunked ? 4u : 0u));
    for (const std::uint64_t value :
         {stored.record_span, variable.slab_bytes, stored.section_offset, std::uint64_t{variable.first_piece},
          std::uint64_t{variable.piece_count}})
      digest.number(value);
    for (const model::Index& index : {variable.shape, stored.chunk, variable.part}) digest.index(index);
  }
  // All pieces follow from these and from the variables above.
  for (const model::PieceGrid& grid : layout.cutting->grids()) {
    for (const std::uint64_t value : {std::uint64_t{grid.variable}, grid.element_bytes,
                                      std::uint64_t{grid.padded ? 1u : 0u}, std::uint64_t{grid.first_piece}})
      digest.number(value);
    digest.index(grid.parts);
  }
  return digest.value();
}

SealedWriter::SealedWriter(SealedKind kind, std::uint64_t layout_digest)
    : bytes_(sealed_magic.begin(), sealed_magic.end()) {
  bytes_.push_back(std::byte{sealed_version});
  bytes_.push_back(static_cast<std::byte>(kind));
  append_digest(bytes_, layout_digest);
}

/// Seven bits per byte, the lowest first (LEB128).
void SealedWriter::number(std::uint64_t value) {
  for (; value > 0x7f; value >>= 7) bytes_.push_back(static_cast<std::byte>(value & 0x7f) | std::byte{0x80});
  bytes_.push_back(static_cast<std::byte>(value));
}

std::vector<std::byte> SealedWriter::finish() && {
  append_digest(bytes_, digest_of(bytes_));
  return std::move(bytes_);
}

tl::unexpected<Error> SealedReader::broken(const char* why) const {
  return fail(ErrorCode::format,
              "the {} that another server sent {}: run the same version of the library on all servers",
              name_of(kind_), why);
}

Result<SealedReader> SealedReader::open(std::span<const std::byte> bytes, SealedKind kind,
                                        std::uint64_t layout_digest) {
  SealedReader reader(bytes, kind);
  if (bytes.size() < sealed_head_bytes + digest_bytes) return reader.broken("is too short");
  const auto sealed = bytes.first(bytes.size() - digest_bytes);
  if (!std::equal(sealed_magic.begin(), sealed_magic.end(), bytes.begin()))
    return reader.broken("is something else");
  if (digest_of(sealed) != digest_at(bytes.last(digest_bytes)))
    return reader.broken("was changed in transit, or a part of it is missing");
  if (sealed[sealed_magic.size()] != std::byte{sealed_version}) return reader.broken("is of another version");
  if (sealed[sealed_magic.size() + 1] != static_cast<std::byte>(kind))
    return reader.broken("is of another kind");
  if (digest_at(sealed.subspan(sealed_magic.size() + 2)) != layout_digest)
    return fail(ErrorCode::conflict,
                "the {} that another server sent is for another layout: give all servers the same schema and "
                "sizes",
                name_of(kind));
  reader.rest_ = sealed.subspan(sealed_head_bytes);
  return reader;
}

Result<std::uint64_t> SealedReader::number(std::uint64_t most) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return broken("ends too early");
    const auto byte = std::to_integer<std::uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (value > most) return broken("holds a number that is out of range");
      return value;
    }
  }
  return broken("holds a number that is too long");
}

Result<> SealedReader::end() const {
  if (!rest_.empty()) return broken("is too long");
  return {};
}

}  // namespace afterbay::storage
