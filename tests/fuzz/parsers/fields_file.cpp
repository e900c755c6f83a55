// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "model/format.hpp"
#include "mutator.hpp"
#include "packing/fields_file.hpp"
#include "parsers.hpp"

namespace afterbay::test {
namespace {

constexpr std::size_t most_values = std::size_t{1} << 20;

/// A file in memory; what would make it much larger is an error, as on a full disk.
class MemoryFile final : public FileBytes {
 public:
  explicit MemoryFile(Bytes bytes) : bytes_(bytes.begin(), bytes.end()), most_(2 * bytes.size() + 4096) {}
  Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
    std::fill(bytes.begin(), bytes.end(), std::byte{});
    if (offset < bytes_.size())
      std::memcpy(bytes.data(), bytes_.data() + offset,
                  std::min<std::uint64_t>(bytes.size(), bytes_.size() - offset));
    return {};
  }
  Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset > most_ || bytes.size() > most_ - offset) return fail(ErrorCode::no_space, "full");
    bytes_.resize(std::max<std::uint64_t>(bytes_.size(), offset + bytes.size()));
    std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
    return {};
  }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t most_;
};

void read_all(Bytes bytes) {
  const auto header = packing::read_fixed_header(bytes);
  if (!header) return;
  for (std::uint64_t entry = 0; entry < packing::entries_of(*header); ++entry) {
    if (packing::is_unused(bytes, *header, entry)) continue;
    const auto field = packing::read_field(bytes, *header, entry);
    if (!field) continue;
    if (field->begin + field->data.size() > bytes.size()) std::abort();
    const packing::FieldShape shape = field->shape();
    const bool no_shape = shape.rows * shape.columns == 0;
    if (shape.rows > most_values || shape.columns > most_values || shape.rows * shape.columns > most_values)
      continue;
    std::vector<double> values(no_shape ? 15 : shape.rows * shape.columns);
    std::vector<std::uint8_t> mask(values.size());
    for (std::size_t i = 0; i < mask.size(); i += 3) mask[i] = 1;
    static_cast<void>(packing::decode_field(*field, values, -1, mask));
  }
}

void append_message(std::string& file, packing::PpHeader header, const std::vector<double>& values,
                    const packing::PpEncoding& encoding) {
  header[packing::PpInteger::lbyr] = 2026;
  header[packing::PpInteger::lbuser1] = 1;
  header[packing::PpInteger::lbrow] = 3;
  header[packing::PpInteger::lbnpt] = 5;
  std::vector<std::byte> bytes(packing::most_message_bytes({3, 5}, encoding.packing));
  const auto encoded = packing::encode_message(header, std::span(values), encoding, bytes);
  if (!encoded) std::abort();
  file.append(reinterpret_cast<const char*>(bytes.data()), encoded->bytes);
}

}  // namespace

/// Reads the bytes as a complete file, and completes them as an unfinished one.
void parse_fields_file(Bytes bytes) {
  read_all(bytes);
  MemoryFile file(bytes);
  const auto size = traits_of(Format::fieldsfile).messages->seal(file, bytes.size());
  if (!size) return;
  if (*size < bytes.size() || *size > file.bytes().size()) std::abort();
  read_all(file.bytes());
}

void write_fields_files(const std::filesystem::path& directory) {
  std::vector<double> values;
  for (int i = 0; i < 15; ++i) values.push_back(static_cast<double>(i) / 4);
  values[3] = packing::um_missing;
  const std::vector<std::uint8_t> mask{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
  for (const std::uint64_t reserved : {3u, 4u}) {
    packing::FileConstants constants;
    constants.levels.assign(packing::level_constants, std::vector<double>(2));
    const std::vector<std::byte> front = packing::front_of(constants, reserved);
    std::string file(reinterpret_cast<const char*>(front.data()), front.size());
    file.resize((front.size() + reserved * packing::lookup_bytes + packing::sector_bytes - 1) /
                packing::sector_bytes * packing::sector_bytes);
    append_message(file, {}, values, {});
    append_message(file, {}, values, {.packing = packing::PpPacking::bits32});
    append_message(file, {}, values, {.packing = packing::PpPacking::wgdos, .accuracy = -2});
    append_message(file, {}, values,
                   {.packing = packing::PpPacking::land, .land_mask = mask, .drops_others = true});
    MemoryFile sealed(std::as_bytes(std::span(file)));
    if (!traits_of(Format::fieldsfile).messages->seal(sealed, file.size())) std::abort();
    const Bytes bytes = sealed.bytes();
    write_bytes(directory / ("lookup_of_" + std::to_string(reserved)),
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    write_bytes(directory / ("unfinished_of_" + std::to_string(reserved)), file);
  }
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_fields_file);
