// SPDX-License-Identifier: Apache-2.0
// Names that the model has not defined.
#include "config/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/config_sources.hpp"

namespace afterbay::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Config config_of(std::vector<std::pair<std::string, std::string>> settings) {
  Sources sources = no_environment();
  sources.settings = std::move(settings);
  return load(sources).value();
}

TEST(ConfigNames, VariablesThatTheCollectionDoesNotHave) {
  const Config config = config_of({{"collections.h.variables.temprature.deflate", "1"},
                                   {"collections.h.variables.u.deflate", "1"},
                                   {"collections.h.variables.salt.shuffle", "on"}});
  const std::vector<std::string> variables{"temperature", "u"};
  const auto checked = check_variables(config, "h", variables);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::unknown_name);
  EXPECT_THAT(checked.error().message, HasSubstr("2 problems"));
  EXPECT_THAT(
      checked.error().message,
      HasSubstr(
          "set in code: collections.h.variables.temprature.deflate: the collection \"h\" has no variable "
          "\"temprature\"; did you mean \"temperature\"?"));
  EXPECT_THAT(checked.error().message, HasSubstr("has no variable \"salt\""));
}

TEST(ConfigNames, PatternsAndOtherCollectionsMayFitNothing) {
  const Config config = config_of({{"collections.h.variables.q*.deflate", "1"},
                                   {"collections.*.variables.salt.deflate", "1"},
                                   {"collections.restart.variables.salt.deflate", "1"}});
  EXPECT_TRUE(check_variables(config, "h", std::vector<std::string>{"u"}));
}

TEST(ConfigNames, CollectionsThatTheModelHasNotDefined) {
  const Config config = config_of({{"collections.histroy.store", "cdf5"},
                                   {"collections.histroy.existing", "replace"},
                                   {"collections.rest*.store", "cdf5"},
                                   {"collections.daily.store", "cdf5"}});
  EXPECT_THAT(
      unknown_collections(config, std::vector<std::string>{"history", "daily"}),
      ElementsAre("set in code: the model has defined no collection \"histroy\"; did you mean \"history\"?"));
  EXPECT_THAT(unknown_collections(config, std::vector<std::string>{"histroy", "daily"}), IsEmpty());
}

}  // namespace
}  // namespace afterbay::config
