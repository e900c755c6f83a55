// SPDX-License-Identifier: Apache-2.0
#include "conformance/store_harness.hpp"

#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <span>

#include "codec/aligned_buffer.hpp"

namespace afterbay::test {
namespace {

Type type_of_number(nc_type number) {
  switch (number) {
    case NC_BYTE: return Type::int8;
    case NC_CHAR: return Type::text;
    case NC_SHORT: return Type::int16;
    case NC_INT: return Type::int32;
    case NC_FLOAT: return Type::float32;
    case NC_DOUBLE: return Type::float64;
    case NC_UBYTE: return Type::uint8;
    case NC_USHORT: return Type::uint16;
    case NC_UINT: return Type::uint32;
    case NC_INT64: return Type::int64;
    case NC_UINT64: return Type::uint64;
    default: return Type::string;
  }
}

void ok(int status, const std::string& what) {
  ASSERT_EQ(status, NC_NOERR) << what << ": " << nc_strerror(status);
}

template <class T>
void put_number(std::byte* to, double value) {
  const T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof converted);
}

/// Small integers that every type can hold.
void put_value(Type type, std::byte* to, double value) {
  switch (type) {
    case Type::int8: return put_number<std::int8_t>(to, value - 60);
    case Type::text: return put_number<char>(to, 'A' + static_cast<int>(value) % 26);
    case Type::int16: return put_number<std::int16_t>(to, value * 7 - 300);
    case Type::int32: return put_number<std::int32_t>(to, value * 70001 - 3);
    case Type::float32: return put_number<float>(to, value * 0.25 - 1);
    case Type::float64: return put_number<double>(to, value * 0.125 - 2);
    case Type::uint8: return put_number<std::uint8_t>(to, value + 100);
    case Type::uint16: return put_number<std::uint16_t>(to, value * 300);
    case Type::uint32: return put_number<std::uint32_t>(to, value * 30000000);
    case Type::int64: return put_number<std::int64_t>(to, value * -3e15);
    case Type::uint64: return put_number<std::uint64_t>(to, value * 1e17);
    case Type::string: return;
  }
}

Values read_attribute(int id, int variable, const char* name) {
  nc_type type = NC_NAT;
  std::size_t count = 0;
  ok(nc_inq_att(id, variable, name, &type, &count), name);
  Values values;
  values.type = type_of_number(type);
  if (values.type == Type::string) {
    std::vector<char*> strings(count);
    ok(nc_get_att_string(id, variable, name, strings.data()), name);
    for (const char* text : strings) values.strings.emplace_back(text);
    nc_free_string(count, strings.data());
    return values;
  }
  values.bytes.resize(count * size_of(values.type));
  if (count > 0) ok(nc_get_att(id, variable, name, values.bytes.data()), name);
  return values;
}

ReadVariable read_variable(int id, int number, const std::vector<Dimension>& dimensions,
                           std::uint64_t records) {
  ReadVariable variable;
  nc_type type = NC_NAT;
  int rank = 0;
  int ids[NC_MAX_VAR_DIMS] = {};
  int attributes = 0;
  ok(nc_inq_var(id, number, nullptr, &type, &rank, ids, &attributes), "inq_var");
  variable.type = type_of_number(type);
  std::size_t points = 1;
  for (int d = 0; d < rank; ++d) {
    const Dimension& dimension = dimensions[static_cast<std::size_t>(ids[d])];
    variable.dimensions.push_back(dimension.name);
    variable.shape.push_back(dimension.is_unlimited() ? records : dimension.length);
    points *= variable.shape.back();
  }
  variable.values.type = variable.type;
  if (variable.type == Type::string) {
    std::vector<char*> strings(points, nullptr);
    if (points > 0) ok(nc_get_var_string(id, number, strings.data()), "get_var_string");
    for (const char* text : strings) variable.values.strings.emplace_back(text == nullptr ? "" : text);
    if (points > 0) nc_free_string(points, strings.data());
  } else {
    variable.values.bytes.resize(points * size_of(variable.type));
    if (points > 0) ok(nc_get_var(id, number, variable.values.bytes.data()), "get_var");
  }
  for (int a = 0; a < attributes; ++a) {
    char name[NC_MAX_NAME + 1] = {};
    ok(nc_inq_attname(id, number, a, name), "inq_attname");
    variable.attributes[name] = read_attribute(id, number, name);
  }
  return variable;
}

}  // namespace

std::vector<Type> number_types(Format format) {
  std::vector<Type> types{Type::int8, Type::text, Type::int16, Type::int32, Type::float32, Type::float64};
  if (format != Format::cdf2)
    types.insert(types.end(), {Type::uint8, Type::uint16, Type::uint32, Type::int64, Type::uint64});
  return types;
}

Schema schema_of_types(Format format) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 5).dimension("x", 7);
  for (const Type type : number_types(format)) {
    const std::string name(name_of(type));
    schema.variable("fixed_" + name, type, {"y", "x"});
    schema.variable("record_" + name, type, {"time", "y", "x"});
    schema.variable("scalar_" + name, type, {});
    schema.variable("series_" + name, type, {"time"});
  }
  return schema;
}

Schema filtered_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 50).dimension("x", 30);
  schema.variable("plain", Type::float32, {"time", "y", "x"}).with_chunk({1, 20, 30});
  schema.variable("span", Type::float64, {"time", "y"}).with_chunk({4, 20});
  schema.variable("packed", Type::float32, {"time", "y", "x"}).with_chunk({1, 13, 7}).with_deflate(4);
  schema.variable("unshuffled", Type::int32, {"time", "y", "x"}).with_deflate(9, false);
  schema.variable("packed_span", Type::int16, {"time", "y", "x"}).with_chunk({3, 50, 11}).with_deflate(1);
  schema.variable("packed_fixed", Type::float64, {"y", "x"}).with_deflate(2);
  schema.variable("chunked_fixed", Type::int8, {"y", "x"}).with_chunk({7, 30});
  schema.variable("packed_text", Type::text, {"time", "x"}).with_deflate(3);
  schema.variable("shuffled", Type::float64, {"time", "y", "x"}).shuffle = true;
  schema.variable("shuffled_fixed", Type::int32, {"y", "x"}).shuffle = true;
  schema.variable("summed", Type::int16, {"time", "y", "x"}).with_filter(3);
  schema.variable("summed_span", Type::float32, {"time", "y"})
      .with_chunk({4, 20})
      .with_filter(3)
      .with_deflate(3);
  return schema;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::current_path() / "store_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "cannot make " << pattern;
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Source sample_data(const Schema& schema, const model::FileLayout& layout) {
  return [&schema, &layout](std::uint32_t v, std::uint64_t record) {
    const Type type = schema.variables[v].type;
    const std::uint64_t points = layout.variables[v].shape.product();
    std::vector<std::byte> bytes(points * size_of(type));
    for (std::uint64_t i = 0; i < points; ++i)
      put_value(type, bytes.data() + i * size_of(type),
                static_cast<double>((i * 13 + record * 31 + v * 7) % 119));
    return bytes;
  };
}

Source noise_data(const Schema& schema, const model::FileLayout& layout) {
  return [&schema, &layout](std::uint32_t v, std::uint64_t record) {
    std::vector<std::byte> bytes(layout.variables[v].shape.product() * size_of(schema.variables[v].type));
    std::mt19937_64 generator(record * 1000 + v);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator() & 0xff);
    return bytes;
  };
}

std::shared_ptr<const model::FileLayout> layout_of(const Schema& schema, Format format,
                                                   const model::LayoutSizes& sizes) {
  auto layout = model::make_layout(schema, format, sizes);
  if (!layout) throw Failure(layout.error());
  return std::make_shared<const model::FileLayout>(std::move(*layout));
}

storage::FileRequest request_of(const std::string& path, const Schema& schema, Format format,
                                storage::Existing existing, const model::LayoutSizes& sizes) {
  storage::FileRequest request;
  request.path = path;
  request.schema = schema;
  request.layout = layout_of(schema, format, sizes);
  request.existing = existing;
  request.checksum = format != Format::memory;
  return request;
}

Result<storage::WriteCost> write_frame(storage::File& file, const storage::FileRequest& request,
                                       std::size_t number, std::uint64_t record, const Source& source,
                                       std::uint64_t epochs) {
  const model::Pieces pieces = request.layout->pieces_of(request.layout->frames[number]);
  return write_pieces(file, request, {pieces.begin(), pieces.end()}, record, source, epochs);
}

Result<storage::WriteCost> write_pieces(storage::File& file, const storage::FileRequest& request,
                                        const std::vector<model::Piece>& pieces, std::uint64_t record,
                                        const Source& source, std::uint64_t epochs) {
  const model::FileLayout& layout = *request.layout;
  const model::Frame frame = layout.frames[pieces.front().frame];
  const std::uint64_t phase = layout.phase(frame, record);
  codec::AlignedBuffer buffer(phase + frame.bytes);
  std::memset(buffer.data(), 0xA5, buffer.size());
  std::vector<storage::PieceWrite> writes;
  for (const model::Piece& piece : pieces) {
    const model::VariableLayout& variable = layout.variables[piece.variable];
    const std::size_t element = size_of(request.schema.variables[piece.variable].type);
    const std::vector<std::byte> dense = source(piece.variable, record);
    std::byte* target = buffer.data() + phase + piece.frame_offset;
    for (std::uint64_t n = 0; n < piece.stored.product(); ++n) {
      std::uint64_t rest = n;
      std::uint64_t from = 0;
      std::uint64_t scale = 1;
      bool inside = true;
      for (std::size_t d = piece.stored.size; d-- > 0; rest /= piece.stored[d], scale *= variable.shape[d]) {
        const std::uint64_t at = rest % piece.stored[d];
        inside = inside && at < piece.box.count[d];
        from += (piece.box.start[d] + at) * scale;
      }
      if (!inside) {
        std::memset(target + n * element, 0, element);
        continue;
      }
      std::memcpy(target + n * element, dense.data() + from * element, element);
      if (layout.big_endian != (std::endian::native == std::endian::big))
        std::reverse(target + n * element, target + (n + 1) * element);
    }
    writes.push_back({piece, record, {target, piece.bytes}, epochs});
  }
  return file.write(writes);
}

void write_record(storage::File& file, const storage::FileRequest& request, std::uint64_t record,
                  const Source& source) {
  for (std::size_t f = 0; f < request.layout->frames.size(); ++f) {
    if (!request.layout->frames[f].record) continue;
    const auto written = write_frame(file, request, f, record, source);
    ASSERT_TRUE(written) << written.error().text();
  }
}

void write_fixed(storage::File& file, const storage::FileRequest& request, const Source& source) {
  for (std::size_t f = 0; f < request.layout->frames.size(); ++f) {
    if (request.layout->frames[f].record) continue;
    const auto written = write_frame(file, request, f, 0, source);
    ASSERT_TRUE(written) << written.error().text();
  }
}

ReadFile read_netcdf(const std::string& path) {
  ReadFile file;
  int id = -1;
  const int status = nc_open(path.c_str(), NC_NOWRITE, &id);
  if (status != NC_NOERR) {
    ADD_FAILURE() << path << ": " << nc_strerror(status);
    return file;
  }
  int dimensions = 0;
  int variables = 0;
  int attributes = 0;
  int record_dimension = -1;
  ok(nc_inq(id, &dimensions, &variables, &attributes, &record_dimension), "inq");
  ok(nc_inq_format(id, &file.format), "inq_format");
  for (int d = 0; d < dimensions; ++d) {
    char name[NC_MAX_NAME + 1] = {};
    std::size_t length = 0;
    ok(nc_inq_dim(id, d, name, &length), "inq_dim");
    if (d == record_dimension) file.records = length;
    file.dimensions.push_back({name, d == record_dimension ? unlimited : length});
  }
  for (int v = 0; v < variables; ++v) {
    char name[NC_MAX_NAME + 1] = {};
    ok(nc_inq_varname(id, v, name), "inq_varname");
    file.order.emplace_back(name);
    file.variables[name] = read_variable(id, v, file.dimensions, file.records);
  }
  for (int a = 0; a < attributes; ++a) {
    char name[NC_MAX_NAME + 1] = {};
    ok(nc_inq_attname(id, NC_GLOBAL, a, name), "inq_attname");
    file.attributes[name] = read_attribute(id, NC_GLOBAL, name);
  }
  nc_close(id);
  return file;
}

ReadFile read_memory(const storage::MemoryStore& store, const std::string& path) {
  ReadFile file;
  const auto found = store.find(path);
  if (!found) {
    ADD_FAILURE() << path << " was not published";
    return file;
  }
  file.dimensions = found->schema.dimensions;
  file.records = found->records;
  for (const Attribute& attribute : found->schema.attributes)
    file.attributes[attribute.name] = attribute.values;
  for (std::size_t v = 0; v < found->variables.size(); ++v) {
    const Variable& variable = found->schema.variables[v];
    ReadVariable& read = file.variables[variable.name];
    file.order.push_back(variable.name);
    read.type = read.values.type = variable.type;
    read.dimensions = variable.dimensions;
    for (const Attribute& attribute : variable.attributes) read.attributes[attribute.name] = attribute.values;
    if (!variable.fill.empty()) read.attributes["_FillValue"] = variable.fill;
    for (const auto& record : found->variables[v].records)
      read.values.bytes.insert(read.values.bytes.end(), record.begin(), record.end());
    for (const auto& record : found->variables[v].strings)
      read.values.strings.insert(read.values.strings.end(), record.begin(), record.end());
  }
  return file;
}

Values expected_values(const Schema& schema, const model::FileLayout& layout, std::uint32_t v,
                       std::uint64_t records, const std::function<bool(std::uint64_t)>& written,
                       const Source& source) {
  static const std::map<Type, Values> defaults{{Type::int8, Values(std::int8_t{NC_FILL_BYTE})},
                                               {Type::text, Values::raw(Type::text, "\0", 1)},
                                               {Type::int16, Values(std::int16_t{NC_FILL_SHORT})},
                                               {Type::int32, Values(std::int32_t{NC_FILL_INT})},
                                               {Type::float32, Values(NC_FILL_FLOAT)},
                                               {Type::float64, Values(NC_FILL_DOUBLE)},
                                               {Type::uint8, Values(std::uint8_t{NC_FILL_UBYTE})},
                                               {Type::uint16, Values(std::uint16_t{NC_FILL_USHORT})},
                                               {Type::uint32, Values(std::uint32_t{NC_FILL_UINT})},
                                               {Type::int64, Values(std::int64_t{NC_FILL_INT64})},
                                               {Type::uint64, Values(std::uint64_t{NC_FILL_UINT64})}};
  const Variable& variable = schema.variables[v];
  const Values fill = variable.fill.empty() ? defaults.at(variable.type) : variable.fill;
  Values values;
  values.type = variable.type;
  const std::uint64_t count = layout.variables[v].record ? records : 1;
  for (std::uint64_t record = 0; record < count; ++record) {
    if (written(record)) {
      const std::vector<std::byte> dense = source(v, record);
      values.bytes.insert(values.bytes.end(), dense.begin(), dense.end());
    } else {
      for (std::uint64_t i = 0; i < layout.variables[v].shape.product(); ++i)
        values.bytes.insert(values.bytes.end(), fill.bytes.begin(), fill.bytes.end());
    }
  }
  return values;
}

void expect_contents(const ReadFile& file, const storage::FileRequest& request, std::uint64_t records,
                     const Source& source) {
  EXPECT_EQ(file.records, records);
  for (std::uint32_t v = 0; v < request.schema.variables.size(); ++v) {
    const Variable& variable = request.schema.variables[v];
    ASSERT_TRUE(file.variables.contains(variable.name)) << variable.name;
    const ReadVariable& read = file.variables.at(variable.name);
    EXPECT_EQ(read.type, variable.type) << variable.name;
    EXPECT_EQ(read.dimensions, variable.dimensions) << variable.name;
    if (variable.type == Type::string) continue;
    const Values expected = variable.constant.empty() ? expected_values(
                                                            request.schema, *request.layout, v, records,
                                                            [](std::uint64_t) { return true; }, source)
                                                      : variable.constant;
    EXPECT_TRUE(read.values == expected) << "values of '" << variable.name << "' differ";
  }
}

std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

namespace {

/// CRC-64/XZ as defined by the catalogue of parametrised CRC algorithms; independent of the
/// library.
std::uint64_t plain_crc64(const std::vector<std::byte>& bytes) {
  std::uint64_t table[256];
  for (std::uint64_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit)
      table[i] = (table[i] & 1) != 0 ? table[i] >> 1 ^ 0xC96C5795D7870F42u : table[i] >> 1;
  }
  std::uint64_t sum = ~std::uint64_t{0};
  for (const std::byte byte : bytes)
    sum = table[(sum ^ std::to_integer<std::uint64_t>(byte)) & 0xff] ^ sum >> 8;
  return ~sum;
}

}  // namespace

void expect_checksum(const std::string& path, const storage::Published& published) {
  const std::vector<std::byte> bytes = file_bytes(path);
  EXPECT_EQ(published.size_bytes, bytes.size()) << path;
  ASSERT_TRUE(published.checksum) << path;
  EXPECT_EQ(*published.checksum, plain_crc64(bytes)) << path;
}

void expect_checksum(const storage::FileRequest& request, const storage::Published& published) {
  if (request.checksum) return expect_checksum(request.path, published);
  EXPECT_FALSE(published.checksum);
}

bool file_exists(const std::string& path) { return std::filesystem::exists(path); }

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot run " << command;
    return output;
  }
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, count);
  EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << output;
  return output;
}

}  // namespace afterbay::test
