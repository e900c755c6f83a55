// SPDX-License-Identifier: Apache-2.0
// Messages use the caller's conventions, whichever thread creates them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <thread>

#include "scratch_directory.hpp"
#include "storage/structure/compare_schema.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t far_record = 20'260'101;

Schema field_schema(const std::vector<std::string>& dimensions) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 3).dimension("x", 2);
  schema.variable("v", Type::float32, dimensions);
  return schema;
}

Collection terms_define(Session& session, const Directory& directory, const std::string& store,
                        const std::vector<std::string>& dimensions) {
  return session.collection(
      "c", field_schema(dimensions),
      {.file = "v.nc", .directory = directory.path, .store = store, .existing = "append"});
}

/// The error on a rank when its session ends because of `mistake`.
std::string told(Terms language, const LocalRun::Model& mistake) {
  LocalRun run(1, 1,
               {{"memory.server", "4MiB"}, {"memory.block", "64KiB"}, {"deadline", "30s"}, {"writers", "2"}});
  run.terms = language;
  const auto errors = run.run(mistake);
  return errors.front() ? errors.front()->text() : "no error";
}

/// A worker finds that the record is too far ahead.
std::string told_of_a_far_record(Terms language, const std::string& store) {
  Directory directory;
  return told(language, [&](Session& session, int) {
    OutputFile file = terms_define(session, directory, store, {"time", "y", "x"}).open();
    file.put("v", far_record, std::vector<float>(6).data());
    session.wait(session.flush());
  });
}

/// A worker finds that the file is a different one.
std::string told_of_another_file(Terms language, const std::string& store) {
  Directory directory;
  for (const std::vector<std::string>& dimensions :
       {std::vector<std::string>{"time", "y", "x"}, std::vector<std::string>{"time", "x", "y"}}) {
    const std::string text = told(language, [&](Session& session, int) {
      OutputFile file = terms_define(session, directory, store, dimensions).open();
      file.put("v", file.records(), std::vector<float>(6).data());
      session.finalize();
    });
    if (text != "no error") return text;
  }
  return "no error";
}

/// Two concurrent sessions in this process, one per language.
template <class Say>
std::map<Terms, std::string> in_both_languages(const Say& say) {
  std::map<Terms, std::string> texts{{Terms::c, {}}, {Terms::fortran, {}}};
  std::vector<std::jthread> threads;
  for (auto& [language, text] : texts) threads.emplace_back([&, of = language] { texts.at(of) = say(of); });
  threads.clear();
  return texts;
}

TEST(ThreadSessionTerms, a_record_too_far_ahead_is_named_as_the_caller_counts) {
  for (const std::string store : {"netcdf4", "cdf5"}) {
    auto texts = in_both_languages([&](Terms language) { return told_of_a_far_record(language, store); });
    EXPECT_THAT(texts[Terms::c], HasSubstr("record 20260101 of variable 'v' lies"));
    EXPECT_THAT(texts[Terms::c], HasSubstr("counted from 0"));
    EXPECT_THAT(texts[Terms::fortran], HasSubstr("record 20260102 of variable 'v' lies"));
    EXPECT_THAT(texts[Terms::fortran], HasSubstr("counted from 1"));
  }
}

TEST(ThreadSessionTerms, dimensions_of_a_file_to_append_to_are_in_the_callers_order) {
  for (const std::string store : {"netcdf4", "cdf5"}) {
    auto texts = in_both_languages([&](Terms language) { return told_of_another_file(language, store); });
    EXPECT_THAT(texts[Terms::c], HasSubstr("dimensions (time, x, y) wanted, (time, y, x) in the file"));
    EXPECT_THAT(texts[Terms::fortran], HasSubstr("dimensions (y, x, time) wanted, (x, y, time) in the file"));
  }
}

}  // namespace
}  // namespace afterbay::test
