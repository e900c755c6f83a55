// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "mutator.hpp"
#include "packing/pp_record.hpp"
#include "parsers.hpp"

namespace afterbay::test {
namespace {

constexpr std::size_t most_values = std::size_t{1} << 20;

void append_field(std::string& file, const packing::PpHeader& header, const std::vector<float>& values,
                  const std::vector<std::uint32_t>& extra, const packing::PpEncoding& encoding) {
  const packing::FieldShape shape{3, values.size() / 3};
  std::vector<std::byte> bytes(packing::most_pp_bytes(shape, extra.size(), encoding.packing));
  const auto encoded = packing::encode_pp(header, std::span(values), extra, encoding, bytes);
  if (!encoded) std::abort();
  file.append(reinterpret_cast<const char*>(bytes.data()), encoded->bytes);
}

}  // namespace

void parse_pp_file(Bytes bytes) {
  for (std::size_t begin = 0; begin < bytes.size();) {
    const auto field = packing::read_pp(bytes, begin);
    if (!field) return;
    if (field->end <= begin || field->end > bytes.size()) std::abort();
    begin = field->end;
    const packing::FieldShape shape = field->shape();
    if (shape.rows > most_values || shape.columns > most_values || shape.rows * shape.columns > most_values)
      continue;
    std::vector<float> values(shape.rows * shape.columns);
    std::vector<std::uint8_t> mask(values.size());
    for (std::size_t i = 0; i < mask.size(); i += 3) mask[i] = 1;
    static_cast<void>(packing::decode_pp(*field, values, -1, mask));
  }
}

void write_pp_file(const std::filesystem::path& directory) {
  packing::PpHeader header;
  header[packing::PpInteger::lbrow] = 3;
  header[packing::PpInteger::lbnpt] = 5;
  header[packing::PpInteger::lbuser1] = 1;
  const std::vector<std::uint32_t> extra{1001, 0x3f800000};
  std::vector<float> values;
  for (int i = 0; i < 15; ++i) values.push_back(static_cast<float>(i) / 4);
  values[3] = static_cast<float>(packing::um_missing);
  const std::vector<std::uint8_t> mask{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
  std::string file;
  append_field(file, header, values, {}, {});
  append_field(file, header, values, extra, {.packing = packing::PpPacking::wgdos, .accuracy = -2});
  append_field(file, header, values, extra,
               {.packing = packing::PpPacking::land, .land_mask = mask, .drops_others = true});
  write_bytes(directory / "fields.pp", file);
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_pp_file);
