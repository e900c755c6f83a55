// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "mutator.hpp"
#include "packing/wgdos.hpp"
#include "parsers.hpp"

namespace afterbay::test {
namespace {

constexpr std::size_t most_values = std::size_t{1} << 20;

template <class T>
void unpack(Bytes bytes, std::size_t count) {
  std::vector<T> values(count);
  static_cast<void>(packing::wgdos_unpack(bytes, std::span(values)));
}

}  // namespace

void parse_wgdos_field(Bytes bytes) {
  const auto header = packing::wgdos_header(bytes);
  if (!header) return;
  if (header->bytes > bytes.size()) std::abort();
  const std::size_t count = header->shape.rows * header->shape.columns;
  if (count > most_values) return;
  unpack<float>(bytes, count);
  unpack<double>(bytes, count);
}

void write_wgdos_fields(const std::filesystem::path& directory) {
  const auto write = [&](const char* name, const std::vector<float>& values, std::size_t rows, int accuracy) {
    const packing::FieldShape shape{rows, values.size() / rows};
    std::vector<std::byte> packed(packing::most_wgdos_bytes(shape));
    const auto field = packing::wgdos_pack(std::span(values), shape, {.accuracy = accuracy}, packed);
    if (!field) std::abort();
    write_bytes(directory / name, {reinterpret_cast<const char*>(packed.data()), field->bytes});
  };
  std::vector<float> values(3 * 45);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 280.0F + static_cast<float>(i * i % 97) / 8.0F;
  write("values", values, 3, -3);
  for (std::size_t i = 0; i < values.size(); i += 4) values[i] = static_cast<float>(packing::um_missing);
  for (std::size_t i = 45; i < 80; ++i) values[i] = 0.0F;
  write("bitmaps", values, 3, -6);
  write("column", std::vector<float>(5, 1.5F), 5, -1);
  write("missing", std::vector<float>(70, static_cast<float>(packing::um_missing)), 2, 0);
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_wgdos_field);
