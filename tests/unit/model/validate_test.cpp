// SPDX-License-Identifier: Apache-2.0
#include "model/validate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/caller_terms.hpp"
#include "model/converted_values.hpp"

namespace afterbay::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Schema good() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lat", 3).dimension("lon", 4);
  schema.attribute("title", "a run");
  schema.variable("lat", Type::float64, {"lat"}).with_constant(std::vector<double>{-60, 0, 60});
  schema.variable("T", Type::float32, {"time", "lat", "lon"})
      .with_fill(-999.0F)
      .attribute("units", "K")
      .on("grid");
  schema.variable("scalar", Type::int32, {});
  return schema;
}

std::string problems(const Schema& schema, Format format = Format::netcdf4) {
  const Result<> result = validate(schema, format);
  return result ? "valid" : result.error().message;
}

/// The error message after one change to a valid schema.
std::string after(const std::function<void(Schema&, Variable&)>& change, Format format = Format::netcdf4) {
  Schema schema = good();
  change(schema, *schema.find_variable("T"));
  return problems(schema, format);
}

TEST(ModelValidate, a_good_schema_is_valid_in_every_format) {
  for (const Format format : {Format::netcdf4, Format::cdf5, Format::cdf2, Format::memory})
    EXPECT_EQ(problems(good(), format), "valid");
  EXPECT_EQ(problems(Schema{}), "valid");
}

TEST(ModelValidate, names_follow_the_netcdf_users_guide) {
  for (const char* name : {"T", "_x", "2m", "a b", "T-2.m", "Größe", "温度", "a@b", "x+y"})
    EXPECT_EQ(name_problem(name), "") << name;
  EXPECT_THAT(name_problem(""), HasSubstr("empty"));
  EXPECT_THAT(name_problem("-x"), HasSubstr("must begin"));
  EXPECT_THAT(name_problem(" x"), HasSubstr("must begin"));
  EXPECT_THAT(name_problem("x "), HasSubstr("end with a space"));
  EXPECT_THAT(name_problem("a/b"), HasSubstr("'/'"));
  EXPECT_THAT(name_problem("a\tb"), HasSubstr("control character 0x09"));
  EXPECT_THAT(name_problem("a\x7f"), HasSubstr("control character 0x7f"));
  EXPECT_THAT(name_problem("a\xc3"), HasSubstr("not UTF-8"));
  EXPECT_THAT(name_problem("a\xc0\xaf"), HasSubstr("not UTF-8"));
  EXPECT_THAT(name_problem("a\xed\xa0\x80"), HasSubstr("not UTF-8"));
  EXPECT_THAT(name_problem(std::string(257, 'x')), HasSubstr("257 bytes"));
  EXPECT_THAT(after([](Schema& s, Variable&) { s.dimension("a/b", 2); }),
              HasSubstr("dimension 'a/b': its name contains '/'"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.attribute("a/b", 2); }),
              HasSubstr("attribute 'a/b': its name contains"));
  EXPECT_THAT(after([](Schema& s, Variable&) { s.variable("a/b", Type::int8, {}); }),
              HasSubstr("variable 'a/b' has an impossible name"));
}

TEST(ModelValidate, names_are_given_once) {
  EXPECT_THAT(after([](Schema& s, Variable&) { s.dimension("lat", 3); }),
              HasSubstr("dimension 'lat' is defined twice"));
  EXPECT_THAT(after([](Schema& s, Variable&) { s.variable("T", Type::int8, {}); }),
              HasSubstr("variable 'T' is defined twice"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.attributes.push_back({"units", "C"}); }),
              HasSubstr("variable 'T': attribute 'units' is given twice"));
  EXPECT_THAT(after([](Schema& s, Variable&) { s.attributes.push_back({"title", "b"}); }),
              HasSubstr("global attribute 'title' is given twice"));
}

TEST(ModelValidate, dimensions_must_be_known_and_the_unlimited_one_first) {
  const std::string unknown = after([](Schema&, Variable& t) { t.dimensions[2] = "lom"; });
  EXPECT_THAT(unknown,
              AllOf(HasSubstr("variable 'T' has the dimension 'lom'"), HasSubstr("did you mean \"lon\"")));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.dimensions = {"lat", "time", "lon"}; }),
              HasSubstr("unlimited dimension 'time' as dimension 1: it must come first"));
  EXPECT_THAT(after([](Schema& s, Variable&) { s.dimension("station", 0); }),
              AllOf(HasSubstr("'station' is unlimited and 'time' too"), HasSubstr("must not be 0")));
  EXPECT_EQ(after([](Schema&, Variable& t) {
              t.dimensions = {"time", "lat", "lat", "lat", "lat", "lat", "lat", "lat"};
            }),
            "valid");
  EXPECT_THAT(after([](Schema&, Variable& t) { t.dimensions.assign(8, "lat"); }),
              HasSubstr("8 dimensions besides the unlimited one: at most 7"));
}

TEST(ModelValidate, types_must_fit_the_format) {
  const auto with_string = [](Schema& s, Variable&) { s.variable("names", Type::string, {"lat"}); };
  EXPECT_EQ(after(with_string), "valid");
  EXPECT_EQ(after(with_string, Format::memory), "valid");
  EXPECT_THAT(after(with_string, Format::cdf5),
              HasSubstr("variable 'names' is string, but cdf5 holds all types but string"));
  const auto with_int64 = [](Schema&, Variable& t) { t.attribute("count", std::int64_t{1}); };
  EXPECT_EQ(after(with_int64, Format::cdf5), "valid");
  EXPECT_THAT(after(with_int64, Format::cdf2),
              HasSubstr("variable 'T': attribute 'count' is int64, but cdf2 holds int8, text, int16"));
  const auto uint8 = [](Schema& s, Variable&) { s.variable("mask", Type::uint8, {"lat"}); };
  EXPECT_EQ(after(uint8, Format::cdf5), "valid");
  EXPECT_THAT(after(uint8, Format::cdf2), HasSubstr("variable 'mask' is uint8"));
  const auto strings = [](Schema& s, Variable&) {
    s.attribute("authors", std::vector<std::string>{"a", "b"});
  };
  EXPECT_EQ(after(strings), "valid");
  EXPECT_THAT(after(strings, Format::cdf2), HasSubstr("global attribute 'authors' is string"));
}

TEST(ModelValidate, fill_values_can_become_the_type_of_the_variable) {
  EXPECT_EQ(after([](Schema&, Variable& t) { t.with_fill(-999.0); }), "valid");
  EXPECT_THAT(
      after([](Schema&, Variable& t) { t.with_fill(1e300); }),
      HasSubstr(
          "variable 'T' is float32, but its fill value is float64 1e+300, which cannot become float32"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_fill("none"); }),
              HasSubstr("its fill value is text \"none\", which cannot become float32"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_fill(std::vector<float>{1, 2}); }),
              HasSubstr("fill value of 2 elements: it must be one"));
  EXPECT_EQ(after([](Schema&, Variable& t) { t.attribute("_FillValue", -999); }), "valid");
  EXPECT_THAT(after([](Schema&, Variable& t) { t.attribute("_FillValue", "x"); }),
              HasSubstr("its attribute '_FillValue' is text"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.attribute("_FillValue", 1.0F); }),
              HasSubstr("another one as attribute '_FillValue'"));
  EXPECT_EQ(after([](Schema&, Variable& t) { t.attribute("_FillValue", -999.0F); }), "valid");
}

TEST(ModelValidate, constants_can_become_the_variables_type_and_have_its_shape) {
  const auto lat = [](auto change) {
    return after([&](Schema& s, Variable&) { change(*s.find_variable("lat")); });
  };
  EXPECT_THAT(lat([](Variable& v) { v.with_constant(std::vector<double>{1, 2}); }),
              HasSubstr("variable 'lat' has 2 constant values, but its dimensions make 3"));
  EXPECT_EQ(lat([](Variable& v) { v.with_constant(std::vector<float>{1, 2, 3}); }), "valid");
  EXPECT_THAT(
      lat([](Variable& v) { v.with_constant("abc"); }),
      HasSubstr("is float64, but its constant values are text \"abc\", which cannot all become float64"));
  EXPECT_THAT(lat([](Variable& v) { v.on("grid"); }), HasSubstr("constant values and decomposition 'grid'"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_constant(1.0F); }),
              HasSubstr("constant values and the unlimited dimension 'time'"));
  EXPECT_EQ(after([](Schema& s, Variable&) { s.find_variable("scalar")->with_constant(7); }), "valid");
  const auto strings = [](Schema& s, Variable&) {
    s.variable("names", Type::string, {"lat"}).with_constant(std::vector<std::string>{"a", "b", "c"});
  };
  EXPECT_EQ(after(strings), "valid");
}

TEST(ModelValidate, constants_and_fill_values_are_converted_as_put_converts) {
  Schema schema = good();
  schema.find_variable("lat")->with_constant(std::vector<int>{-60, 0, 60});
  schema.find_variable("T")->with_fill(-999.5);
  schema.find_variable("scalar")->with_constant(7.9).attribute("_FillValue", -1.0F);
  convert_values(schema);
  EXPECT_EQ(schema.find_variable("lat")->constant, Values(std::vector<double>{-60, 0, 60}));
  EXPECT_EQ(schema.find_variable("T")->fill, Values(-999.5F));
  EXPECT_EQ(schema.find_variable("scalar")->constant, Values(7)) << "truncated, as put does";
  EXPECT_EQ(schema.find_variable("scalar")->attributes[0].values, Values(-1));
  EXPECT_EQ(converted(Values(300), Type::int8), std::nullopt);
  EXPECT_EQ(converted(Values(std::vector<std::string>{"1"}), Type::int8), std::nullopt);
}

TEST(ModelValidate, fortran_callers_read_dimensions_in_their_order) {
  const auto last = [](Schema&, Variable& t) { t.dimensions = {"lat", "lon", "time"}; };
  EXPECT_THAT(after(last),
              HasSubstr("unlimited dimension 'time' as dimension 2: it must come first (slowest)"));
  const InTerms fortran(Terms::fortran);
  EXPECT_THAT(after(last),
              HasSubstr("unlimited dimension 'time' as dimension 1: it must come last (slowest)"));
}

TEST(ModelValidate, chunks_and_filters_must_be_possible) {
  EXPECT_EQ(after([](Schema&, Variable& t) { t.with_chunk({1, 3, 2}).with_deflate(9); }), "valid");
  EXPECT_EQ(after([](Schema&, Variable& t) { t.with_chunk({6, 3, 2}); }), "valid");
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_chunk({3, 2}); }),
              HasSubstr("has 2 chunk lengths for 3 dimensions"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_chunk({1, 4, 2}); }),
              HasSubstr("chunk length 4 along 'lat': 1 to 3 are possible"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_chunk({0, 3, 2}); }),
              HasSubstr("chunk length 0 along 'time'"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_deflate(10); }),
              HasSubstr("deflate level 10: 0 (off) to 9"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_deflate(-1); }), HasSubstr("deflate level -1"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_deflate(1); }, Format::cdf5),
              HasSubstr("asks for filters (shuffle, deflate), which cdf5 does not have: use netcdf4"));
  EXPECT_THAT(after([](Schema& s, Variable&) { s.find_variable("scalar")->with_deflate(1); }),
              HasSubstr("a scalar cannot have"));
  EXPECT_EQ(after([](Schema&, Variable& t) { t.with_filter(3).with_deflate(4); }), "valid");
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_filter(99); }),
              HasSubstr("has filter 99, which is unknown: deflate, shuffle"));
  EXPECT_THAT(after([](Schema&, Variable& t) { t.with_deflate(4).with_filter(1, {2}); }),
              HasSubstr("has deflate twice: each filter may occur once"));
}

TEST(ModelValidate, cdf2_limits_lengths_and_sizes) {
  const auto long_dimension = [](Schema& s, Variable&) { s.dimension("points", 1ull << 31); };
  EXPECT_THAT(after(long_dimension, Format::cdf2),
              HasSubstr("dimension 'points' has length 2147483648, but cdf2 can hold at most 2147483644"));
  EXPECT_EQ(after(long_dimension, Format::cdf5), "valid");
  Schema large;
  large.dimension("time", unlimited).dimension("x", 1 << 16).dimension("y", 1 << 15);
  large.variable("a", Type::float64, {"time", "x", "y"});
  EXPECT_EQ(problems(large, Format::cdf2), "valid") << "the last record variable may be larger";
  large.variable("b", Type::int8, {"time"});
  EXPECT_THAT(problems(large, Format::cdf2), HasSubstr("variable 'a' has 17179869184 bytes per record"));
  EXPECT_EQ(problems(large, Format::cdf5), "valid");
}

TEST(ModelValidate, all_problems_come_at_once) {
  Schema schema = good();
  schema.find_variable("T")->dimensions[2] = "nowhere";
  schema.find_variable("lat")->with_fill("x");
  const Error error = validate(schema, Format::netcdf4).error();
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("(2 problems)"), HasSubstr("'nowhere'"), HasSubstr("'lat' is float64")));
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.variable, "");

  Schema one = good();
  one.find_variable("T")->dimensions[2] = "nowhere";
  const Error alone = validate(one, Format::netcdf4).error();
  EXPECT_EQ(alone.code, ErrorCode::unknown_name);
  EXPECT_EQ(alone.variable, "T");
  EXPECT_THAT(alone.message, AllOf(HasSubstr("(1 problem)"), Not(HasSubstr("problems"))));
}

TEST(ModelValidate, attributes_that_netcdf4_keeps_for_itself_are_refused_when_they_are_defined) {
  for (const bool global : {true, false}) {
    Schema schema;
    schema.dimension("x", 2);
    Variable& variable = schema.variable("v", Type::float32, {"x"});
    if (global)
      schema.attribute("_NCProperties", "mine");
    else
      variable.attribute("_Netcdf4Dimid", 3);
    const Result<> refused = validate(schema, Format::netcdf4);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("netCDF-4 reserves this name"));
    EXPECT_TRUE(validate(schema, Format::cdf5));
  }
}

}  // namespace
}  // namespace afterbay::model
