// SPDX-License-Identifier: Apache-2.0
// tests/output/um_readers_test.py has readers of others interpret such headers.
#include "packing/pp_describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "packing/pp_cell_methods.hpp"

namespace afterbay::packing {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using I = PpInteger;
using R = PpReal;

std::vector<double> points(double first, double step, int count) {
  std::vector<double> points;
  for (int i = 0; i < count; ++i) points.push_back(first + i * step);
  return points;
}

PpDescription temperature() {
  PpDescription description;
  description.variable = "tas";
  description.standard_name = "air_temperature";
  description.units = "K";
  description.grid.latitudes = points(-90, 1.25, 145);
  description.grid.longitudes = points(0, 1.875, 192);
  description.level.kind = PpLevelKind::height;
  description.level.value = 1.5;
  description.time.calendar = Calendar("360_day");
  description.time.begin = {2098, 12, 1};
  return description;
}

PpHeader header_of(const PpDescription& description) {
  const auto described = describe_pp(description);
  EXPECT_TRUE(described) << described.error().text();
  return described ? described->header : PpHeader{};
}

std::string refusal(const PpDescription& description) {
  const auto described = describe_pp(description);
  return described ? "not refused" : described.error().text();
}

TEST(PpDescribe, WordsOfATimeMeanAsTheUnifiedModelWritesThem) {
  // The words of A1B.2098.pp of iris-sample-data, but for those of the run that wrote it.
  PpDescription description = temperature();
  description.cell_methods = "time: mean (interval: 6 hour)";
  description.time.end = Date{2099, 12, 1};
  description.time.reference = Date{1859, 12, 1};
  description.um_version = 605;
  const PpHeader header = header_of(description);
  EXPECT_EQ(header[I::lbyr], 2098);
  EXPECT_EQ(header[I::lbday], 331);
  EXPECT_EQ(header[I::lbyrd], 2099);
  EXPECT_EQ(header[I::lbdayd], 331);
  EXPECT_EQ(header[I::lbtim], 622);
  EXPECT_EQ(header[I::lbft], 240 * 360 * 24);
  EXPECT_EQ(header[I::lbcode], 1);
  EXPECT_EQ(header[I::lbhem], 0);
  EXPECT_EQ(header[I::lbrow], 145);
  EXPECT_EQ(header[I::lbnpt], 192);
  EXPECT_EQ(header[I::lbrel], 2);
  EXPECT_EQ(header[I::lbfc], 16);
  EXPECT_EQ(header[I::lbproc], 128);
  EXPECT_EQ(header[I::lbvc], 1);
  EXPECT_EQ(header[I::lblev], 9999);
  EXPECT_EQ(header[I::lbsrce], 6051111);
  EXPECT_EQ(header[I::lbuser1], 1);
  EXPECT_EQ(header[I::lbuser4], 3236);
  EXPECT_EQ(header[I::lbuser7], 1);
  EXPECT_EQ(header[R::bplat], 90.0F);
  EXPECT_EQ(header[R::bzy], -91.25F);
  EXPECT_EQ(header[R::bdy], 1.25F);
  EXPECT_EQ(header[R::bzx], -1.875F);
  EXPECT_EQ(header[R::bdx], 1.875F);
  EXPECT_EQ(header[R::bmks], 1.0F);
}

TEST(PpDescribe, TimesOfForecastsAndOfMoments) {
  PpDescription description = temperature();
  description.time.begin = {2000, 3, 30, 7, 30};
  EXPECT_EQ(header_of(description)[I::lbtim], 2);
  EXPECT_EQ(header_of(description)[I::lbyrd], 2000);
  description.time.reference = Date{2000, 3, 29, 6};
  PpHeader header = header_of(description);
  EXPECT_EQ(header[I::lbtim], 12);
  EXPECT_EQ(header[I::lbft], 25);
  EXPECT_EQ(header[I::lbmin], 30);
  EXPECT_EQ(header[I::lbday], 90);
  EXPECT_EQ(header[I::lbdatd], 29);
  description.time.begin.second = 12;
  header = header_of(description);
  EXPECT_EQ(header[I::lbrel], 3);
  EXPECT_EQ(header[I::lbday], 12);
  EXPECT_EQ(header[I::lbdayd], 0);
  for (const auto& [name, code] :
       {std::pair{"standard", 11}, {"proleptic_gregorian", 11}, {"360_day", 12}, {"noleap", 14}}) {
    description.time.calendar = Calendar(name);
    EXPECT_EQ(header_of(description)[I::lbtim], code);
  }
}

TEST(PpDescribe, Levels) {
  PpDescription description = temperature();
  description.level = *level_of_cf("air_pressure", "Pa", 85000);
  PpHeader header = header_of(description);
  EXPECT_EQ(header[I::lbvc], 8);
  EXPECT_EQ(header[I::lblev], 850);
  EXPECT_EQ(header[R::blev], 850.0F);
  EXPECT_EQ(header[I::lbuser4], 16203);

  description.level = {};
  description.level.kind = PpLevelKind::hybrid_height;
  description.level.number = 3;
  description.level.value = 50;
  description.level.bounds = PpInterval{40, 60};
  description.level.coefficient = 0.9;
  description.level.coefficient_bounds = PpInterval{0.95, 0.85};
  header = header_of(description);
  EXPECT_EQ(header[I::lbuser4], 16004);
  EXPECT_THAT((std::vector{header[R::blev], header[R::brlev], header[R::brsvd1]}),
              ElementsAre(50.0F, 40.0F, 60.0F));
  EXPECT_THAT((std::vector{header[R::bhlev], header[R::bhrlev], header[R::brsvd2]}),
              ElementsAre(0.9, 0.95, 0.85));
  description.level.kind = PpLevelKind::hybrid_pressure;
  header = header_of(description);
  EXPECT_EQ(header[I::lbvc], 9);
  EXPECT_THAT((std::vector{header[R::bhlev], header[R::bhrlev], header[R::brsvd2]}),
              ElementsAre(50.0F, 40.0F, 60.0F));

  description.standard_name = "sea_water_potential_temperature";
  description.stash = PpStash{2, 0, 101};
  description.level = *level_of_cf("depth", "m", 5, PpInterval{0, 10});
  header = header_of(description);
  EXPECT_EQ(header[I::lbvc], 2);
  EXPECT_EQ(header[I::lbuser7], 2);
  EXPECT_EQ(header[I::lbuser4], 101);
  EXPECT_EQ(header[R::brsvd1], 0.0F);
  EXPECT_EQ(header[R::brlev], 10.0F);
  EXPECT_FALSE(level_of_cf("depth", "dbar", 5));
  EXPECT_EQ(level_of_cf("height", "km", 2)->value, 2000);
}

TEST(PpDescribe, Grids) {
  PpDescription description = temperature();
  description.grid.latitudes = points(60, -0.5, 9);
  EXPECT_EQ(header_of(description)[I::lbhem], 4);
  EXPECT_EQ(header_of(description)[R::bdy], -0.5F);
  EXPECT_EQ(header_of(description)[R::bzy], 60.5F);
  description.grid.longitudes = points(355, 0.5, 20);
  description.grid.pole_latitude = 37.5;
  description.grid.pole_longitude = 177.5;
  const PpHeader header = header_of(description);
  EXPECT_EQ(header[I::lbhem], 3);
  EXPECT_EQ(header[I::lbcode], 101);
  EXPECT_EQ(header[R::bplat], 37.5F);
  EXPECT_EQ(header[R::bplon], 177.5F);

  // Turned about the pole of the Earth.
  description.grid.pole_latitude = 90;
  description.grid.pole_longitude = 40;
  EXPECT_EQ(header_of(description)[I::lbcode], 101);
  EXPECT_EQ(header_of(description)[R::bplon], 40.0F);
  for (const double longitude : {0.0, 180.0, -180.0, 360.0}) {
    description.grid.pole_longitude = longitude;
    EXPECT_EQ(header_of(description)[I::lbcode], 1) << longitude;
    EXPECT_EQ(header_of(description)[R::bplon], 0.0F) << longitude;
  }

  description.grid.longitudes = {1, 2, 4};
  description.grid.latitudes = {7};
  const auto described = describe_pp(description);
  ASSERT_TRUE(described);
  EXPECT_EQ(described->header[R::bdx], 0.0F);
  EXPECT_EQ(described->header[R::bdy], 0.0F);
  const auto word = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  EXPECT_THAT(described->extra, ElementsAre(3001U, word(1), word(2), word(4), 1002U, word(7)));
}

TEST(PpDescribe, BoundsOfIrregularAxesAreExtraData) {
  PpDescription description = temperature();
  description.grid.longitudes = {1, 2, 4};
  description.grid.longitude_bounds = {{0.5, 1.5}, {1.5, 3}, {3, 5}};
  for (std::size_t i = 0; i < description.grid.latitudes.size(); ++i)
    description.grid.latitude_bounds.push_back({description.grid.latitudes[i] - 1, 90});
  const auto described = describe_pp(description);
  ASSERT_TRUE(described);
  const auto word = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  EXPECT_THAT(described->extra, ElementsAre(3001U, word(1), word(2), word(4), 3012U, word(0.5), word(1.5),
                                            word(3), 3013U, word(1.5), word(3), word(5)));
}

TEST(PpDescribe, MeansWithinYearsAndOverYears) {
  // The words on time of air_temp.pp of iris-sample-data.
  PpDescription description = temperature();
  description.cell_methods = "time: mean within years time: mean over years";
  description.time.begin = {1994, 12, 1};
  description.time.end = Date{1998, 12, 1};
  description.time.reference = Date{.year = 1998, .month = 3, .day = 1, .hour = 3};
  const PpHeader header = header_of(description);
  EXPECT_EQ(header[I::lbtim], 32);
  EXPECT_EQ(header[I::lbproc], 128);
  EXPECT_EQ(header[I::lbft], 6477);
  EXPECT_EQ(header[I::lbyr], 1994);
  EXPECT_EQ(header[I::lbyrd], 1998);
  description.time.end.reset();
  EXPECT_THAT(refusal(description), HasSubstr("the time is not an interval"));
}

TEST(PpDescribe, CoordinatesRoundedToSinglePrecisionAreRegular) {
  PpDescription description = temperature();
  description.grid.longitudes.clear();
  for (int i = 0; i < 3600; ++i)
    description.grid.longitudes.push_back(static_cast<double>(0.05F + static_cast<float>(i) * 0.1F));
  const auto described = describe_pp(description);
  ASSERT_TRUE(described);
  EXPECT_TRUE(described->extra.empty());
  EXPECT_NEAR(described->header[R::bdx], 0.1F, 1e-7F);
  EXPECT_EQ(described->header[I::lbhem], 0);
}

TEST(PpDescribe, CellMethods) {
  EXPECT_EQ(pp_methods("")->lbproc, 0);
  EXPECT_EQ(pp_methods("time: point area: point")->lbproc, 0);
  EXPECT_EQ(pp_methods("time: mean")->lbproc, 128);
  EXPECT_EQ(pp_methods("longitude: mean time: maximum (interval: 20 minutes)")->lbproc, 8192 + 64);
  EXPECT_EQ(pp_methods("time: longitude: mean")->lbproc, 128 + 64);
  EXPECT_EQ(pp_methods("time: minimum (interval: 1 day)")->sampling_hours, 24);
  EXPECT_EQ(pp_methods("time: mean (interval: 60 min)")->sampling_hours, 1);
  EXPECT_EQ(pp_methods("time: mean (interval: 30 min)")->sampling_hours, 0);
  EXPECT_EQ(pp_methods("time: mean (interval: 100 h)")->sampling_hours, 0);
  EXPECT_EQ(pp_methods("time: mean (comment: 6 h)")->sampling_hours, 0);
  EXPECT_EQ(pp_methods("time: mean (interval: 7200 seconds comment: of steps)")->sampling_hours, 2);
  const auto climatology =
      pp_methods("time: mean within years (interval: 6 hour) longitude: mean time: mean over years");
  ASSERT_TRUE(climatology);
  EXPECT_EQ(climatology->lbproc, 128 + 64);
  EXPECT_EQ(climatology->sampling_hours, 6);
  EXPECT_TRUE(climatology->within_years);
  EXPECT_FALSE(pp_methods("time: mean")->within_years);
  for (const char* text :
       {"time: sum", "area: mean", "time: mean time: maximum", "time: mean where land", "mean",
        "time:", "time: mean within years", "time: mean over years", "time: mean time: mean over years",
        "time: maximum within years time: mean over years", "time: mean within days time: mean over days",
        "time: mean within years time: mean over years time: mean over years"}) {
    const auto methods = pp_methods(text);
    ASSERT_FALSE(methods) << text;
    EXPECT_THAT(methods.error().text(), HasSubstr("LBPROC, word 25"));
  }
}

/// Any interval replaced it, and units beginning with "s" were seconds.
TEST(PpDescribe, SamplesOfATimeHaveTheIntervalOfTheMethodOfTime) {
  const auto hours = [](const char* text) { return pp_methods(text)->sampling_hours; };
  EXPECT_EQ(hours("time: mean (interval: 6 hours) longitude: mean (interval: 1 hour)"), 6);
  EXPECT_EQ(hours("time: mean longitude: mean (interval: 1 hour)"), 0);
  EXPECT_EQ(hours("longitude: time: mean (interval: 1.5 degrees interval: 3 hours)"), 3);
  EXPECT_EQ(hours("time: longitude: mean (interval: 3 hours interval: 1.5 degrees)"), 3);
  EXPECT_EQ(hours("time: longitude: mean (interval: 3 hours)"), 3);
  EXPECT_EQ(hours("time: mean (interval: 6 hours) time: point (interval: 1 hour)"), 6);
  EXPECT_EQ(hours("time: mean within years (interval: 6 hours) time: mean over years (interval: 24 hours)"),
            6);
  for (const char* unit : {"sidereal_days", "speed", "hectares", "minimum", "dayss", "months", "D"})
    EXPECT_EQ(hours(fmt::format("time: mean (interval: 7200 {})", unit).c_str()), 0) << unit;
  EXPECT_EQ(hours("time: mean (interval: 6h)"), 0);
  EXPECT_EQ(hours("time: mean (interval: 6x hours)"), 0);
}

TEST(PpDescribe, CodesGivenByTheCallerReplaceTheTable) {
  PpDescription description = temperature();
  description.standard_name = "";
  description.field_code = 4711;
  PpHeader header = header_of(description);
  EXPECT_EQ(header[I::lbfc], 4711);
  EXPECT_EQ(header[I::lbuser4], 0);
  EXPECT_EQ(header[I::lbsrce], 0);
  description = temperature();
  description.units = "degC";  // known to whoever gives the code
  description.stash = PpStash{1, 3, 209};
  description.pseudo_level = 4;
  description.ensemble_member = 7;
  header = header_of(description);
  EXPECT_EQ(header[I::lbuser4], 3209);
  EXPECT_EQ(header[I::lbuser5], 4);
  EXPECT_EQ(header[I::lbrsvd4], 7);
  EXPECT_EQ(header[I::lbsrce], 1111);
}

TEST(PpDescribe, RefusalsNameVariableWordAndRemedy) {
  PpDescription description = temperature();
  description.standard_name = "air_temperatur";
  EXPECT_THAT(refusal(description),
              AllOf(HasSubstr("tas"), HasSubstr("LBUSER4, word 42"), HasSubstr("LBFC, word 23"),
                    HasSubstr("did you mean \"air_temperature\"?")));
  description = temperature();
  description.level.kind = PpLevelKind::surface;
  EXPECT_THAT(refusal(description), HasSubstr("'air_temperature' on such levels"));
  description = temperature();
  description.units = "degC";
  EXPECT_THAT(refusal(description),
              AllOf(HasSubstr("'degC'"), HasSubstr("STASH code 3236"), HasSubstr("'K'")));
  description.standard_name = "";
  description.stash = PpStash{1, 16, 203};  // temperatures on pressure levels
  EXPECT_THAT(refusal(description), AllOf(HasSubstr("'degC'"), HasSubstr("STASH code 16203")));
  description = temperature();
  description.level.value = 2;
  EXPECT_THAT(refusal(description),
              AllOf(HasSubstr("2 m"), HasSubstr("1.5 m"), HasSubstr("field code 16 (LBFC")));
  description.field_code = 16;
  EXPECT_EQ(header_of(description)[R::blev], 2.0F);
  EXPECT_EQ(header_of(description)[I::lbuser4], 0);
  description = temperature();
  description.time.calendar = Calendar("all_leap");
  EXPECT_THAT(refusal(description), AllOf(HasSubstr("all_leap"), HasSubstr("LBTIM (word 13)")));
  description.time.calendar = Calendar("standard");
  description.time.begin = {1500, 1, 1};
  EXPECT_THAT(refusal(description), AllOf(HasSubstr("LBYR, word 1"), HasSubstr("dates 1582-10-15 to 9999")));
  description.time.begin = {1582, 10, 4};
  EXPECT_THAT(refusal(description), HasSubstr("dates 1582-10-15 to 9999"));
  description.time.begin = {1582, 10, 15};
  EXPECT_EQ(header_of(description)[I::lbyr], 1582);
  description.time.calendar = Calendar("proleptic_gregorian");
  description.time.begin = {1582, 10, 14};
  EXPECT_THAT(refusal(description), HasSubstr("dates 1582-10-15 to 9999"));
  description.time.calendar = Calendar("standard");
  description.time.begin = {10000, 1, 1};
  EXPECT_THAT(refusal(description), HasSubstr("9999"));
  description.time.begin = {2000, 2, 30};
  EXPECT_THAT(refusal(description), AllOf(HasSubstr("tas"), HasSubstr("2000-02-30 does not exist")));
}

TEST(PpDescribe, RefusalsOfIntervals) {
  PpDescription description = temperature();
  description.cell_methods = "time: mean";
  EXPECT_THAT(refusal(description), HasSubstr("LBYRD, word 7"));
  description.time.end = Date{2098, 12, 1};
  EXPECT_THAT(refusal(description), HasSubstr("ends at 2098-12-01"));
  description.time.end = Date{2098, 12, 2};
  description.time.reference = Date{2098, 11, 30, 12, 30};
  EXPECT_THAT(refusal(description), HasSubstr("LBFT (word 14)"));
  description.time.reference.reset();
  EXPECT_EQ(header_of(description)[I::lbtim], 22);
  description.cell_methods = "";
  EXPECT_THAT(refusal(description), HasSubstr("LBPROC, word 25"));
  description.cell_methods = "time: sum";
  EXPECT_THAT(refusal(description), HasSubstr("'sum'"));
  description = temperature();
  description.time.reference = Date{2099, 1, 1};
  EXPECT_THAT(refusal(description), HasSubstr("is after the time"));
}

TEST(PpDescribe, RefusalsOfCoordinates) {
  PpDescription description = temperature();
  description.grid.longitudes = {0, 1, 1, 2};
  EXPECT_THAT(refusal(description), AllOf(HasSubstr("longitudes (BZX"), HasSubstr("number 2 (from 0) is 1")));
  description.grid.longitudes = {};
  EXPECT_THAT(refusal(description), HasSubstr("no longitudes"));
  description = temperature();
  description.grid.latitudes = points(-100, 1, 10);
  EXPECT_THAT(refusal(description), HasSubstr("BZY, word 59"));
  description = temperature();
  description.grid.pole_latitude = 100;
  EXPECT_THAT(refusal(description), HasSubstr("BPLAT"));
  description = temperature();
  description.level.kind = PpLevelKind::hybrid_height;
  EXPECT_THAT(refusal(description), HasSubstr("LBLEV, word 33"));
  description.level.kind = PpLevelKind::height;
  description.level.value = -1;
  description.field_code = 16;
  EXPECT_THAT(refusal(description), HasSubstr("BLEV, word 52"));
}

/// Headers had NaN and the overflow of a conversion.
TEST(PpDescribe, RefusalsOfLevelsThatHeadersCannotHold) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  PpDescription description = temperature();
  for (const double pressure : {nan, infinity, 1e300}) {
    description.level = *level_of_cf("air_pressure", "hPa", pressure);
    EXPECT_THAT(refusal(description),
                AllOf(HasSubstr("tas"), HasSubstr("pressure in hPa (BLEV, word 52) is")));
  }
  for (const double pressure : {1e15, -2.0, 8888.0}) {
    description.level = *level_of_cf("air_pressure", "hPa", pressure);
    EXPECT_THAT(refusal(description), HasSubstr("pressure in hPa (LBLEV, word 33) is"));
  }
  description.level = *level_of_cf("air_pressure", "hPa", 0.4);
  EXPECT_EQ(header_of(description)[I::lblev], 0);
  description.level = *level_of_cf("air_pressure", "hPa", 850, PpInterval{800, nan});
  EXPECT_THAT(refusal(description), HasSubstr("BRLEV and BRSVD1, words 53 and 46"));
  description.field_code = 16;
  description.level = *level_of_cf("height", "m", nan);
  EXPECT_THAT(refusal(description), HasSubstr("height in m (BLEV, word 52) is nan"));
  description.level = *level_of_cf("depth", "m", infinity);
  EXPECT_THAT(refusal(description), HasSubstr("depth in m (BLEV, word 52) is inf"));
  description.level = {};
  description.level.number = 1;
  description.level.kind = PpLevelKind::hybrid_height;
  description.level.value = 10;
  description.level.coefficient = nan;
  EXPECT_THAT(refusal(description), HasSubstr("(BHLEV, word 54) is nan"));
  description.level.kind = PpLevelKind::hybrid_pressure;
  description.level.value = nan;
  description.level.coefficient = 1;
  EXPECT_THAT(refusal(description), HasSubstr("(BHLEV, word 54) is nan"));
  description.level.value = 10;
  description.level.bounds = PpInterval{nan, 20};
  EXPECT_THAT(refusal(description), HasSubstr("BHRLEV and BRSVD2, words 55 and 47"));
}

TEST(PpCodes, EveryRowIsFoundByItsNameAndReadsBack) {
  for (const PpCode& code : pp_codes()) {
    ASSERT_NE(code.kinds, 0) << code.standard_name;
    const auto kind = static_cast<PpLevelKind>(std::countr_zero(code.kinds));
    const PpCode* found = find_pp_code(code.standard_name, kind);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->stash, code.stash) << code.standard_name << ": two rows for one level";
    EXPECT_TRUE(same_units(code.units, code.units));
  }
  EXPECT_EQ(find_pp_code("no_such_name", PpLevelKind::surface), nullptr);
}

TEST(PpCodes, StashCodesAndUnits) {
  EXPECT_EQ(parse_stash("m01s03i236"), (PpStash{1, 3, 236}));
  EXPECT_EQ(parse_stash("16203"), (PpStash{1, 16, 203}));
  for (const char* text : {"", "m01s03", "m01s03i2x", "m1s3i1000", "-3", "100000", "x", "m01s03i236 "})
    EXPECT_FALSE(parse_stash(text)) << text;
  EXPECT_TRUE(same_units("kg m-2 s-1", "kg m**-2 s**-1"));
  EXPECT_TRUE(same_units("kg.m^-2.s^-1", "kg m-2 s-1"));
  EXPECT_TRUE(same_units("", "1"));
  EXPECT_FALSE(same_units("K", "degC"));
}

}  // namespace
}  // namespace afterbay::packing
