// SPDX-License-Identifier: Apache-2.0
// NeverPutWarnings without a server: which variables a file is said to lack.
#include "server/files/never_put_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace afterbay::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ServerNeverPut : public ::testing::Test {
 protected:
  ServerNeverPut() {
    collection_.id = 3;
    collection_.name = "history";
    collection_.schema.dimension("time", unlimited).dimension("x", 8);
  }
  void variable(const std::string& name, std::vector<std::string> dimensions) {
    model::VariableLayout layout;
    layout.record = !dimensions.empty() && dimensions.front() == "time";
    layout_->variables.push_back(layout);
    collection_.schema.variable(name, Type::float64, std::move(dimensions));
  }
  /// The warning about a file of which ranks have put these variables.
  std::string warning(std::vector<bool> put, std::uint64_t records = 2) {
    collection_.layout = layout_;
    OutputFile file;
    file.collection = &collection_;
    file.path = "out.nc";
    file.variables_put = std::move(put);
    file.records_put = records;
    return never_put_warnings_.warning(file);
  }

  std::shared_ptr<model::HandoverLayout> layout_ = std::make_shared<model::HandoverLayout>();
  ServedCollection collection_;
  NeverPutWarnings never_put_warnings_;
};

TEST_F(ServerNeverPut, NamesFileVariableAndCollection) {
  variable("t", {"time", "x"});
  variable("u", {"time", "x"});
  EXPECT_EQ(warning({true, true}), "");
  EXPECT_THAT(warning({true, false}),
              AllOf(HasSubstr("file out.nc: variable 'u' was never put"), HasSubstr("collection 'history'")));
}

TEST_F(ServerNeverPut, ReportsEachVariableOnce) {
  variable("t", {"x"});
  variable("u", {"x"});
  EXPECT_THAT(warning({false, true}), HasSubstr("'t' was"));
  EXPECT_EQ(warning({false, true}), "");
  EXPECT_THAT(warning({false, false}), AllOf(HasSubstr("'u' was"), Not(HasSubstr("'t'"))));
  collection_.id = 4;
  EXPECT_THAT(warning({false, false}), HasSubstr("variables 't', 'u' were"));
}

TEST_F(ServerNeverPut, NamesFiveVariables) {
  for (const char* const name : {"a", "b", "c", "d", "e", "f", "g"}) variable(name, {"x"});
  EXPECT_THAT(warning(std::vector<bool>(7, false)),
              HasSubstr("variables 'a', 'b', 'c', 'd', 'e' and 2 more were never put"));
}

TEST_F(ServerNeverPut, DoesNotCountWhatMayBeLeftOut) {
  variable("scalar", {});
  variable("t", {"time", "x"});
  EXPECT_EQ(warning({false, false}, 0), "");  // a file without records
  collection_.existing = Existing::append;
  EXPECT_EQ(warning({false, false}), "");
  collection_.existing = Existing::refuse;
  EXPECT_THAT(warning({false, false}), HasSubstr("variable 't' was"));
}

}  // namespace
}  // namespace afterbay::server
