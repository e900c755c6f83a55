// SPDX-License-Identifier: Apache-2.0
// Requirements for every store, whatever its format. Contents are read by netCDF-C.
#include <gtest/gtest.h>
#include <netcdf.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "conformance/store_harness.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

class StoreConformance : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] Format format() const { return GetParam(); }
  [[nodiscard]] std::string path(const std::string& name = "out.nc") const { return directory_.file(name); }

  std::unique_ptr<storage::File> create(const storage::FileRequest& request) {
    auto file = store_->create(request);
    if (!file) {
      ADD_FAILURE() << file.error().text();
      return nullptr;
    }
    return std::move(*file);
  }

  void publish(storage::File& file) {
    const auto published = file.publish();
    ASSERT_TRUE(published) << published.error().text();
    EXPECT_EQ(published->checksum.has_value(), format() != Format::memory);
  }

  [[nodiscard]] ReadFile read(const std::string& name) const {
    return format() == Format::memory ? read_memory(*storage::memory_store_of(*store_), name)
                                      : read_netcdf(name);
  }

  /// Writes `records` whole records and the fixed variables, and publishes.
  void write_all(const storage::FileRequest& request, std::uint64_t records, const Source& source) {
    auto file = create(request);
    ASSERT_NE(file, nullptr);
    write_fixed(*file, request, source);
    for (std::uint64_t record = file->records(); record < records; ++record)
      write_record(*file, request, record, source);
    const auto published = file->publish();
    ASSERT_TRUE(published) << published.error().text();
    EXPECT_EQ(published->records, records);
    expect_checksum(request, *published);
  }

  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  TemporaryDirectory directory_;
};

TEST_P(StoreConformance, writes_every_type_as_fixed_record_scalar_and_series) {
  const auto request = request_of(path(), schema_of_types(format()), format());
  const Source source = sample_data(request.schema, *request.layout);
  write_all(request, 3, source);
  const ReadFile file = read(path());
  expect_contents(file, request, 3, source);
  std::vector<std::string> order;
  for (const Variable& variable : request.schema.variables) order.push_back(variable.name);
  EXPECT_EQ(file.order, order);
}

TEST_P(StoreConformance, writes_a_lone_record_variable_of_a_small_type) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 7);
  schema.variable("flags", Type::int8, {"time", "x"});
  const auto request = request_of(path(), schema, format());
  const Source source = sample_data(request.schema, *request.layout);
  write_all(request, 5, source);
  expect_contents(read(path()), request, 5, source);
}

TEST_P(StoreConformance, keeps_attributes_of_every_type_and_shape) {
  Schema schema;
  schema.dimension("x", 3);
  Variable& variable = schema.variable("v", Type::float32, {"x"});
  const auto add = [&](const std::string& name, const Values& values) {
    schema.attribute(name, values);
    variable.attribute(name, values);
  };
  add("text", "several words");
  add("empty_text", "");
  add("int8", Values(std::vector<std::int8_t>{-128, 127}));
  add("int16", Values(std::int16_t{-5}));
  add("int32", Values(std::vector<std::int32_t>{1, -2, 3}));
  add("float32", Values(std::vector<float>{1.5f, -0.0f}));
  add("float64", Values(3.141592653589793));
  if (format() != Format::cdf2) {
    add("uint8", Values(std::vector<std::uint8_t>{0, 255}));
    add("uint16", Values(std::uint16_t{65535}));
    add("uint32", Values(std::uint32_t{4294967295u}));
    add("int64", Values(std::vector<std::int64_t>{INT64_MIN, INT64_MAX}));
    add("uint64", Values(UINT64_MAX));
  }
  if (format() == Format::netcdf4 || format() == Format::memory) {
    add("string", Values(std::vector<std::string>{"one"}));
    add("strings", Values(std::vector<std::string>{"one", "", "drei \xc3\xa4"}));
  }
  const auto request = request_of(path(), schema, format());
  write_all(request, 0, sample_data(request.schema, *request.layout));
  const ReadFile file = read(path());
  for (const Attribute& attribute : schema.attributes) {
    ASSERT_TRUE(file.attributes.contains(attribute.name)) << attribute.name;
    EXPECT_TRUE(file.attributes.at(attribute.name) == attribute.values) << attribute.name;
    ASSERT_TRUE(file.variables.at("v").attributes.contains(attribute.name)) << attribute.name;
    EXPECT_TRUE(file.variables.at("v").attributes.at(attribute.name) == attribute.values) << attribute.name;
  }
  EXPECT_EQ(file.attributes.size(), schema.attributes.size());
}

TEST_P(StoreConformance, writes_constants_coordinates_and_dimensions_without_variables) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lat", 4).dimension("lon", 6).dimension("bounds", 2);
  schema.variable("time", Type::float64, {"time"}).attribute("units", "hours since 2000-01-01");
  schema.variable("lat", Type::float64, {"lat"}).with_constant(Values({-60.0, -20.0, 20.0, 60.0}));
  schema.variable("lat_bounds", Type::int16, {"lat", "bounds"})
      .with_constant(Values(std::vector<std::int16_t>{-80, -40, -40, 0, 0, 40, 40, 80}));
  schema.variable("level", Type::float32, {}).with_constant(Values(500.0f));
  schema.variable("t", Type::float32, {"time", "lat", "lon"});
  const auto request = request_of(path(), schema, format());
  const Source source = sample_data(request.schema, *request.layout);
  write_all(request, 2, source);
  const ReadFile file = read(path());
  expect_contents(file, request, 2, source);
  EXPECT_EQ(file.dimensions, schema.dimensions);
}

TEST_P(StoreConformance, refuses_constants_of_a_wrong_number_or_type) {
  Schema schema;
  schema.dimension("lat", 4);
  schema.variable("lat", Type::float64, {"lat"}).with_constant(Values({1.0, 2.0}));
  const auto few = store_->create(request_of(path(), schema, format()));
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(few.error().variable, "lat");
  schema.find_variable("lat")->with_constant(Values({1.0f, 2.0f, 3.0f, 4.0f}));
  const auto type = store_->create(request_of(path(), schema, format()));
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().code, ErrorCode::wrong_type);
  EXPECT_FALSE(file_exists(path() + ".part"));
}

TEST_P(StoreConformance, fills_records_and_pieces_that_were_never_written) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 60).dimension("x", 50);
  schema.variable("given", Type::float32, {"time", "y", "x"}).with_fill(Values(-999.0f));
  schema.variable("usual", Type::int16, {"time", "y", "x"});
  schema.variable("series", Type::float64, {"time"});
  schema.variable("never", Type::int32, {"time", "x"});
  schema.variable("fixed", Type::float64, {"y", "x"}).with_fill(Values(1e30));
  schema.variable("fixed_never", Type::float32, {"y", "x"});
  const model::LayoutSizes small{16u << 10, 8u << 10};  // several frames per variable
  const auto request = request_of(path(), schema, format(), Existing::refuse, small);
  const Source source = sample_data(request.schema, *request.layout);
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  // Records 1 and 4 of the variables before `never`; only the first piece of `fixed`.
  std::vector<bool> fixed_written(request.layout->pieces.size());
  for (std::size_t f = 0; f < request.layout->frames.size(); ++f) {
    const model::Frame& frame = request.layout->frames[f];
    for (const model::Piece& piece : request.layout->pieces_of(frame)) {
      const std::string& name = request.schema.variables[piece.variable].name;
      if (name == "never" || name == "fixed_never" || (name == "fixed" && piece.number > 0)) continue;
      const auto dense = source(piece.variable, 0);
      // Frames may mix variables: write the pieces one by one.
      for (const std::uint64_t record : {4u, 1u}) {
        const auto written = write_pieces(*file, request, {piece}, frame.record ? record : 0, source);
        ASSERT_TRUE(written) << written.error().text();
        if (!frame.record) break;
      }
    }
  }
  publish(*file);
  const ReadFile result = read(path());
  EXPECT_EQ(result.records, 5u);
  const auto expect = [&](const std::string& name, const std::function<bool(std::uint64_t)>& written) {
    for (std::uint32_t v = 0; v < schema.variables.size(); ++v) {
      if (schema.variables[v].name != name) continue;
      EXPECT_TRUE(result.variables.at(name).values ==
                  expected_values(schema, *request.layout, v, 5, written, source))
          << name;
    }
  };
  const auto some = [](std::uint64_t record) { return record == 1 || record == 4; };
  const auto none = [](std::uint64_t) { return false; };
  for (const char* name : {"given", "usual", "series"}) expect(name, some);
  for (const char* name : {"never", "fixed_never"}) expect(name, none);
  // The first rows of `fixed` were written, the rest is fill values.
  const Values& fixed = result.variables.at("fixed").values;
  const std::uint64_t points = request.layout->pieces_of_variable(4)[0].box.points();
  ASSERT_LT(points, 3000u);
  Values wanted = expected_values(schema, *request.layout, 4, 5, none, source);
  const auto dense = source(4, 0);
  std::copy_n(dense.begin(), points * 8, wanted.bytes.begin());
  EXPECT_TRUE(fixed == wanted);
  EXPECT_TRUE(result.variables.at("given").attributes.at("_FillValue") == Values(-999.0f));
  EXPECT_FALSE(result.variables.at("usual").attributes.contains("_FillValue"));
}

TEST_P(StoreConformance, takes_records_in_any_order) {
  const auto request = request_of(path(), schema_of_types(format()), format());
  const Source source = sample_data(request.schema, *request.layout);
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  for (const std::uint64_t record : {5u, 0u, 3u, 1u, 4u, 2u}) write_record(*file, request, record, source);
  write_fixed(*file, request, source);
  publish(*file);
  expect_contents(read(path()), request, 6, source);
}

TEST_P(StoreConformance, refuses_a_record_that_lies_absurdly_far_ahead_at_once) {
  const auto request = request_of(path(), schema_of_types(format()), format());
  const Source source = sample_data(request.schema, *request.layout);
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  write_fixed(*file, request, source);
  for (std::uint64_t record = 0; record < 2; ++record) write_record(*file, request, record, source);
  std::size_t frame = 0;
  while (!request.layout->frames[frame].record) ++frame;
  for (const std::uint64_t record :
       {std::uint64_t{2'000'000'000}, std::uint64_t{20'260'101}, ~std::uint64_t{0}}) {
    const auto refused = write_frame(*file, request, frame, record, source);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(refused.error().file, path());
    EXPECT_EQ(refused.error().variable.substr(0, 7), "record_") << refused.error().variable;
    for (const std::string& part :
         {"record " + std::to_string(record) + " of variable", std::string("the file has 2"),
          std::string(" GiB in all"), std::string("not its date or time")})
      EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
  publish(*file);
  expect_contents(read(path()), request, 2, source);
}

TEST_P(StoreConformance, takes_pieces_from_several_threads) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("z", 6).dimension("y", 100).dimension("x", 90);
  schema.variable("a", Type::float32, {"time", "z", "y", "x"});
  schema.variable("b", Type::float64, {"time", "y", "x"});
  schema.variable("c", Type::int16, {"time"});
  if (format() == Format::netcdf4) {
    schema.variable("packed", Type::float32, {"time", "y", "x"}).with_deflate(1);
    schema.variable("spanned", Type::float32, {"time", "y"}).with_chunk({4, 100}).with_deflate(2);
  }
  const model::LayoutSizes sizes{256u << 10, 128u << 10};
  const auto request = request_of(path(), schema, format(), Existing::refuse, sizes);
  const Source source = sample_data(request.schema, *request.layout);
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  constexpr std::uint64_t records = 10;
  std::atomic<std::uint64_t> next{0};
  const std::uint64_t frames = request.layout->frames.size();
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (std::uint64_t n = next++; n < records * frames; n = next++)
          if (!write_frame(*file, request, n % frames, n / frames, source)) ++failures;
      });
  }
  EXPECT_EQ(failures, 0);
  publish(*file);
  expect_contents(read(path()), request, records, source);
}

TEST_P(StoreConformance, appends_records_to_its_own_file) {
  const Schema schema = schema_of_types(format());
  const auto first = request_of(path(), schema, format());
  const Source source = sample_data(first.schema, *first.layout);
  write_all(first, 3, source);
  auto second = request_of(path(), schema, format(), Existing::append);
  auto file = create(second);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->records(), 3u);
  for (std::uint64_t record = 3; record < 6; ++record) write_record(*file, second, record, source);
  EXPECT_EQ(read(path()).records, 3u) << "the published file must stay as it is until it is replaced";
  publish(*file);
  expect_contents(read(path()), second, 6, source);
  // Again, leaving a hole.
  file = create(second);
  ASSERT_NE(file, nullptr);
  write_record(*file, second, 7, source);
  publish(*file);
  const ReadFile result = read(path());
  EXPECT_EQ(result.records, 8u);
  for (std::uint32_t v = 0; v < schema.variables.size(); ++v)
    EXPECT_TRUE(result.variables.at(schema.variables[v].name).values ==
                expected_values(
                    schema, *second.layout, v, 8, [](std::uint64_t r) { return r != 6; }, source))
        << schema.variables[v].name;
}

TEST_P(StoreConformance, rewrites_records_when_appending) {
  const Schema schema = schema_of_types(format());
  const auto first = request_of(path(), schema, format());
  const Source source = sample_data(first.schema, *first.layout);
  write_all(first, 4, source);
  const Source other = [&](std::uint32_t v, std::uint64_t record) {
    return source(v, record < 2 ? record : record + 50);
  };
  const auto second = request_of(path(), schema, format(), Existing::append);
  auto file = create(second);
  ASSERT_NE(file, nullptr);
  for (std::uint64_t record = 2; record < 6; ++record) write_record(*file, second, record, other);
  publish(*file);
  expect_contents(read(path()), second, 6, other);
}

TEST_P(StoreConformance, makes_a_new_file_when_there_is_nothing_to_append_to) {
  const auto request = request_of(path(), schema_of_types(format()), format(), Existing::append);
  const Source source = sample_data(request.schema, *request.layout);
  write_all(request, 2, source);
  expect_contents(read(path()), request, 2, source);
}

TEST_P(StoreConformance, lists_what_differs_when_a_file_cannot_be_appended_to) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lat", 4).dimension("old", 2);
  schema.variable("t", Type::float32, {"time", "lat"}).attribute("units", "K");
  schema.variable("q", Type::float32, {"time", "lat"});
  schema.attribute("title", "first").attribute("history", "yesterday");
  const auto first = request_of(path(), schema, format());
  write_all(first, 1, sample_data(first.schema, *first.layout));
  Schema other;
  other.dimension("time", unlimited).dimension("lat", 5);
  other.variable("t", Type::float64, {"time", "lat"}).attribute("units", "degC");
  other.variable("w", Type::float32, {"time", "lat"});
  other.attribute("title", "second").attribute("history", "today");
  const auto refused = store_->create(request_of(path(), other, format(), Existing::append));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(refused.error().file, path());
  for (const char* text :
       {"dimension 'lat': length 5 wanted, 4 in the file", "dimension 'old' is in the file but not wanted",
        "variable 't': type float64 wanted, float32 in the file",
        "variable 'w' is wanted but not in the file", "variable 'q' is in the file but not wanted",
        "attribute 't:units': text \"degC\" wanted, text \"K\" in the file",
        "global attribute 'title': text \"second\" wanted, text \"first\" in the file"})
    EXPECT_NE(refused.error().message.find(text), std::string::npos) << text << " not in:\n"
                                                                     << refused.error().message;
  EXPECT_EQ(refused.error().message.find("history"), std::string::npos);
  EXPECT_FALSE(file_exists(path() + ".part"));
  EXPECT_EQ(read(path()).records, 1u);
}

/// Before, a missing one was called: text "".
TEST_P(StoreConformance, says_which_fill_values_differ_when_a_file_cannot_be_appended_to) {
  const auto schema_of = [](std::optional<std::int16_t> a, std::optional<std::int16_t> b, std::int16_t c) {
    Schema it;
    it.dimension("time", unlimited).dimension("x", 4);
    it.variable("a", Type::int16, {"time", "x"});
    it.variable("b", Type::int16, {"time", "x"});
    it.variable("c", Type::int16, {"time", "x"}).with_fill(Values(c));
    if (a) it.variables[0].with_fill(Values(*a));
    if (b) it.variables[1].with_fill(Values(*b));
    return it;
  };
  const auto first = request_of(path(), schema_of(std::nullopt, -7, 1), format());
  write_all(first, 1, sample_data(first.schema, *first.layout));
  const auto refused =
      store_->create(request_of(path(), schema_of(-999, std::nullopt, 2), format(), Existing::append));
  ASSERT_FALSE(refused);
  for (const char* text :
       {"variable 'a': fill value int16 -999 wanted, but it has no attribute _FillValue in the file",
        "variable 'b': no fill value wanted, but its attribute _FillValue is int16 -7 in the file",
        "variable 'c': fill value int16 2 wanted, int16 1 in the file"})
    EXPECT_NE(refused.error().message.find(text), std::string::npos) << text << " not in:\n"
                                                                     << refused.error().message;
}

TEST_P(StoreConformance, refuses_or_replaces_a_file_that_exists) {
  Schema schema;
  schema.dimension("time", unlimited);
  schema.variable("n", Type::int32, {"time"});
  const auto request = request_of(path(), schema, format());
  const Source source = sample_data(request.schema, *request.layout);
  write_all(request, 2, source);
  const auto refused = store_->create(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exists);
  EXPECT_NE(refused.error().message.find(path()), std::string::npos);
  write_all(request_of(path(), schema, format(), Existing::replace), 5, source);
  expect_contents(read(path()), request, 5, source);
}

TEST_P(StoreConformance, refuses_a_second_writer_of_one_file) {
  Schema schema;
  schema.dimension("time", unlimited);
  schema.variable("n", Type::int32, {"time"});
  const auto request = request_of(path(), schema, format(), Existing::replace);
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  const auto second = store_->create(request);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_EQ(second.error().file, path());
  const Source source = sample_data(request.schema, *request.layout);
  write_record(*file, request, 0, source);
  publish(*file);
  file = create(request);  // the name is free again
  ASSERT_NE(file, nullptr);
  file->abandon();
  EXPECT_NE(create(request), nullptr);
}

TEST_P(StoreConformance, publishes_nothing_before_it_is_told_to) {
  const auto request = request_of(path(), schema_of_types(format()), format());
  const Source source = sample_data(request.schema, *request.layout);
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  write_record(*file, request, 0, source);
  EXPECT_FALSE(file_exists(path()));
  file->abandon();
  EXPECT_FALSE(file_exists(path()));
  EXPECT_EQ(file_exists(path() + ".part"), format() != Format::memory);
  const auto late = file->publish();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::bad_state);
  // The remains do not obstruct the next run.
  write_all(request, 2, source);
  expect_contents(read(path()), request, 2, source);
  EXPECT_FALSE(file_exists(path() + ".part"));
}

TEST_P(StoreConformance, refuses_pieces_of_a_wrong_length) {
  const auto request = request_of(path(), schema_of_types(format()), format());
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  const std::vector<std::byte> bytes(3);
  const storage::PieceWrite write{request.layout->pieces[0], 0, bytes};
  const auto refused = file->write({&write, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().variable, request.schema.variables[request.layout->pieces[0].variable].name);
}

TEST_P(StoreConformance, writes_strings_or_says_that_the_format_has_none) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("station", 3);
  schema.variable("n", Type::int32, {"time"});
  schema.variable("name", Type::string, {"station"})
      .with_constant(Values(std::vector<std::string>{"a", "", "Zug\xc3\xbcrich"}));
  schema.variable("given", Type::string, {"station"});
  schema.variable("label", Type::string, {"time", "station"});
  schema.variable("note", Type::string, {"time"});
  const bool holds = !traits_of(format()).arithmetic_places;
  const auto request = request_of(path(), schema, format());
  if (!holds) {
    const auto refused = store_->create(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::wrong_type);
    EXPECT_EQ(refused.error().variable, "name");
    return;
  }
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  const std::vector<std::string> given{"x", "yy", "zzz"};
  const std::vector<std::string> labels{"first", "", "third of a record"};
  const std::vector<std::string> note{"only one"};
  const auto put = [&](std::uint32_t v, std::uint64_t record, const std::vector<std::string>& values) {
    const auto written = file->write_strings(v, record, values);
    ASSERT_TRUE(written) << written.error().text();
  };
  put(2, 0, given);
  put(3, 2, labels);
  put(3, 0, given);
  put(4, 1, note);
  const auto wrong = file->write_strings(4, 1, given);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().variable, "note");
  publish(*file);
  const ReadFile result = read(path());
  EXPECT_EQ(result.records, 3u);
  EXPECT_EQ(result.variables.at("name").values.strings, schema.variables[1].constant.strings);
  EXPECT_EQ(result.variables.at("given").values.strings, given);
  EXPECT_EQ(result.variables.at("label").values.strings,
            (std::vector<std::string>{"x", "yy", "zzz", "", "", "", "first", "", "third of a record"}));
  EXPECT_EQ(result.variables.at("note").values.strings, (std::vector<std::string>{"", "only one", ""}));
}

TEST_P(StoreConformance, writes_a_file_without_variables) {
  Schema schema;
  schema.dimension("x", 4).attribute("title", "empty");
  const auto request = request_of(path(), schema, format());
  write_all(request, 0, sample_data(request.schema, *request.layout));
  const ReadFile file = read(path());
  EXPECT_EQ(file.dimensions, schema.dimensions);
  EXPECT_TRUE(file.attributes.at("title") == Values("empty"));
}

TEST_P(StoreConformance, counts_the_bytes_it_takes_and_writes) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 512).dimension("x", 512);
  schema.variable("t", Type::float32, {"time", "y", "x"});
  const auto request = request_of(path(), schema, format());
  const Source source = sample_data(request.schema, *request.layout);
  auto file = create(request);
  ASSERT_NE(file, nullptr);
  const auto cost = write_frame(*file, request, 0, 0, source);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes_in, 512u * 512 * 4);
  EXPECT_EQ(cost->bytes_out, 512u * 512 * 4);
  EXPECT_EQ(cost->direct_bytes, file->engine() == "direct" ? 512u * 512 * 4 : 0);
  publish(*file);
  expect_contents(read(path()), request, 1, source);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance,
                         testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2, Format::memory),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

}  // namespace
}  // namespace afterbay::test
