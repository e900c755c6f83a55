// SPDX-License-Identifier: Apache-2.0
// The rows of traits.
#include "model/format.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "model/message_accuracy.hpp"
#include "storage/store.hpp"

namespace afterbay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ModelFormat, every_row_is_complete_and_has_a_store) {
  std::set<std::string_view> names;
  for (const Format format : all_formats()) {
    const FormatTraits& it = traits_of(format);
    EXPECT_TRUE(names.insert(it.name).second) << it.name;
    EXPECT_EQ(format_of(it.name), format);
    EXPECT_FALSE(it.title.empty()) << it.name;
    ASSERT_FALSE(it.endings.empty()) << it.name;
    for (const std::string_view ending : it.endings) EXPECT_TRUE(ending.starts_with('.')) << it.name;
    EXPECT_TRUE(it.publishes || it.magic.empty()) << it.name;
    EXPECT_NE(it.types.bits, 0U) << it.name;
    EXPECT_FALSE(it.arithmetic_places && it.chunks) << it.name;
    EXPECT_NE(storage::make_store(format), nullptr) << it.name;
    if (it.messages == nullptr) {
      EXPECT_EQ(message_accuracy_of(format), nullptr) << it.name;
      continue;
    }
    EXPECT_NE(it.messages->slab_dimensions, nullptr) << it.name;
    EXPECT_NE(it.messages->check, nullptr) << it.name;
    const MessageAccuracy* const accuracy = message_accuracy_of(format);
    ASSERT_NE(accuracy, nullptr) << it.name << " would not keep absolute_error";
    EXPECT_NE(accuracy->packs, nullptr) << it.name;
    EXPECT_NE(accuracy->keep_error, nullptr) << it.name;
  }
}

TEST(ModelFormat, the_default_is_that_of_programs) {
  EXPECT_EQ(CollectionOptions().store.name(), name_of(default_format));
}

TEST(ModelFormat, names_of_files_end_as_their_format_says) {
  EXPECT_EQ(with_ending("a", Format::netcdf4), "a.nc");
  EXPECT_EQ(with_ending("a", Format::cdf2), "a.nc");
  EXPECT_EQ(with_ending("a", Format::grib2), "a.grib2");
  EXPECT_EQ(with_ending("a.2000", Format::pp), "a.2000.pp");
  for (const Format format : all_formats())
    for (const char* const named : {"a.nc", "a.nc4", "a.cdf", "a.grib2", "a.grb", "a.pp"})
      EXPECT_EQ(with_ending(named, format), named) << name_of(format);
}

TEST(ModelFormat, endings_of_all_published_formats_can_be_listed) {
  std::vector<std::string> appended, others;
  const auto add = [](std::vector<std::string>& list, std::string_view ending) {
    const std::string code = fmt::format("`{}`", ending);
    if (std::ranges::find(list, code) == list.end()) list.push_back(code);
  };
  for (const Format format : all_formats()) {
    const auto endings = traits_of(format).endings;
    if (!traits_of(format).publishes) continue;
    add(appended, endings.front());
    for (const std::string_view other : endings.subspan(1)) add(others, other);
  }
  const auto listed = [](const std::vector<std::string>& list) {
    return fmt::format("{} or {}", fmt::join(list.begin(), list.end() - 1, ", "), list.back());
  };
  EXPECT_EQ(appended_endings(), listed(appended));
  EXPECT_EQ(other_endings(), listed(others));
  EXPECT_THAT(appended_endings(), testing::StartsWith("`.nc`, "));
  EXPECT_THAT(other_endings(), testing::StartsWith("`.nc4`, `.cdf`, "));
}

TEST(ModelFormat, stores_of_the_interface_are_formats) {
  std::set<std::string_view> enumerators;
  for (unsigned number = 0; name_of(static_cast<Store>(number)) != "unknown"; ++number) {
    const std::string_view name = name_of(static_cast<Store>(number));
    EXPECT_TRUE(enumerators.insert(name).second) << name;
    EXPECT_TRUE(format_of(name)) << name;
  }
  for (const std::string& name : published_format_names())
    EXPECT_TRUE(enumerators.contains(name)) << "Store in afterbay/types.hpp lacks " << name;
  EXPECT_EQ(Choice<Store>(Store::cdf5), Choice<Store>("cdf5"));
  EXPECT_EQ(Choice<Existing>(Existing::append).name(), "append");
}

TEST(ModelFormat, values_that_are_no_format_are_recognised) {
  const auto none = static_cast<Format>(all_formats().size());
  EXPECT_FALSE(is_known(none));
  EXPECT_EQ(name_of(none), "unknown");
  EXPECT_EQ(storage::make_store(none), nullptr);
  EXPECT_EQ(format_of("netcdf"), std::nullopt);
}

TEST(ModelFormat, advice_names_formats_that_can) {
  EXPECT_EQ(formats_with([](const FormatTraits& it) { return it.magic == "CDF"; }), "cdf5 or cdf2");
  EXPECT_EQ(formats_with([](const FormatTraits& it) { return !it.magic.empty(); }), "netcdf4, cdf5 or cdf2");
  EXPECT_THAT(formats_that_hold(Type::string), AllOf(HasSubstr("netcdf4"), Not(HasSubstr("cdf5"))));
  EXPECT_THAT(formats_that_hold(Type::uint64), AllOf(HasSubstr("netcdf4"), HasSubstr("cdf5"),
                                                     Not(HasSubstr("cdf2")), Not(HasSubstr("memory"))));
  EXPECT_EQ(text_of(traits_of(Format::cdf2).types), "int8, text, int16, int32, float32 and float64");
  EXPECT_EQ(text_of(traits_of(Format::cdf5).types), "all types but string");
  EXPECT_EQ(text_of(all_types), "all types");
}

}  // namespace
}  // namespace afterbay
