// SPDX-License-Identifier: Apache-2.0
#include "storage/fieldsfile/fieldsfile_encoder.hpp"

#include "packing/fields_file.hpp"
#include "storage/fieldsfile/definition.hpp"

namespace afterbay::storage::fieldsfile {

using packing::PpHeader;

Result<std::unique_ptr<MessageEncoder>> FieldsFileEncoder::make_encoder(const Schema& schema,
                                                                        const model::FileLayout& layout) {
  auto made = std::make_unique<FieldsFileEncoder>();
  AFTERBAY_TRY(made->begin(schema, layout, file_kind));
  AFTERBAY_TRY_ASSIGN(const FileDescription file, describe_file(schema));
  made->front_.bytes = packing::front_of(file.constants, file.reserved_entries);
  const auto header = packing::FixedHeader::read(
      std::span<const std::byte>(made->front_.bytes).first<packing::fixed_header_bytes>());
  made->front_.end_bytes =
      static_cast<std::uint64_t>(header[packing::FileWord::data] - 1) * packing::wide_word_bytes;
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    Prototype& prototype = made->prototypes()[v];
    if (prototype.headers.empty()) continue;
    prototype.extra.clear();  // the coordinates of irregular axes are constants of the file
    AFTERBAY_TRY_ASSIGN(const um::Field field, um::field_of(schema, schema.variables[v], file_kind));
    for (PpHeader& it : prototype.headers) {
      enter_grid(field.description.grid, file.variable_resolution, it);
      AFTERBAY_TRY(enter_code(schema.variables[v], file.variable_resolution, it));
    }
  }
  return made;
}

std::size_t FieldsFileEncoder::most_bytes(const PpHeader& header, std::size_t,
                                          packing::PpPacking packing) const {
  return packing::most_message_bytes(packing::shape_of(header), packing);
}

Result<packing::PpEncoded> FieldsFileEncoder::make(const PpHeader& header, std::span<const float> values,
                                                   std::span<const std::uint32_t>,
                                                   const packing::PpEncoding& encoding,
                                                   std::span<std::byte> to) const {
  return packing::encode_message(header, values, encoding, to);
}

Result<packing::PpEncoded> FieldsFileEncoder::make(const PpHeader& header, std::span<const double> values,
                                                   std::span<const std::uint32_t>,
                                                   const packing::PpEncoding& encoding,
                                                   std::span<std::byte> to) const {
  return packing::encode_message(header, values, encoding, to);
}

PpHeader FieldsFileEncoder::read_header(std::span<const std::byte> message) const {
  return PpHeader::read_lookup(message.last<packing::lookup_bytes>());
}

void FieldsFileEncoder::write_header(const PpHeader& header, std::span<std::byte> message) const {
  header.write_lookup(packing::entry_of(message));
}

}  // namespace afterbay::storage::fieldsfile
