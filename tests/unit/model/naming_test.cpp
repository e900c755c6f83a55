// SPDX-License-Identifier: Apache-2.0
#include "model/naming.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/format.hpp"

namespace afterbay::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string name(std::string_view pattern, const FileName& values = {}) {
  const Result<std::string> result = file_name(pattern, "history", values);
  return result ? *result : "refused: " + result.error().message;
}

FileName with_step(std::int64_t step) { return {{}, step, {}, {}}; }
FileName with_member(std::int64_t member) { return {{}, {}, member, {}}; }
FileName with_date(const char* date) { return {{}, {}, {}, date}; }
FileName with_name(std::string file) { return {std::move(file), {}, {}, {}}; }

TEST(ModelNaming, tokens_are_filled_in) {
  EXPECT_EQ(name("plain name.nc"), "plain name.nc");
  EXPECT_EQ(name("{collection}_{step}.nc", with_step(42)), "history_42.nc");
  EXPECT_EQ(name("{collection}_{step:06}.nc", with_step(42)), "history_000042.nc");
  EXPECT_EQ(name("{step:2}", with_step(12345)), "12345");
  EXPECT_EQ(name("{step:04}", with_step(-7)), "-0007");
  EXPECT_EQ(name("m{member:03}/h.nc", with_member(5)), "m005/h.nc");
  EXPECT_EQ(name("{{x}}_{collection}"), "{x}_history");
  EXPECT_EQ(name("{step}{step}", with_step(1)), "11");
  EXPECT_EQ(name("h_{date}.nc", with_date("2026-11-21")), "h_20261121.nc");
  EXPECT_EQ(name("h_{date:%Y%m%d_%H%M%S}.nc", with_date("2026-11-21T06:30:05")), "h_20261121_063005.nc");
  EXPECT_EQ(name("{date:%Y-%m %d%%}", with_date("0099-02-30")), "0099-02 30%");
}

TEST(ModelNaming, default_names_end_as_the_store_says) {
  EXPECT_EQ(name(default_template(Format::netcdf4)), "history.nc");
  EXPECT_EQ(name(default_template(Format::cdf5)), "history.nc");
  EXPECT_EQ(name(default_template(Format::grib2)), "history.grib2");
  EXPECT_EQ(name(default_template(Format::fieldsfile)), "history.ff");
}

TEST(ModelNaming, a_given_name_is_taken_as_it_is) {
  EXPECT_EQ(name("{step}", with_name("a {step}.nc")), "a {step}.nc");
  EXPECT_THAT(name("x", with_name(std::string("a\0b", 3))), HasSubstr("NUL"));
  EXPECT_THAT(name("x", with_name("directory/")), HasSubstr("not the name of a file"));
}

TEST(ModelNaming, values_that_are_missing_are_named) {
  EXPECT_THAT(name("h_{step}.nc"), AllOf(HasSubstr("'h_{step}.nc' of collection 'history'"),
                                         HasSubstr("contains {step}, but no step was given")));
  EXPECT_THAT(name("h_{member:03}.nc"), HasSubstr("no member was given"));
  EXPECT_THAT(name("h_{date:%Y}.nc"), HasSubstr("no date was given"));
  EXPECT_THAT(name("{date}", with_date("yesterday")), HasSubstr("\"yesterday\" is not a date"));
}

TEST(ModelNaming, templates_are_checked_without_values) {
  const auto check = [](std::string_view pattern) {
    const Result<> result = check_template(pattern);
    return result ? "accepted" : result.error().message;
  };
  EXPECT_EQ(check("{collection}_{date:%Y%m%d_%H}_m{member:03}_{step:06}_{{}}.nc"), "accepted");
  EXPECT_EQ(check(""), "accepted");
  EXPECT_THAT(check("{setp}.nc"),
              AllOf(HasSubstr("file name template '{setp}.nc'"), HasSubstr("'{setp}' is unknown"),
                    HasSubstr("did you mean \"step\""), HasSubstr("{collection}, {step}, {member}, {date}")));
  EXPECT_THAT(check("{}"), HasSubstr("'{}' is unknown"));
  EXPECT_THAT(check("{step:abc}"), HasSubstr("a number of places from 1 to 20"));
  EXPECT_THAT(check("{step:-3}"), HasSubstr("a number of places"));
  EXPECT_THAT(check("{step:}"), HasSubstr("a number of places"));
  EXPECT_THAT(check("{member:99}"), HasSubstr("a number of places"));
  EXPECT_THAT(check("{collection:3}"), HasSubstr("no format"));
  EXPECT_THAT(check("{date:%Q}"), AllOf(HasSubstr("contains %Q"), HasSubstr("%Y (year)")));
  EXPECT_THAT(check("{date:%}"), HasSubstr("ends with %"));
  EXPECT_THAT(check("a{step"), HasSubstr("the '{' at place 1 is not closed"));
  EXPECT_THAT(check("a}b"), HasSubstr("the '}' at place 1 closes nothing"));
  EXPECT_THAT(check(std::string_view("a\0b", 3)), HasSubstr("NUL"));
}

/// No calendar is known here: it may have a 30th of February.
TEST(ModelNaming, dates_of_any_calendar_are_read) {
  const auto date = [](const char* text) { return name("{date:%Y-%m-%d %H:%M:%S}", with_date(text)); };
  EXPECT_EQ(date("2001-02-30"), "2001-02-30 00:00:00");
  EXPECT_EQ(date("20010230"), "2001-02-30 00:00:00");
  EXPECT_EQ(date("0001-01-01T00"), "0001-01-01 00:00:00");
  EXPECT_EQ(date("2026-11-21 06:30:59.25Z"), "2026-11-21 06:30:59");
  EXPECT_EQ(date("20261121T063059"), "2026-11-21 06:30:59");
  EXPECT_EQ(date("20261121T0630Z"), "2026-11-21 06:30:00");
  EXPECT_EQ(date("+12026-01-02"), "12026-01-02 00:00:00");
  EXPECT_EQ(date("-0044-03-15"), "-0044-03-15 00:00:00");
  for (const char* wrong :
       {"", "2026", "2026-13-01", "2026-00-01", "2026-01-32", "2026-01-00", "2026-01-01T24",
        "2026-01-01T23:60", "2026-01-01T23:59:60", "2026-01-01T06:00:00+01:00", "2026-01-01x", "2026-01-01T",
        "2026-01-0106", "2026-0101"})
    EXPECT_THAT(date(wrong), HasSubstr("refused: ")) << wrong;
  EXPECT_THAT(name("{date:%Y%j}", with_date("2001-02-03")), HasSubstr("depends on the calendar"));
}

TEST(ModelNaming, formats_have_names) {
  for (const Format format : {Format::netcdf4, Format::cdf5, Format::cdf2, Format::memory})
    EXPECT_EQ(format_of(name_of(format)), format);
  EXPECT_FALSE(format_of("netcdf3"));
}

TEST(ModelNaming, names_that_no_file_can_have_are_refused_when_it_is_opened) {
  for (const char* wrong : {".", "..", "out/.", "out/..", "out/", ""})
    EXPECT_THAT(name("{collection}", with_name(wrong[0] == 0 ? "/" : wrong)),
                HasSubstr("is not the name of a file"))
        << wrong;
  EXPECT_EQ(name("", with_name("out/" + std::string(223, 'x'))), "out/" + std::string(223, 'x'));
  EXPECT_THAT(name("", with_name("out/" + std::string(224, 'x'))), HasSubstr("at most 223"));
}

/// With `replace`, the files "a.nc" and "a.nc.part" of one session once wrote into each other.
TEST(ModelNaming, names_of_files_in_the_making_are_refused) {
  for (const char* wrong : {"a.nc.part", "d/a.nc.part", "a.nc.part.epochs", "a.nc.part.epochs.12",
                            "a.nc.part.epochs.recovering", "a.nc.part.epochs.copy", "a.nc.part.owner",
                            "a.nc.part.owner.0123456789abcdef", "a.nc.part.0123456789abcdef.new"})
    EXPECT_THAT(name("", with_name(wrong)), HasSubstr("names of part files")) << wrong;
  for (const char* good : {"a.part.nc", "part", "a.nc.part.epochs.txt", "a.epochs"})
    EXPECT_EQ(name("", with_name(good)), good);
}

}  // namespace
}  // namespace afterbay::model
