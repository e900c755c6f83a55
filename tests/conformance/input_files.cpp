// SPDX-License-Identifier: Apache-2.0
#include "conformance/input_files.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

namespace afterbay::test {
namespace {

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string python() {
  const char* named = std::getenv("AFTERBAY_PYTHON");
  return named == nullptr ? "python3" : named;
}

/// The part `box` of a dense array of `shape` at `from`.
std::vector<std::byte> cut(const std::byte* from, const model::Index& shape, const model::Box& box,
                           std::size_t element) {
  std::vector<std::byte> part;
  for (std::uint64_t n = 0; n < box.points(); ++n) {
    std::uint64_t rest = n;
    std::uint64_t at = 0;
    std::uint64_t scale = 1;
    for (std::size_t d = box.rank(); d-- > 0; scale *= shape[d]) {
      at += (box.start[d] + rest % box.count[d]) * scale;
      rest /= box.count[d];
    }
    part.insert(part.end(), from + at * element, from + (at + 1) * element);
  }
  return part;
}

void expect_parts(storage::StoredFile& file, std::uint32_t v, std::uint64_t record,
                  const std::byte* expected) {
  const Variable& variable = file.schema().variables[v];
  const model::Box whole = whole_of(file, v);
  const std::size_t element = size_of(variable.type);
  const std::vector<std::byte> all = read_box(file, v, record, whole);
  ASSERT_EQ(all.size(), whole.points() * element);
  EXPECT_EQ(std::memcmp(all.data(), expected, all.size()), 0) << variable.name << ", record " << record;
  std::mt19937 generator(static_cast<unsigned>(record * 100 + v));
  for (int draw = 0; draw < 12 && whole.rank() > 0; ++draw) {
    model::Box box = whole;
    for (std::size_t d = 0; d < box.rank(); ++d) {
      if (generator() % 3 == 0) continue;  // all of this dimension
      box.start[d] = generator() % whole.count[d];
      box.count[d] = 1 + generator() % (whole.count[d] - box.start[d]);
    }
    EXPECT_TRUE(read_box(file, v, record, box) == cut(expected, whole.count, box, element))
        << variable.name << ", record " << record << ", draw " << draw;
  }
}

void expect_variable(storage::StoredFile& file, std::uint32_t v, const ReadVariable& expected) {
  const Variable& variable = file.schema().variables[v];
  EXPECT_EQ(variable.type, expected.type) << variable.name;
  EXPECT_EQ(variable.dimensions, expected.dimensions) << variable.name;
  for (const Attribute& attribute : variable.attributes)
    EXPECT_TRUE(attribute.values == expected.attributes.at(attribute.name))
        << variable.name << ":" << attribute.name;
  EXPECT_EQ(variable.attributes.size() + (variable.fill.empty() ? 0 : 1), expected.attributes.size())
      << variable.name;
  const model::Box whole = whole_of(file, v);
  const bool has_records = whole.rank() < variable.dimensions.size();
  const std::uint64_t records = has_records ? file.records() : 1;
  for (std::uint64_t record = 0; record < records; ++record) {
    if (variable.type != Type::string) {
      const std::size_t slab_bytes = whole.points() * size_of(variable.type);
      ASSERT_EQ(expected.values.bytes.size(), records * slab_bytes) << variable.name;
      expect_parts(file, v, record, expected.values.bytes.data() + record * slab_bytes);
      continue;
    }
    const auto strings = file.read_strings(v, record);
    ASSERT_TRUE(strings) << strings.error().text();
    const auto first = expected.values.strings.begin() + static_cast<std::ptrdiff_t>(record * whole.points());
    EXPECT_EQ(*strings, std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(whole.points())));
  }
}

}  // namespace

void make_from_cdl(const std::string& cdl, const std::string& path, const std::string& kind) {
  std::ofstream(path + ".cdl") << cdl;
  output_of("ncgen -k " + quoted(kind) + " -o " + quoted(path) + " " + quoted(path + ".cdl"));
}

bool python_has(const std::string& modules) {
  return std::system((python() + " -c 'import " + modules + "' 2>/dev/null").c_str()) == 0;
}

void run_python(const std::string& script, const std::string& path) {
  std::ofstream(path + ".py") << script;
  output_of(python() + " " + quoted(path + ".py") + " " + quoted(path));
}

std::unique_ptr<storage::StoredFile> open_input(const std::string& path, storage::DirectIo direct_io) {
  auto file = storage::StoredFile::open(path, direct_io);
  if (!file) {
    ADD_FAILURE() << file.error().text();
    throw Failure(file.error());
  }
  return std::move(*file);
}

std::uint32_t number_of(const storage::StoredFile& file, std::string_view variable) {
  for (std::uint32_t v = 0; v < file.schema().variables.size(); ++v)
    if (file.schema().variables[v].name == variable) return v;
  ADD_FAILURE() << "no variable " << variable;
  throw Failure(make_error(ErrorCode::unknown_name, "no variable {}", variable));
}

model::Box whole_of(const storage::StoredFile& file, std::uint32_t variable) {
  model::Box box;
  for (const std::string& name : file.schema().variables[variable].dimensions) {
    const Dimension* dimension = file.schema().find_dimension(name);
    if (dimension->is_unlimited()) continue;
    box.start.push_back(0);
    box.count.push_back(dimension->length);
  }
  return box;
}

model::Box box_of(std::vector<std::uint64_t> start, std::vector<std::uint64_t> count) {
  return {model::Index(start), model::Index(count)};
}

std::vector<std::byte> read_box(storage::StoredFile& file, std::uint32_t variable, std::uint64_t record,
                                const model::Box& box) {
  std::vector<std::byte> bytes(box.points() * size_of(file.schema().variables[variable].type),
                               std::byte{0x5A});
  const auto cost = file.read(variable, record, box, bytes);
  if (!cost)
    ADD_FAILURE() << cost.error().text();
  else
    EXPECT_EQ(cost->bytes_out, bytes.size());
  return bytes;
}

void expect_as_netcdf(storage::StoredFile& file) {
  const ReadFile expected = read_netcdf(file.path());
  EXPECT_EQ(file.schema().dimensions, expected.dimensions);
  EXPECT_EQ(file.records(), expected.records);
  ASSERT_EQ(file.schema().variables.size(), expected.order.size());
  for (const Attribute& attribute : file.schema().attributes)
    EXPECT_TRUE(attribute.values == expected.attributes.at(attribute.name)) << attribute.name;
  EXPECT_EQ(file.schema().attributes.size(), expected.attributes.size());
  for (std::uint32_t v = 0; v < expected.order.size(); ++v) {
    EXPECT_EQ(file.schema().variables[v].name, expected.order[v]);
    expect_variable(file, v, expected.variables.at(expected.order[v]));
  }
}

Error read_error(storage::StoredFile& file, std::string_view variable, std::uint64_t record) {
  const std::uint32_t number = number_of(file, variable);
  const model::Box box = whole_of(file, number);
  std::vector<std::byte> bytes(box.points() * size_of(file.schema().variables[number].type));
  auto cost = file.read(number, record, box, bytes);
  if (cost) {
    ADD_FAILURE() << "reading " << variable << " did not fail";
    return {};
  }
  return std::move(cost).error();
}

}  // namespace afterbay::test
