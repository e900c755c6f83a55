// SPDX-License-Identifier: Apache-2.0
// E3SM-IO's files and Afterbay's: their contents as read by netCDF-C, and errors for malformed
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "decomp/formats.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/decomp/decomp_lists.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace afterbay::decomp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// 3 x 4 points. Rank 0 crosses the end of a row and has a hole inside a run; rank 1 holds nothing;
/// rank 2 lists backwards. No rank holds 1, 8, 9, 10.
Decomposition small() { return test::map_of("small", {3, 4}, {{2, 3, 4, -1, 5, 0}, {}, {11, 7, -1, 6}}); }

class DecompFiles : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (directory_.path / name).string(); }

  std::string write(MapFormat format, const std::vector<Decomposition>& maps) {
    const OutputRequest request{
        .path = path(name_of(format)), .format = format, .maps = maps.size(), .command_line = "test"};
    auto writer = MapsWriter::create(request);
    EXPECT_TRUE(writer) << writer.error().text();
    for (const Decomposition& map : maps) {
      const Result<> added = (*writer)->add(map);
      EXPECT_TRUE(added) << added.error().text();
    }
    const auto written = (*writer)->finish();
    EXPECT_TRUE(written) << written.error().text();
    return request.path;
  }

  /// All maps of a file, or the error message.
  static std::string read(const std::string& path, std::vector<Decomposition>* maps = nullptr) {
    const auto reader = MapsReader::open(path);
    if (!reader) return reader.error().text();
    for (std::size_t i = 0; i < (*reader)->maps(); ++i) {
      Result<Decomposition> map = (*reader)->read(i);
      if (!map) return map.error().text();
      if (maps != nullptr) maps->push_back(*std::move(map));
    }
    return "accepted";
  }

  /// The error message for a file with one map in which one value has been changed.
  std::string spoilt(MapFormat format, const std::string& variable, std::size_t index, long long value) {
    const std::string file = write(format, {small()});
    int id = 0;
    int number = 0;
    EXPECT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
    EXPECT_EQ(nc_inq_varid(id, variable.c_str(), &number), NC_NOERR) << variable;
    EXPECT_EQ(nc_put_var1_longlong(id, number, &index, &value), NC_NOERR) << variable;
    EXPECT_EQ(nc_close(id), NC_NOERR);
    return read(file);
  }

  /// The same for an attribute; an empty `variable` is the file.
  std::string spoilt_attribute(MapFormat format, const std::string& variable, const std::string& name,
                               const std::vector<long long>& values) {
    const std::string file = write(format, {small()});
    int id = 0;
    int number = NC_GLOBAL;
    EXPECT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
    nc_redef(id);
    if (!variable.empty()) nc_inq_varid(id, variable.c_str(), &number);
    EXPECT_EQ(nc_put_att_longlong(id, number, name.c_str(), NC_INT64, values.size(), values.data()),
              NC_NOERR);
    EXPECT_EQ(nc_close(id), NC_NOERR);
    return read(file);
  }

  static void expect_same_lists(const Decomposition& a, const Decomposition& b) {
    EXPECT_EQ(a.global(), b.global());
    ASSERT_EQ(a.ranks(), b.ranks());
    for (std::size_t rank = 0; rank < a.ranks(); ++rank)
      EXPECT_EQ(test::list_of(a, rank), test::list_of(b, rank)) << "rank " << rank;
  }

  test::Directory directory_;
};

TEST_F(DecompFiles, our_file_gives_back_what_was_written) {
  const Decomposition nothing = test::map_of("nothing", {5}, {{}, {}});
  const Decomposition holes = test::map_of("holes", {5}, {{-1, -1}});
  std::vector<Decomposition> maps;
  ASSERT_EQ(read(write(MapFormat::afterbay, {small(), nothing, holes}), &maps), "accepted");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].name, "small");
  expect_same_lists(maps[0], small());
  expect_same_lists(maps[1], nothing);
  expect_same_lists(maps[2], holes);
}

TEST_F(DecompFiles, e3sms_pairs_are_in_the_order_of_the_list_and_cut_at_the_end_of_rows) {
  const std::string file = write(MapFormat::e3sm, {small()});
  // The gaps 1, 8-10 in turn to ranks 0 and 1, as pairs to be filled.
  EXPECT_THAT(test::read<int>(file, "D1.nreqs"), ElementsAre(4, 1, 3));
  EXPECT_THAT(test::read<int>(file, "D1.fill_starts"), ElementsAre(3, 0, 3));
  EXPECT_THAT(test::read<int>(file, "D1.offsets"), ElementsAre(2, 4, 0, 1, 8, 11, 7, 6));
  EXPECT_THAT(test::read<int>(file, "D1.lengths"), ElementsAre(2, 2, 1, 1, 3, 1, 1, 1));
  EXPECT_THAT(test::read<int>(file, "D1.raw_nreqs"), ElementsAre(5, 0, 3));
  EXPECT_THAT(test::read<int>(file, "D1.raw_offsets"), ElementsAre(3, 4, 5, 6, 1, 12, 8, 7));  // from 1
}

TEST_F(DecompFiles, e3sms_file_gives_back_all_but_holes_and_names) {
  std::vector<Decomposition> maps;
  const Decomposition nothing = test::map_of("nothing", {5}, {{}, {}, {}});
  const Decomposition all = test::map_of("all", {2}, {{1}, {0}, {}});
  ASSERT_EQ(read(write(MapFormat::e3sm, {small(), nothing, all}), &maps), "accepted");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].name, "D1");
  expect_same_lists(maps[0], test::map_of("", {3, 4}, {{2, 3, 4, 5, 0}, {}, {11, 7, 6}}));
  expect_same_lists(maps[1], nothing);
  expect_same_lists(maps[2], all);
}

/// A file with the layout of 2018: D1 and D2 on 4 points, D3 on 3 x 4; 3 ranks. Padding must be
/// ignored.
struct PaddedFile {
  std::vector<long long> d1_counts = {2, 0, 2};
  std::vector<int> d1_rows = {0, 1, -9, -9, -9, -9, 3, 2, -9};
  std::vector<int> d3_rows = {4, 5, 0, -9, 11, -9, -9, -9, 8, 7, 6, 1};
  long long length_x = 4;
  long long most = 3;  ///< the attribute D3.max_nreqs, which is 4

  void write(const std::string& path) const {
    int id = 0;
    ASSERT_EQ(nc_create(path.c_str(), NC_CLOBBER, &id), NC_NOERR);
    int ranks = 0;
    nc_def_dim(id, "num_procs", 3, &ranks);
    const long long length_y = 3;
    nc_put_att_longlong(id, NC_GLOBAL, "dim_len_Y", NC_INT, 1, &length_y);
    nc_put_att_longlong(id, NC_GLOBAL, "dim_len_X", NC_INT, 1, &length_x);
    nc_put_att_longlong(id, NC_GLOBAL, "D3.max_nreqs", NC_INT, 1, &most);
    const std::vector<long long> d3_counts = {3, 1, 4};
    define(id, ranks, 3, 4);
    define(id, ranks, 2, 3);
    define(id, ranks, 1, 3);
    nc_enddef(id);
    put(id, 3, d3_counts, d3_rows);
    put(id, 2, {2, 0, 2}, {0, 1, -9, -9, -9, -9, 3, 2, -9});
    put(id, 1, d1_counts, d1_rows);
    EXPECT_EQ(nc_close(id), NC_NOERR);
  }

 private:
  static void define(int id, int ranks, int map, std::size_t width) {
    int dimensions[2] = {ranks, 0};
    int variable = 0;
    const std::string name = "D" + std::to_string(map);
    nc_def_dim(id, (name + ".max_nreqs").c_str(), width, &dimensions[1]);
    nc_def_var(id, (name + ".nreqs").c_str(), NC_INT, 1, dimensions, &variable);
    nc_def_var(id, (name + ".offsets").c_str(), NC_INT, 2, dimensions, &variable);
  }
  static void put(int id, int map, const std::vector<long long>& counts, const std::vector<int>& rows) {
    int variable = 0;
    const std::string name = "D" + std::to_string(map);
    nc_inq_varid(id, (name + ".nreqs").c_str(), &variable);
    EXPECT_EQ(nc_put_var_longlong(id, variable, counts.data()), NC_NOERR);
    nc_inq_varid(id, (name + ".offsets").c_str(), &variable);
    EXPECT_EQ(nc_put_var_int(id, variable, rows.data()), NC_NOERR);
  }
};

TEST_F(DecompFiles, e3sms_file_of_2018_has_padded_rows_of_points) {
  PaddedFile file;
  file.most = 4;
  file.write(path("padded.nc"));
  std::vector<Decomposition> maps;
  ASSERT_EQ(read(path("padded.nc"), &maps), "accepted");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].name, "D1");
  expect_same_lists(maps[0], test::map_of("", {4}, {{0, 1}, {}, {3, 2}}));
  expect_same_lists(maps[2], test::map_of("", {3, 4}, {{4, 5, 0}, {11}, {8, 7, 6, 1}}));
}

TEST_F(DecompFiles, e3sms_file_of_2018_with_a_wrong_value_is_refused) {
  const auto said = [&](auto change) {
    PaddedFile file;
    file.most = 4;
    change(file);
    file.write(path("padded.nc"));
    return read(path("padded.nc"));
  };
  EXPECT_THAT(said([](PaddedFile& it) { it.d1_counts[2] = 4; }),
              AllOf(HasSubstr("D1.nreqs"), HasSubstr("is 4 for rank 2"), HasSubstr("3 values")));
  EXPECT_THAT(said([](PaddedFile& it) { it.d1_counts[0] = -1; }), HasSubstr("is -1 for rank 0"));
  EXPECT_THAT(said([](PaddedFile& it) { it.d1_rows[1] = 4; }),
              AllOf(HasSubstr("D1.offsets"), HasSubstr("value 1 of rank 0 is 4"), HasSubstr("0 ... 3")));
  EXPECT_THAT(said([](PaddedFile& it) { it.d3_rows[4] = 12; }), HasSubstr("value 0 of rank 1 is 12"));
  EXPECT_THAT(said([](PaddedFile& it) { it.length_x = 0; }), HasSubstr("dim_len_X"));
  EXPECT_THAT(said([](PaddedFile& it) { it.most = 3; }),
              AllOf(HasSubstr("D3.max_nreqs is 3"), HasSubstr("say 4")));
}

/// Files of 2019 have neither fill_starts nor raw lists.
TEST_F(DecompFiles, e3sms_file_of_2019_has_pairs_that_are_all_held) {
  const Decomposition map = test::map_of("", {3, 4}, {{2, 3, 4, 0, 1}, {5, 8, 9}, {11, 7, 6, 10}});
  const std::string file = write(MapFormat::e3sm, {map});
  int id = 0;
  ASSERT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
  nc_redef(id);
  for (const char* name : {"D1.fill_starts", "D1.raw_nreqs", "D1.raw_offsets"}) {
    int variable = 0;
    ASSERT_EQ(nc_inq_varid(id, name, &variable), NC_NOERR);
    ASSERT_EQ(nc_rename_var(id, variable, (std::string("not.") + name).c_str()), NC_NOERR);
  }
  nc_del_att(id, NC_GLOBAL, "D1.fully_covered");
  ASSERT_EQ(nc_close(id), NC_NOERR);
  std::vector<Decomposition> maps;
  ASSERT_EQ(read(file, &maps), "accepted");
  expect_same_lists(maps.at(0), map);
}

TEST_F(DecompFiles, e3sms_maps_have_one_number_of_ranks) {
  auto writer =
      MapsWriter::create({.path = path("x.nc"), .format = MapFormat::e3sm, .maps = 2, .command_line = ""});
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->add(small()));
  const Result<> added = (*writer)->add(test::map_of("two", {4}, {{0}, {1}}));
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, AllOf(HasSubstr("\"two\""), HasSubstr("2 ranks"), HasSubstr("3")));
}

TEST_F(DecompFiles, what_is_not_finished_is_removed) {
  for (const MapFormat format : {MapFormat::pio, MapFormat::e3sm, MapFormat::afterbay}) {
    auto writer = MapsWriter::create({.path = path("x.nc"), .format = format, .maps = 2, .command_line = ""});
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->add(small()));
    writer->reset();
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path)) << name_of(format);
  }
}

TEST_F(DecompFiles, e3sms_file_with_a_wrong_value_is_refused_with_variable_and_value) {
  const auto e3sm = [&](const char* variable, std::size_t index, long long value) {
    return spoilt(MapFormat::e3sm, variable, index, value);
  };
  EXPECT_THAT(e3sm("D1.nreqs", 1, -1), AllOf(HasSubstr("D1.nreqs"), HasSubstr("-1"), HasSubstr("rank 1")));
  EXPECT_THAT(e3sm("D1.nreqs", 2, 4), AllOf(HasSubstr("D1.nreqs"), HasSubstr("8 values of D1.offsets")));
  EXPECT_THAT(e3sm("D1.nreqs", 0, 3), AllOf(HasSubstr("adds up to 7"), HasSubstr("8 values")));
  EXPECT_THAT(e3sm("D1.fill_starts", 0, 5), AllOf(HasSubstr("D1.fill_starts"), HasSubstr("is 5")));
  EXPECT_THAT(e3sm("D1.offsets", 0, -2), AllOf(HasSubstr("D1.offsets"), HasSubstr("-2")));
  EXPECT_THAT(e3sm("D1.offsets", 5, 12),
              AllOf(HasSubstr("D1.offsets"), HasSubstr("at 12"), HasSubstr("12 points")));
  EXPECT_THAT(e3sm("D1.lengths", 0, 0), AllOf(HasSubstr("D1.lengths"), HasSubstr("length 0")));
  EXPECT_THAT(e3sm("D1.lengths", 0, 3),
              AllOf(HasSubstr("D1.lengths"), HasSubstr("length 3")));  // beyond the row
  EXPECT_THAT(e3sm("D1.raw_nreqs", 0, 6), AllOf(HasSubstr("D1.raw_nreqs"), HasSubstr("more than the 8")));
  EXPECT_THAT(e3sm("D1.raw_offsets", 1, 13), AllOf(HasSubstr("D1.raw_offsets"), HasSubstr("is 13")));
  EXPECT_THAT(e3sm("D1.raw_offsets", 1, 0), AllOf(HasSubstr("D1.raw_offsets"), HasSubstr("is 0")));
  EXPECT_THAT(e3sm("D1.raw_offsets", 1, 7),
              AllOf(HasSubstr("D1.raw_offsets"), HasSubstr("not those of its pairs")));
}

TEST_F(DecompFiles, e3sms_file_with_a_wrong_attribute_is_refused) {
  EXPECT_THAT(spoilt_attribute(MapFormat::e3sm, "", "D1.ndims", {3}),
              AllOf(HasSubstr("ndims"), HasSubstr("3")));
  EXPECT_THAT(spoilt_attribute(MapFormat::e3sm, "", "D1.dims", {3, 0}), HasSubstr("length 0"));
  EXPECT_THAT(spoilt_attribute(MapFormat::e3sm, "", "D1.dims", {3, 3}), HasSubstr("D1."));
  EXPECT_THAT(spoilt_attribute(MapFormat::e3sm, "", "D1.max_nreqs", {5}),
              AllOf(HasSubstr("D1.max_nreqs is 5"), HasSubstr("is 4")));
  EXPECT_THAT(spoilt_attribute(MapFormat::e3sm, "", "D1.min_nreqs", {0}),
              AllOf(HasSubstr("D1.min_nreqs is 0"), HasSubstr("is 1")));
  EXPECT_THAT(spoilt_attribute(MapFormat::e3sm, "D1.lengths", "max", {4}),
              AllOf(HasSubstr("D1.lengths"), HasSubstr("max is 4"), HasSubstr("1 ... 3")));
  EXPECT_THAT(spoilt_attribute(MapFormat::e3sm, "D1.lengths", "min", {0}),
              AllOf(HasSubstr("D1.lengths"), HasSubstr("min is 0")));
  EXPECT_THAT(spoilt_attribute(MapFormat::e3sm, "", "D1.fully_covered", {0}), HasSubstr("not text"));
}

TEST_F(DecompFiles, e3sms_pairs_to_be_filled_are_the_gaps) {
  // The offsets of the pairs are 2, 4, 0, 1 | 8 | 11, 7, 6; 1 and 8-10 are to be filled.
  EXPECT_THAT(spoilt(MapFormat::e3sm, "D1.offsets", 3, 0),
              AllOf(HasSubstr("D1.offsets"), HasSubstr("rank 0 at 0"), HasSubstr("point 0")));
  EXPECT_THAT(spoilt(MapFormat::e3sm, "D1.lengths", 4, 2),
              AllOf(HasSubstr("D1.offsets"), HasSubstr("point at 10 is in no pair")));
  EXPECT_THAT(spoilt(MapFormat::e3sm, "D1.lengths", 4, 4),
              AllOf(HasSubstr("rank 1 at 8"), HasSubstr("point 11")));
}

TEST_F(DecompFiles, e3sms_file_says_whether_every_point_is_held) {
  const auto said = [&](const Decomposition& map, const char* text) {
    const std::string file = write(MapFormat::e3sm, {map});
    int id = 0;
    EXPECT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
    EXPECT_EQ(nc_redef(id), NC_NOERR);
    EXPECT_EQ(nc_put_att_text(id, NC_GLOBAL, "D1.fully_covered", std::strlen(text), text), NC_NOERR);
    EXPECT_EQ(nc_close(id), NC_NOERR);
    return read(file);
  };
  const Decomposition all = test::map_of("all", {2}, {{1}, {0}});
  EXPECT_EQ(said(small(), "false"), "accepted");
  EXPECT_EQ(said(all, "true"), "accepted");
  EXPECT_THAT(said(small(), "true"),
              AllOf(HasSubstr("fully_covered"), HasSubstr("no rank holds the point at 1")));
  EXPECT_THAT(said(all, "false"), AllOf(HasSubstr("fully_covered"), HasSubstr("every point is held")));
  EXPECT_THAT(said(all, "yes"), HasSubstr("\"yes\""));
}

/// E3SM-IO's converter creates pairs to be filled only on request.
TEST_F(DecompFiles, e3sms_file_may_have_gaps_and_no_pairs_to_be_filled) {
  int id = 0;
  int ranks = 0;
  int pairs = 0;
  ASSERT_EQ(nc_create(path("gaps.nc").c_str(), NC_64BIT_DATA, &id), NC_NOERR);
  nc_def_dim(id, "num_decomp", 1, &pairs);
  nc_def_dim(id, "decomp_nprocs", 2, &ranks);
  nc_def_dim(id, "D1.total_nreqs", 2, &pairs);
  int number = 0;
  for (const char* name : {"D1.nreqs", "D1.fill_starts"}) nc_def_var(id, name, NC_INT, 1, &ranks, &number);
  for (const char* name : {"D1.offsets", "D1.lengths"}) nc_def_var(id, name, NC_INT, 1, &pairs, &number);
  const int one = 1;
  const int points = 9;
  nc_put_att_int(id, NC_GLOBAL, "D1.ndims", NC_INT, 1, &one);
  nc_put_att_int(id, NC_GLOBAL, "D1.dims", NC_INT, 1, &points);
  nc_put_att_text(id, NC_GLOBAL, "D1.fully_covered", 5, "false");
  ASSERT_EQ(nc_enddef(id), NC_NOERR);
  const int values[4][2] = {{1, 1}, {1, 1}, {0, 4}, {2, 3}};
  for (int variable = 0; variable < 4; ++variable) nc_put_var_int(id, variable, values[variable]);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  std::vector<Decomposition> maps;
  ASSERT_EQ(read(path("gaps.nc"), &maps), "accepted");
  EXPECT_THAT(test::list_of(maps[0], 1), ElementsAre(4, 5, 6));
}

/// Numbers of maps that nothing in the file confirms: nothing of that size is allocated.
TEST_F(DecompFiles, more_maps_than_the_file_has_are_refused) {
  for (const long long maps : {2LL, 1LL << 31, 1LL << 60})
    EXPECT_THAT(spoilt_attribute(MapFormat::afterbay, "", "maps", {maps}),
                AllOf(HasSubstr(std::to_string(maps)), HasSubstr("no variable map2")));
  int id = 0;
  int dimension = 0;
  ASSERT_EQ(nc_create(path("many.nc").c_str(), NC_64BIT_DATA, &id), NC_NOERR);
  ASSERT_EQ(nc_def_dim(id, "num_decomp", 2147483643, &dimension), NC_NOERR);
  ASSERT_EQ(nc_def_dim(id, "decomp_nprocs", 1, &dimension), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  EXPECT_THAT(read(path("many.nc")),
              AllOf(HasSubstr("many.nc"), HasSubstr("2147483643"), HasSubstr("D1.nreqs")));
}

/// A chunked variable that was never written takes no space on the disk, whatever its length.
TEST_F(DecompFiles, variables_that_do_not_fit_into_memory_are_refused) {
  const std::string file = write(MapFormat::afterbay, {small()});
  int id = 0;
  int dimension = 0;
  int number = 0;
  ASSERT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
  nc_redef(id);
  ASSERT_EQ(nc_rename_var(id, (nc_inq_varid(id, "map1_run_offset", &number), number), "other"), NC_NOERR);
  ASSERT_EQ(nc_def_dim(id, "long", std::size_t{1} << 50, &dimension), NC_NOERR);
  ASSERT_EQ(nc_def_var(id, "map1_run_offset", NC_INT64, 1, &dimension, &number), NC_NOERR);
  const std::size_t chunk = 1024;
  ASSERT_EQ(nc_def_var_chunking(id, number, NC_CHUNKED, &chunk), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  EXPECT_THAT(read(file),
              AllOf(HasSubstr("map1"), HasSubstr("1125899906842624 runs"), HasSubstr("GiB of memory")));
}

TEST_F(DecompFiles, e3sms_raw_offsets_may_count_from_0) {
  const std::string file = write(MapFormat::e3sm, {small()});
  std::vector<int> raw = test::read<int>(file, "D1.raw_offsets");
  for (int& offset : raw) --offset;
  int id = 0;
  int number = 0;
  ASSERT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
  ASSERT_EQ(nc_inq_varid(id, "D1.raw_offsets", &number), NC_NOERR);
  ASSERT_EQ(nc_put_var_int(id, number, raw.data()), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  std::vector<Decomposition> maps;
  ASSERT_EQ(read(file, &maps), "accepted");
  EXPECT_THAT(test::list_of(maps[0], 0), ElementsAre(2, 3, 4, 5, 0));
}

TEST_F(DecompFiles, our_file_with_a_wrong_value_is_refused_with_variable_and_value) {
  const auto ours = [&](const char* variable, std::size_t index, long long value) {
    return spoilt(MapFormat::afterbay, variable, index, value);
  };
  EXPECT_EQ(ours("map1_rank_segments", 0, 1),
            "accepted");  // unchanged: one segment per rank that holds any points
  EXPECT_THAT(ours("map1_rank_segments", 1, -1), AllOf(HasSubstr("map1_rank_segments"), HasSubstr("-1")));
  EXPECT_THAT(ours("map1_rank_segments", 1, 1),
              AllOf(HasSubstr("map1_rank_segments"), HasSubstr("more than")));
  EXPECT_THAT(ours("map1_segment_runs", 0, 0), AllOf(HasSubstr("map1_segment_runs"), HasSubstr("below 1")));
  EXPECT_THAT(ours("map1_segment_runs", 0, 3),
              AllOf(HasSubstr("map1_segment_runs"), HasSubstr("adds up to 7")));
  EXPECT_THAT(ours("map1_segment_repeats", 0, 0),
              AllOf(HasSubstr("map1_segment_repeats"), HasSubstr("is 0")));
  EXPECT_THAT(ours("map1_segment_repeats", 0, 1LL << 40), HasSubstr("more than 4294967295"));
  EXPECT_THAT(ours("map1_run_offset", 0, 12), AllOf(HasSubstr("map1_run_offset"), HasSubstr("is 12")));
  EXPECT_THAT(ours("map1_run_offset", 0, -2), AllOf(HasSubstr("map1_run_offset"), HasSubstr("is -2")));
  EXPECT_THAT(ours("map1_run_length", 0, 0), AllOf(HasSubstr("map1_run_length"), HasSubstr("is 0")));
  EXPECT_THAT(ours("map1_run_length", 0, 11), AllOf(HasSubstr("length 11"), HasSubstr("12 points")));
  EXPECT_THAT(ours("map1_run_length", 0, 4), AllOf(HasSubstr("listed"), HasSubstr("11 elements")));
}

TEST_F(DecompFiles, repetition_that_leaves_the_index_space_is_refused) {
  Decomposition map("d", {4, 4});
  const afterbay::Map::Run run{1, 2};
  const Segment segment{1, 4, 4};
  map.add_rank(std::span(&segment, 1), std::span(&run, 1));
  const std::string file = write(MapFormat::afterbay, {map});
  int id = 0;
  int number = 0;
  const std::size_t first = 0;
  ASSERT_EQ(read(file), "accepted");
  for (const long long step : {5LL, -1LL, 1LL << 62}) {
    ASSERT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
    ASSERT_EQ(nc_inq_varid(id, "map1_segment_step", &number), NC_NOERR);
    ASSERT_EQ(nc_put_var1_longlong(id, number, &first, &step), NC_NOERR);
    ASSERT_EQ(nc_close(id), NC_NOERR);
    EXPECT_THAT(read(file), AllOf(HasSubstr("map1_run_offset"), HasSubstr(std::to_string(step))));
  }
}

TEST_F(DecompFiles, our_file_with_a_wrong_attribute_is_refused) {
  const auto ours = [&](const char* variable, const char* name, const std::vector<long long>& values) {
    return spoilt_attribute(MapFormat::afterbay, variable, name, values);
  };
  EXPECT_THAT(ours("", "format_version", {2}), AllOf(HasSubstr("format_version"), HasSubstr("is 2")));
  EXPECT_THAT(ours("", "maps", {0}), HasSubstr("is 0"));
  EXPECT_THAT(ours("", "maps", {2}), HasSubstr("map2"));
  EXPECT_THAT(ours("map1", "global_lengths", {3, -4}), HasSubstr("-4"));
  EXPECT_THAT(ours("map1", "global_lengths", {2, 4}), HasSubstr("8 points"));
  EXPECT_THAT(ours("map1", "name", {1}), HasSubstr("not text"));
  EXPECT_THAT(ours("map1", "holes", {1}), AllOf(HasSubstr("holes"), HasSubstr("is 1")));
}

TEST_F(DecompFiles, a_file_that_was_cut_off_is_refused) {
  for (const MapFormat format : {MapFormat::e3sm, MapFormat::afterbay}) {
    const std::string file = write(format, {small()});
    const auto size = std::filesystem::file_size(file);
    for (const std::uintmax_t left : {size - 8, size / 2, std::uintmax_t{100}, std::uintmax_t{4}}) {
      std::filesystem::resize_file(file, left);
      EXPECT_NE(read(file), "accepted") << name_of(format) << " of " << size << " bytes, " << left << " left";
    }
  }
}

/// netCDF-C would read zeros.
TEST_F(DecompFiles, a_classic_file_that_is_shorter_than_its_variables_is_said_to_be_cut_off) {
  int id = 0;
  int dimension = 0;
  int number = 0;
  ASSERT_EQ(nc_create(path("cut.nc").c_str(), NC_64BIT_DATA, &id), NC_NOERR);
  ASSERT_EQ(nc_def_dim(id, "decomp_nprocs", 1000, &dimension), NC_NOERR);
  ASSERT_EQ(nc_def_var(id, "D1.nreqs", NC_INT, 1, &dimension, &number), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  std::filesystem::resize_file(path("cut.nc"), 2000);
  EXPECT_THAT(read(path("cut.nc")),
              AllOf(HasSubstr("cut.nc"), HasSubstr("2000 bytes"), HasSubstr("cut off")));
}

TEST_F(DecompFiles, records_that_were_cut_off_are_missed) {
  int id = 0;
  int dimensions[2] = {};
  int number = 0;
  ASSERT_EQ(nc_create(path("cut.nc").c_str(), NC_64BIT_DATA, &id), NC_NOERR);
  ASSERT_EQ(nc_def_dim(id, "time", NC_UNLIMITED, &dimensions[0]), NC_NOERR);
  ASSERT_EQ(nc_def_dim(id, "x", 500, &dimensions[1]), NC_NOERR);
  ASSERT_EQ(nc_def_var(id, "D1.nreqs", NC_INT, 2, dimensions, &number), NC_NOERR);
  ASSERT_EQ(nc_enddef(id), NC_NOERR);
  const std::size_t start[2] = {2, 0};
  const std::size_t count[2] = {1, 500};
  ASSERT_EQ(nc_put_vara_int(id, number, start, count, std::vector<int>(500, 1).data()), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  const auto size = std::filesystem::file_size(path("cut.nc"));
  EXPECT_EQ(read(path("cut.nc")).find("cut off"), std::string::npos);
  std::filesystem::resize_file(path("cut.nc"), size - 4);
  EXPECT_THAT(read(path("cut.nc")), AllOf(HasSubstr("D1.nreqs"), HasSubstr("cut off")));
}

TEST_F(DecompFiles, the_maps_of_our_file_have_different_names) {
  Decomposition second = small();
  second.name = "second";
  const std::string file = write(MapFormat::afterbay, {small(), second});
  int id = 0;
  int number = 0;
  ASSERT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
  ASSERT_EQ(nc_inq_varid(id, "map2", &number), NC_NOERR);
  ASSERT_EQ(nc_put_att_text(id, number, "name", 5, "small"), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  EXPECT_THAT(read(file), AllOf(HasSubstr("map2"), HasSubstr("\"small\""), HasSubstr("that of map1")));
}

/// A flipped bit on a disk, a network or in memory: no different map is returned.
TEST_F(DecompFiles, a_bit_of_our_file_that_has_changed_gives_no_other_map) {
#if defined(__SANITIZE_ADDRESS__)
  // netCDF-C 4.9.0 and HDF5 leak memory if a file cannot be opened.
  const __lsan::ScopedDisabler unwatched;
  constexpr std::size_t step = 505;
#else
  constexpr std::size_t step = 101;
#endif
  Decomposition map("levels", {72, 300});
  RunList list;
  for (std::int64_t level = 0; level < 72; ++level)
    for (std::int64_t i = 0; i < 60; ++i) list.add(level * 300 + i * i % 300);
  map.add_rank(std::move(list));
  const std::string file = write(MapFormat::afterbay, {map});
  std::ifstream input(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(input)), {});
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    std::ofstream(file, std::ios::binary) << changed;
    std::vector<Decomposition> maps;
    if (read(file, &maps) != "accepted") {
      ++refused;
      continue;
    }
    ASSERT_EQ(maps.size(), 1U) << "byte " << at;
    ASSERT_EQ(maps[0].global(), map.global()) << "byte " << at;
    ASSERT_EQ(test::list_of(maps[0], 0), test::list_of(map, 0)) << "byte " << at;
  }
  EXPECT_GT(refused, 0);
}

/// netCDF-C would allocate memory for as many dimensions as the file claims.
TEST_F(DecompFiles, a_damaged_header_is_refused_before_it_costs_memory) {
  const std::string file = write(MapFormat::e3sm, {small()});
  constexpr int count_of_dimensions = 16;  // behind "CDF5", the count of records and the tag; 8 bytes
  std::fstream(file, std::ios::binary | std::ios::in | std::ios::out)
      .seekp(count_of_dimensions)
      .write("\0\0\0\0\x3f\0\0\0", 8);
  EXPECT_THAT(read(file), AllOf(HasSubstr("header"), HasSubstr("damaged")));
}

TEST_F(DecompFiles, what_is_no_file_is_refused_at_once) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(read(path("pipe")), AllOf(HasSubstr("pipe"), HasSubstr("save it as a file")));
  EXPECT_THAT(read("/dev/zero"), HasSubstr("save it as a file"));
}

TEST_F(DecompFiles, other_files_are_refused) {
  int id = 0;
  ASSERT_EQ(nc_create(path("other.nc").c_str(), NC_NETCDF4, &id), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  EXPECT_THAT(read(path("other.nc")), AllOf(HasSubstr("other.nc"), HasSubstr("num_decomp")));
  std::ofstream(path("text.nc")) << "netcdf x {\n}\n";
  EXPECT_THAT(read(path("text.nc")),
              AllOf(HasSubstr("text.nc"), HasSubstr("line 1"), HasSubstr("\"netcdf\"")));
  EXPECT_THAT(read(path("none.nc")), AllOf(HasSubstr("none.nc"), HasSubstr("No such file")));
  EXPECT_NE(read(directory_.path.string()), "accepted");
}

TEST_F(DecompFiles, two_maps_of_one_name_are_refused) {
  auto writer = MapsWriter::create(
      {.path = path("x.nc"), .format = MapFormat::afterbay, .maps = 2, .command_line = ""});
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->add(small()));
  EXPECT_FALSE((*writer)->add(small()));
}

}  // namespace
}  // namespace afterbay::decomp
