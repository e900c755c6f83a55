// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>
#include <vector>

namespace afterbay {
namespace {

TEST(Log, SaysWhereALineComesFrom) {
  std::ostringstream output;
  const Logger log({.session = "ocean", .role = "server", .rank = 5}, LogLevel::info, output);
  log.error("cannot write {}", "a.nc");
  log.info("100 % done");
  EXPECT_EQ(output.str(),
            "[ocean server, rank 5] error: cannot write a.nc\n[ocean server, rank 5] info: 100 % done\n");
}

TEST(Log, LeavesOutWhatIsNotKnown) {
  std::ostringstream output;
  Logger({.session = "run"}, LogLevel::warning, output).warning("slow");
  EXPECT_EQ(output.str(), "[run] warning: slow\n");
}

TEST(Log, LevelsIncludeThoseBefore) {
  std::ostringstream output;
  const Logger log({.session = "s"}, LogLevel::warning, output);
  log.debug("no");
  log.info("no");
  log.write(LogLevel::info, "no");
  EXPECT_EQ(output.str(), "");
  log.warning("yes");
  EXPECT_EQ(output.str(), "[s] warning: yes\n");
  EXPECT_TRUE(log.enabled(LogLevel::error));
  EXPECT_FALSE(log.enabled(LogLevel::debug));
}

TEST(Log, PrefixesEveryLine) {
  std::ostringstream output;
  Logger({.session = "s"}, LogLevel::debug, output).debug("{}", "one\n{two}\n");
  EXPECT_EQ(output.str(), "[s] debug: one\n[s] debug: {two}\n");
}

TEST(Log, TwoSessionsDoNotMix) {
  std::ostringstream first;
  std::ostringstream second;
  const Logger a({.session = "a"}, LogLevel::info, first);
  const Logger b({.session = "b"}, LogLevel::error, second);
  const Logger copy = a;
  copy.info("x");
  b.info("y");
  b.error("z");
  EXPECT_EQ(first.str(), "[a] info: x\n");
  EXPECT_EQ(second.str(), "[b] error: z\n");
}

TEST(ThreadLog, LinesStayWhole) {
  std::ostringstream output;
  const Logger log({.session = "s"}, LogLevel::info, output);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&log] {
        for (int k = 0; k < 100; ++k) log.info("{}", std::string(50, 'x'));
      });
    }
  }
  std::istringstream lines(output.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_EQ(line, "[s] info: " + std::string(50, 'x'));
  EXPECT_EQ(count, 400);
}

}  // namespace
}  // namespace afterbay
