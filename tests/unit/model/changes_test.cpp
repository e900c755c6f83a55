// SPDX-License-Identifier: Apache-2.0
#include "model/changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>

#include "base/caller_terms.hpp"

namespace afterbay::model {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Schema base() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lat", 3);
  schema.attribute("title", "a run").attribute("version", 2);
  schema.variable("lat", Type::float64, {"lat"})
      .with_constant(std::vector<double>{-60, 0, 60})
      .attribute("units", "degrees_north");
  schema.variable("T", Type::float32, {"time", "lat"}).with_fill(-999.0F).attribute("units", "K").on("grid");
  return schema;
}

TEST(ModelChanges, attributes_are_set_replaced_and_removed) {
  const SchemaChanges changes = SchemaChanges()
                                    .attribute("title", "another")
                                    .attribute("member", 7)
                                    .attribute("version", Values{})
                                    .attribute("T", "units", "degC")
                                    .attribute("T", "scale", std::vector<float>{1, 2});
  const Schema changed = apply(base(), changes).value();
  EXPECT_EQ(changed.attributes, (std::vector<Attribute>{{"title", "another"}, {"member", 7}}));
  EXPECT_EQ(changed.find_variable("T")->attributes,
            (std::vector<Attribute>{{"units", "degC"}, {"scale", std::vector<float>{1, 2}}}));
  EXPECT_EQ(changed.find_variable("lat")->attributes, base().find_variable("lat")->attributes);
}

TEST(ModelChanges, constants_are_replaced_with_the_same_shape_only) {
  const auto change = [](const char* variable, Values values) {
    return apply(base(), SchemaChanges().constant(variable, std::move(values)));
  };
  EXPECT_EQ(change("lat", std::vector<double>{1, 2, 3})->find_variable("lat")->constant,
            Values(std::vector<double>{1, 2, 3}));
  EXPECT_THAT(change("lat", std::vector<double>{1, 2}).error().message,
              HasSubstr("variable 'lat' has 3 values, but a change gives 2"));
  EXPECT_EQ(change("lat", std::vector<float>{1, 2, 3})->find_variable("lat")->constant,
            Values(std::vector<double>{1, 2, 3}));
  const Error type = change("lat", "abc").error();
  EXPECT_EQ(type.code, ErrorCode::wrong_type);
  EXPECT_THAT(type.message, HasSubstr("are text \"abc\", which cannot all become float64"));
  EXPECT_THAT(change("T", 1.0F).error().message, HasSubstr("has no constant values"));
}

TEST(ModelChanges, a_fill_value_is_converted_to_the_type_of_its_variable) {
  const Schema changed = apply(base(), SchemaChanges().attribute("lat", "_FillValue", 7)).value();
  EXPECT_EQ(changed.find_variable("lat")->attributes.back(), (Attribute{"_FillValue", 7.0}));
}

TEST(ModelChanges, unknown_names_are_refused_with_the_near_one) {
  const Error variable = apply(base(), SchemaChanges().attribute("lta", "units", "m")).error();
  EXPECT_EQ(variable.code, ErrorCode::unknown_name);
  EXPECT_THAT(variable.message, AllOf(HasSubstr("'lta'"), HasSubstr("did you mean \"lat\"")));
  EXPECT_THAT(apply(base(), SchemaChanges().attribute("T", "unit", Values{})).error().message,
              AllOf(HasSubstr("'unit' is to be removed from variable 'T'"), HasSubstr("\"units\"")));
  EXPECT_THAT(apply(base(), SchemaChanges().attribute("titel", Values{})).error().message,
              HasSubstr("from the file"));
  EXPECT_THAT(apply(base(), SchemaChanges().constant("lon", 1)).error().message, HasSubstr("'lon'"));
}

/// Every change that can be made to a schema, each in a copy of its own.
std::vector<std::pair<std::string, std::function<void(Schema&)>>> every_change() {
  const auto t = [](Schema& s) -> Variable& { return *s.find_variable("T"); };
  return {
      {"dimension 'lat': length 3 here, length 4 there", [](Schema& s) { s.dimensions[1].length = 4; }},
      {"dimension 'time': unlimited here, length 1 there", [](Schema& s) { s.dimensions[0].length = 1; }},
      {"dimension 'lon': only there", [](Schema& s) { s.dimension("lon", 3); }},
      {"variable 'P': only there", [](Schema& s) { s.variable("P", Type::int8, {}); }},
      {"variable 'lat': only here", [](Schema& s) { s.variables.erase(s.variables.begin()); }},
      {"variable number 0: lat here, T there", [](Schema& s) { std::swap(s.variables[0], s.variables[1]); }},
      {"variable 'T': type float32 here, type float64 there", [=](Schema& s) { t(s).type = Type::float64; }},
      {"variable 'T': dimensions (time, lat) here, dimensions (lat, time) there",
       [=](Schema& s) { t(s).dimensions = {"lat", "time"}; }},
      {"variable 'T' fill value: float32 -999 here, none there", [=](Schema& s) { t(s).fill = {}; }},
      {"variable 'T' chunk: chosen here, (1, 3) there", [=](Schema& s) { t(s).chunk = {1, 3}; }},
      {"variable 'T' deflate: 0 here, 1 there", [=](Schema& s) { t(s).deflate = 1; }},
      {"variable 'T' shuffle: false here, true there", [=](Schema& s) { t(s).shuffle = true; }},
      {"variable 'T' decomposition: grid here, whole there", [=](Schema& s) { t(s).decomposition.clear(); }},
      {"variable 'T' attribute 'units': text \"K\" here, text \"C\" there",
       [=](Schema& s) { t(s).attribute("units", "C"); }},
      {"variable 'lat' constant values: float64 -60, 0, 60 here, float64 -60, 0, 61 there",
       [](Schema& s) { s.variables[0].with_constant(std::vector<double>{-60, 0, 61}); }},
      {"global attribute 'title': text \"a run\" here, text \"b\" there",
       [](Schema& s) { s.attribute("title", "b"); }},
      {"global attribute 'version': int32 2 here, int16 2 there",
       [](Schema& s) { s.attribute("version", std::int16_t{2}); }},
      {"global attribute 'x': only there", [](Schema& s) { s.attribute("x", 1); }},
  };
}

TEST(ModelChanges, differences_say_what_differs) {
  EXPECT_THAT(differences(base(), base()), IsEmpty());
  for (const auto& [words, change] : every_change()) {
    Schema changed = base();
    change(changed);
    EXPECT_THAT(differences(base(), changed), ElementsAre(words));
  }
}

TEST(ModelChanges, differences_beyond_the_values_shown_are_seen) {
  Schema a = base(), b = base();
  std::vector<double> values(100, 1.5);
  a.variables[0].with_constant(values);
  values[70] = 2;
  b.variables[0].with_constant(values);
  EXPECT_THAT(differences(a, b, "in the model", "in the file"),
              ElementsAre("variable 'lat' constant values: 100 values, different from number 70 on"));
}

TEST(ModelChanges, fortran_callers_read_differences_in_their_order_and_count) {
  Schema a;
  a.dimension("time", unlimited).dimension("y", 4).dimension("x", 8);
  a.variable("T", Type::float32, {"time", "y", "x"}).with_chunk({1, 2, 8});
  Schema b = a;
  b.variables[0].dimensions = {"time", "x", "y"};
  b.variables[0].chunk = {1, 4, 4};
  std::swap(b.dimensions[1], b.dimensions[2]);
  EXPECT_THAT(differences(a, b),
              ElementsAre("dimension number 1: y here, x there",
                          "variable 'T': dimensions (time, y, x) here, dimensions (time, x, y) there",
                          "variable 'T' chunk: (1, 2, 8) here, (1, 4, 4) there"));
  const InTerms fortran(Terms::fortran);
  EXPECT_THAT(differences(a, b),
              ElementsAre("dimension number 2: y here, x there",
                          "variable 'T': dimensions (x, y, time) here, dimensions (y, x, time) there",
                          "variable 'T' chunk: (8, 2, 1) here, (4, 4, 1) there"));
}

TEST(ModelChanges, the_hash_tells_schemas_apart) {
  EXPECT_EQ(hash(base()), hash(base()));
  std::set<std::uint64_t> hashes{hash(base())};
  for (const auto& [words, change] : every_change()) {
    Schema changed = base();
    change(changed);
    EXPECT_TRUE(hashes.insert(hash(changed)).second) << words;
  }
}

/// Ranks on different machines compare hashes: the value is part of the protocol.
TEST(ModelChanges, the_hash_of_the_empty_schema_is_fixed) {
  EXPECT_EQ(hash(Schema{}), 0x743df94ee4c78a2aull);
}

}  // namespace
}  // namespace afterbay::model
