// SPDX-License-Identifier: Apache-2.0
// The memory of a model rank about the files that it has written is bounded.
#include "client/destinations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace afterbay::client {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Destinations, what_is_kept_of_closed_files_does_not_grow_with_their_number) {
  Destinations destinations(10);
  destinations.begin("open.nc", 3);
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const std::string path = "out" + std::to_string(i) + ".nc";
    destinations.begin(path, i % 2);
    destinations.close(path, i);
  }
  EXPECT_EQ(destinations.size(), 10U);
  EXPECT_TRUE(destinations.has_forgotten());
  EXPECT_EQ(destinations.find("open.nc")->server, 3U);  // an open file is not forgotten
  EXPECT_EQ(destinations.find("out1000.nc")->ticket, 1000U);
  EXPECT_FALSE(destinations.find("out990.nc"));
}

TEST(Destinations, a_path_that_is_written_again_is_kept_once) {
  Destinations destinations(2);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    destinations.begin("same.nc", 1);
    destinations.close("same.nc", i);
  }
  EXPECT_EQ(destinations.size(), 1U);
  EXPECT_FALSE(destinations.has_forgotten());
}

TEST(Destinations, more_open_files_than_are_kept_are_all_known) {
  Destinations destinations(2);
  for (const char* path : {"a", "b", "c", "d"}) destinations.begin(path, 0);
  EXPECT_EQ(destinations.size(), 4U);
  for (const char* path : {"a", "b", "c", "d"}) destinations.close(path, 1);
  EXPECT_TRUE(destinations.find("a"));
}

TEST(OutputDirectories, one_directory_per_file_does_not_add_up) {
  OutputDirectories directories(4);
  std::size_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "day" + std::to_string(i);
    if (directories.add(name)) directories.keep({name});
    most = std::max(most, directories.all().size());
  }
  EXPECT_LE(most, 5U);
  directories.keep({"day999"});
  EXPECT_THAT(directories.all(), ElementsAre(Pair("day999", "")));
}

}  // namespace
}  // namespace afterbay::client
