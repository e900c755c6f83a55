// SPDX-License-Identifier: Apache-2.0
// Readable files: every format and kind of storage, written by other programs and by Afterbay.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include "conformance/input_files.hpp"
#include "storage/library_lock.hpp"

namespace afterbay::test {
namespace {

using storage::DirectIo;

constexpr const char* many_shapes = R"(netcdf shapes {
dimensions: time = UNLIMITED ; y = 5 ; x = 7 ; one = 1 ;
variables:
  double time(time) ; time:units = "days since 2000-01-01" ;
  float x(x) ;
  int scalar ;
  char label(x) ;
  byte odd(time, x) ;
  short gaps(time, y, x) ; gaps:_FillValue = -7s ; gaps:scale_factor = 0.5 ;
  float t(time, y, x) ;
  double fixed(y, x) ;
  int single(one, x) ;
  char text(time, y) ;
  :title = "shapes" ; :numbers = 1, 2, 3 ;
data:
  time = 0.5, 1.5, 2.5 ;
  x = 0, 1, 2, 3, 4, 5, 6 ;
  scalar = 42 ;
  label = "abcdefg" ;
  single = 7, 6, 5, 4, 3, 2, 1 ;
  text = "first", "secnd", "third" ;
)";

/// The text of as many values in CDL; value i is i * 7 % 1000 + 1, or where nothing is given (`_`).
std::string numbers(const std::string& variable, int count, int gap = -1) {
  std::string text = variable + " = ";
  for (int i = 0; i < count; ++i)
    text += (i == 0 ? "" : ", ") + (i == gap ? std::string("_") : std::to_string(i * 7 % 1000 + 1));
  return text + " ;\n";
}

class InputFormats : public testing::TestWithParam<const char*> {
 protected:
  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("in.nc");
};

TEST_P(InputFormats, reads_all_shapes_that_ncgen_wrote) {
  std::string cdl = many_shapes + numbers("gaps", 105, 3) + numbers("t", 105) + numbers("fixed", 35);
  for (int i = 0; i < 21; ++i) cdl += (i == 0 ? "odd = " : ", ") + std::to_string(i - 10);
  make_from_cdl(cdl + "; }", path_, GetParam());
  for (const DirectIo direct_io : {DirectIo::automatic, DirectIo::off}) {
    const auto file = open_input(path_, direct_io);
    expect_as_netcdf(*file);
    for (std::uint32_t v = 0; v < file->schema().variables.size(); ++v)
      EXPECT_NE(file->engine(v), "library") << file->schema().variables[v].name;
    EXPECT_EQ(read_whole<int>(*file, "scalar"), std::vector<int>{42});
    EXPECT_EQ(read_whole<char>(*file, "text", 1), (std::vector<char>{'s', 'e', 'c', 'n', 'd'}));
    const std::vector<std::int16_t> gaps = read_whole<std::int16_t>(*file, "gaps");
    EXPECT_EQ(gaps[2], 15);
    EXPECT_EQ(gaps[3], -7);
    EXPECT_EQ(read_whole<float>(*file, "t", 2)[34], 104 * 7 + 1);
    EXPECT_EQ(read_whole<double>(*file, "time", 2), std::vector<double>{2.5});
  }
}

TEST_P(InputFormats, reads_a_lone_record_variable_without_padding) {
  make_from_cdl(R"(netcdf lone {
dimensions: time = UNLIMITED ; x = 3 ;
variables: byte odd(time, x) ; int before(x) ;
data: odd = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ; before = 5, 6, 7 ;
})",
                path_, GetParam());
  const auto file = open_input(path_);
  expect_as_netcdf(*file);
  EXPECT_EQ(read_whole<std::int8_t>(*file, "odd", 3), (std::vector<std::int8_t>{10, 11, 12}));
}

TEST_P(InputFormats, a_file_without_variables_or_records_is_read) {
  make_from_cdl("netcdf empty { dimensions: time = UNLIMITED ; variables: float t(time) ; }", path_,
                GetParam());
  const auto file = open_input(path_);
  EXPECT_EQ(file->records(), 0u);
  EXPECT_EQ(read_error(*file, "t").code, ErrorCode::invalid_argument);
  make_from_cdl("netcdf nothing { }", directory_.file("nothing.nc"), GetParam());
  EXPECT_TRUE(open_input(directory_.file("nothing.nc"))->schema() == Schema());
}

INSTANTIATE_TEST_SUITE_P(Ncgen, InputFormats, testing::Values("classic", "64-bit offset", "cdf5", "nc4"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase_if(name, [](char c) { return c == ' ' || c == '-'; });
                           return name;
                         });

class InputOfOurs : public testing::TestWithParam<Format> {
 protected:
  void write(const Schema& schema, std::vector<std::uint64_t> records) {
    const auto request = request_of(path_, schema, GetParam());
    const Source source = noise_data(request.schema, *request.layout);
    auto file = storage::make_store(GetParam())->create(request);
    ASSERT_TRUE(file) << file.error().text();
    write_fixed(**file, request, source);
    for (const std::uint64_t record : records) write_record(**file, request, record, source);
    const auto published = (*file)->publish();
    ASSERT_TRUE(published) << published.error().text();
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("ours.nc");
};

TEST_P(InputOfOurs, reads_every_type_and_records_never_written) {
  write(schema_of_types(GetParam()), {0, 1, 4});
  const auto file = open_input(path_);
  EXPECT_EQ(file->format(), GetParam());
  EXPECT_EQ(file->records(), 5u);
  expect_as_netcdf(*file);
}

TEST_P(InputOfOurs, reads_large_fields_in_parts_of_any_shape) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("z", 5).dimension("y", 101).dimension("x", 211);
  schema.variable("a", Type::float32, {"time", "z", "y", "x"});
  schema.variable("b", Type::float64, {"time", "y", "x"});
  schema.variable("c", Type::int8, {"z", "y", "x"});
  write(schema, {0, 1});
  for (const DirectIo direct_io : {DirectIo::automatic, DirectIo::off}) {
    const auto file = open_input(path_, direct_io);
    expect_as_netcdf(*file);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, InputOfOurs, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST(InputNetcdf4, reads_what_we_wrote_with_chunks_and_filters_of_all_kinds) {
  const TemporaryDirectory directory;
  const auto request = request_of(directory.file("ours.nc"), filtered_schema(), Format::netcdf4);
  const Source source = sample_data(request.schema, *request.layout);
  auto written = storage::make_store(Format::netcdf4)->create(request);
  ASSERT_TRUE(written) << written.error().text();
  write_fixed(**written, request, source);
  for (const std::uint64_t record : {0u, 1u, 2u, 3u, 6u}) write_record(**written, request, record, source);
  ASSERT_TRUE((*written)->publish());
  const auto file = open_input(request.path);
  expect_as_netcdf(*file);
  const std::uint32_t packed = number_of(*file, "packed");
  EXPECT_EQ(file->schema().variables[packed].chunk, (std::vector<std::uint64_t>{1, 13, 7}));
  EXPECT_EQ(file->schema().variables[packed].deflate, 4);
  EXPECT_TRUE(file->schema().variables[packed].shuffle);
  EXPECT_EQ(file->grain(packed), model::Index(std::vector<std::uint64_t>{13, 7}));
}

constexpr const char* storage_kinds = R"(netcdf kinds {
dimensions: time = UNLIMITED ; y = 12 ; x = 10 ;
variables:
  float plain(y, x) ; plain:_Storage = "contiguous" ;
  short small(x) ; small:_Storage = "compact" ;
  int big(time, y, x) ; big:_Endianness = "big" ; big:_ChunkSizes = 1, 5, 4 ;
  double bigplain(y) ; bigplain:_Endianness = "big" ; bigplain:_Storage = "contiguous" ;
  float packed(time, y, x) ; packed:_DeflateLevel = 3 ; packed:_Shuffle = "true" ;
     packed:_ChunkSizes = 1, 5, 4 ;
  int64 bigpacked(y, x) ; bigpacked:_Endianness = "big" ; bigpacked:_DeflateLevel = 1 ;
     bigpacked:_ChunkSizes = 12, 3 ;
  ushort summed(time, y, x) ; summed:_Fletcher32 = "true" ; summed:_ChunkSizes = 2, 6, 10 ;
  uint all(time, y, x) ; all:_Fletcher32 = "true" ; all:_DeflateLevel = 9 ; all:_Shuffle = "true" ;
     all:_ChunkSizes = 2, 12, 7 ;
  uint64 shuffled(y) ; shuffled:_Shuffle = "true" ; shuffled:_ChunkSizes = 5 ;
  double series(time) ; series:_ChunkSizes = 512 ;
  string names(time) ;
  string fixednames(x) ;
data:
)";

TEST(InputNetcdf4, reads_every_storage_byte_order_and_filter_of_the_library) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("kinds.nc");
  std::string cdl = storage_kinds;
  for (const char* name : {"plain", "bigpacked"}) cdl += numbers(name, 120);
  for (const char* name : {"big", "packed", "summed", "all"}) cdl += numbers(name, 360);
  for (const char* name : {"bigplain", "shuffled"}) cdl += numbers(name, 12);
  cdl += numbers("small", 10) + numbers("series", 3);
  cdl += R"(names = "one", "", "three" ; fixednames = "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" ; })";
  make_from_cdl(cdl, path);
  const auto file = open_input(path);
  expect_as_netcdf(*file);
  EXPECT_EQ(read_whole<int>(*file, "big", 1)[5], (120 + 5) * 7 % 1000 + 1);
  for (std::uint32_t v = 0; v < file->schema().variables.size(); ++v) {
    const std::string& name = file->schema().variables[v].name;
    const bool by_library = name == "small" || name == "names" || name == "fixednames";
    EXPECT_EQ(file->engine(v) == "library", by_library) << name;
  }
  const auto names = file->read_strings(number_of(*file, "names"), 2);
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, std::vector<std::string>{"three"});
}

TEST(InputNetcdf4, variables_with_fewer_records_than_the_file_and_chunks_never_written_are_filled) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("partly.nc");
  if (!python_has("netCDF4, numpy")) GTEST_SKIP() << "no netCDF4 for Python";
  run_python(R"(import sys, netCDF4, numpy
d = netCDF4.Dataset(sys.argv[1], "w")
d.createDimension("time", None); d.createDimension("y", 40); d.createDimension("x", 30)
t = d.createVariable("t", "f4", ("time", "y", "x"), chunksizes=(1, 10, 10))
packed = d.createVariable("packed", "i4", ("time", "y", "x"), chunksizes=(3, 10, 10), zlib=True, fill_value=-5)
short = d.createVariable("short", "f8", ("time", "y"))
never = d.createVariable("never", "i2", ("y", "x"), zlib=True, chunksizes=(20, 20))
nowhere = d.createVariable("nowhere", "i2", ("y", "x"), contiguous=True)
none = d.createVariable("none", "i2", ("time", "y"))
never[25:27, 3:5] = 9
short[0:2] = numpy.arange(80).reshape(2, 40)
t[6, 12:35, 5:25] = numpy.arange(23 * 20).reshape(23, 20)
packed[4, 0:11, 0:11] = 3
d.close()
)",
             path);
  const auto file = open_input(path);
  expect_as_netcdf(*file);
  EXPECT_EQ(file->records(), 7u);
  EXPECT_EQ(read_whole<int>(*file, "packed", 6)[0], -5);
  EXPECT_EQ(read_whole<int>(*file, "packed", 4)[31], 3);
  EXPECT_EQ(read_whole<double>(*file, "short", 5)[3], 9.9692099683868690e+36);
}

TEST(InputNetcdf4, two_unlimited_dimensions_are_read_along_the_one_that_leads) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("two.nc");
  make_from_cdl(R"(netcdf two {
dimensions: obs = UNLIMITED ; time = UNLIMITED ; x = 2 ; none = UNLIMITED ;
variables: int a(time, obs) ; float b(time, x) ; int c(x, time) ; int d(x, obs) ; int e(x, none) ;
data: a = {1, 2, 3}, {4} ; b = 1, 2, 3, 4, 5, 6 ; c = {1, 2, 3}, {4, 5, 6} ; d = {1, 2, 3, 4}, {5, 6} ;
})",
                path);
  const auto file = open_input(path);
  EXPECT_EQ(file->schema().dimensions, (std::vector<Dimension>{{"obs", 4}, {"time", unlimited}, {"x", 2}}));
  EXPECT_EQ(file->records(), 3u);
  const int fill = -2147483647;
  EXPECT_EQ(read_whole<int>(*file, "a", 0), (std::vector<int>{1, 2, 3, fill}));
  EXPECT_EQ(read_whole<int>(*file, "a", 1), (std::vector<int>{4, fill, fill, fill}));
  EXPECT_EQ(read_whole<int>(*file, "a", 2), (std::vector<int>{fill, fill, fill, fill}));
  EXPECT_EQ(read_whole<float>(*file, "b", 2), (std::vector<float>{5, 6}));
  EXPECT_EQ(read_whole<int>(*file, "d"), (std::vector<int>{1, 2, 3, 4, 5, 6, fill, fill}));
  EXPECT_EQ(file->schema().find_variable("c"), nullptr);
  EXPECT_EQ(file->unreadable("c"), "its dimension 'time' is unlimited and not its first");
  EXPECT_EQ(file->unreadable("e"), "its dimension 'none' has length 0: it has no values");
}

TEST(InputNetcdf4, groups_and_types_of_the_user_are_left_out_with_the_reason) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("groups.nc");
  make_from_cdl(R"(netcdf groups {
types: compound pair { int a ; float b ; } ; int enum sky { clear = 0, cloudy = 1 } ;
dimensions: x = 2 ;
variables: pair p(x) ; sky s(x) ; int t(x) ; sky t:state = clear ; t:units = "K" ; int u(x) ;
data: t = 1, 2 ; u = 3, 4 ;
group: g {
  variables: float inside(x) ; int t(x) ;
  data: inside = 1, 2 ;
  group: deep { variables: float deeper(x) ; }
}
})",
                path);
  const auto file = open_input(path);
  ASSERT_EQ(file->schema().variables.size(), 2u);
  EXPECT_EQ(read_whole<int>(*file, "t"), (std::vector<int>{1, 2}));
  EXPECT_EQ(read_whole<int>(*file, "u"), (std::vector<int>{3, 4}));
  ASSERT_EQ(file->schema().variables[0].attributes.size(), 1u);
  EXPECT_EQ(file->schema().variables[0].attributes[0].name, "units");
  EXPECT_EQ(file->unreadable("p"), "it is of a user-defined type");
  EXPECT_EQ(file->unreadable("s"), "it is of a user-defined type");
  EXPECT_EQ(file->unreadable("g/t"), "it is in the group '/g'; only variables outside of groups are read");
  EXPECT_EQ(file->unreadable("deeper"),
            "it is in the group '/g/deep'; only variables outside of groups are read");
  EXPECT_EQ(file->unreadable("t"), std::nullopt);
  EXPECT_EQ(file->unreadable("nothing"), std::nullopt);
}

TEST(InputNetcdf4, hdf5_that_is_no_netcdf_is_read_as_the_library_reads_it) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("plain.h5");
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "no h5py";
  run_python(R"(import sys, h5py, numpy
f = h5py.File(sys.argv[1], "w")
a = numpy.arange(600).reshape(20, 30)
f["contiguous"] = a.astype("<i4")
f["big"] = a.astype(">f8")
f.create_dataset("chunked", data=a.astype("<i2"), chunks=(7, 8))
f.create_dataset("packed", data=a.astype("<f4"), chunks=(7, 8), compression="gzip", shuffle=True, fletcher32=True)
f.create_dataset("sparse", shape=(20, 30), dtype="<i8", chunks=(5, 5), fillvalue=11)[3:9, 3:9] = 1
f.create_dataset("late", shape=(20, 30), dtype="<i8")
f.create_dataset("scaled", data=a.astype("<i4"), chunks=(10, 10), scaleoffset=0)
f.create_dataset("lzf", data=a.astype("<i4"), chunks=(10, 10), compression="lzf")
f["scalar"] = numpy.float32(2.5)
f.close()
)",
             path);
  const auto file = open_input(path);
  EXPECT_EQ(read_whole<double>(*file, "big")[31], 31.0);
  EXPECT_EQ(read_whole<std::int16_t>(*file, "chunked")[599], 599);
  EXPECT_EQ(read_whole<float>(*file, "packed")[333], 333.0f);
  EXPECT_EQ(read_whole<std::int64_t>(*file, "sparse")[0], 11);
  EXPECT_EQ(read_whole<std::int64_t>(*file, "sparse")[3 * 30 + 3], 1);
  EXPECT_EQ(read_whole<std::int64_t>(*file, "late"), std::vector<std::int64_t>(600, 0));
  EXPECT_EQ(read_whole<int>(*file, "scaled")[444], 444);
  EXPECT_EQ(read_whole<float>(*file, "scalar"), std::vector<float>{2.5f});
  const Error unknown = read_error(*file, "lzf");  // the only filter here that is not part of HDF5
  EXPECT_EQ(unknown.variable, "lzf");
}

TEST(InputNetcdf4, szip_and_a_user_block_before_the_file_are_read) {
  const TemporaryDirectory directory;
  const std::string plain = directory.file("plain.nc");
  make_from_cdl(
      "netcdf p { dimensions: y = 40 ; x = 10 ; variables: int a(y, x) ; a:_ChunkSizes = 8, 10 ; "
      "int b(y, x) ; data: " +
          numbers("a", 400) + numbers("b", 400) + "}",
      plain);
  output_of("h5repack -f a:SZIP=8,NN " + plain + " " + directory.file("szip.nc"));
  const auto szip = open_input(directory.file("szip.nc"));
  EXPECT_EQ(szip->engine(number_of(*szip, "a")), "library");
  EXPECT_NE(szip->engine(number_of(*szip, "b")), "library");
  expect_as_netcdf(*szip);
  std::ofstream(directory.file("block")) << std::string(2048, 'u');
  output_of("h5repack -u " + directory.file("block") + " -b 2048 " + plain + " " + directory.file("user.nc"));
  ASSERT_EQ(file_bytes(directory.file("user.nc")).front(), std::byte{'u'});
  const auto user = open_input(directory.file("user.nc"));
  EXPECT_NE(user->engine(number_of(*user, "a")), "library");
  expect_as_netcdf(*user);
}

/// One variable in chunks of four records, compressed, large enough for decoding to take time.
std::string spanning_file(const TemporaryDirectory& directory) {
  const std::string path = directory.file("spans.nc");
  make_from_cdl(
      "netcdf s { dimensions: time = UNLIMITED ; y = 20 ; x = 20 ; variables: int a(time, y, x) ; "
      "a:_ChunkSizes = 4, 10, 20 ; a:_DeflateLevel = 1 ; int b(time, y, x) ; "
      "b:_ChunkSizes = 1, 10, 20 ; data: " +
          numbers("a", 3200) + numbers("b", 3200) + "}",
      path);
  return path;
}

TEST(InputNetcdf4, a_chunk_of_several_records_is_read_and_decoded_once) {
  const TemporaryDirectory directory;
  const auto file = open_input(spanning_file(directory));
  std::vector<std::byte> values(1600);
  const model::Box whole = box_of({0, 0}, {20, 20});
  for (std::uint64_t record = 0; record < 8; ++record) {
    const auto cost = file->read(0, record, whole, values);
    ASSERT_TRUE(cost) << cost.error().text();
    EXPECT_EQ(cost->bytes_in > 0, record % 4 == 0) << record;
  }
  const auto half = file->read(0, 3, box_of({5, 0}, {9, 7}), std::span(values).first(9 * 7 * 4));
  ASSERT_TRUE(half);
  EXPECT_EQ(half->bytes_in, 0u);
}

TEST(ThreadInput, reads_do_not_wait_for_the_library_once_places_are_known) {
  const TemporaryDirectory directory;
  const auto file = open_input(spanning_file(directory));
  const std::vector<std::byte> first = read_box(*file, 1, 2, box_of({0, 0}, {2, 20}));
  const storage::LibraryLock somebody_else;
  auto rest = std::async(std::launch::async, [&] { return read_box(*file, 1, 2, whole_of(*file, 1)); });
  if (rest.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
    ADD_FAILURE() << "waits for the library lock";
    std::_Exit(1);  // the waiting thread cannot be ended
  }
  EXPECT_TRUE(std::equal(first.begin(), first.end(), rest.get().begin()));
}

TEST(InputNetcdf4, a_file_stays_what_it_was_when_another_takes_its_name) {
  for (const char* kind : {"nc4", "cdf5"}) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("in.nc");
    const auto make = [&](const std::string& name, int shift) {
      std::string cdl = "netcdf s { dimensions: x = 3 ; variables: int a(x) ; data: a = ";
      make_from_cdl(cdl + std::to_string(shift) + ", 2, 3 ; }", directory.file(name), kind);
    };
    make("in.nc", 1);
    make("new.nc", 9);
    const auto file = open_input(path);
    std::filesystem::rename(directory.file("new.nc"), path);
    EXPECT_EQ(read_whole<int>(*file, "a"), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(read_whole<int>(*open_input(path), "a"), (std::vector<int>{9, 2, 3}));
  }
}

TEST(ThreadInput, threads_read_variables_and_records_of_one_file_at_once) {
  const TemporaryDirectory directory;
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 60).dimension("x", 70);
  schema.variable("plain", Type::float32, {"time", "y", "x"}).with_chunk({1, 60, 70});
  schema.variable("packed", Type::float32, {"time", "y", "x"}).with_chunk({1, 20, 70}).with_deflate(1);
  schema.variable("spans", Type::float64, {"time", "y", "x"}).with_chunk({4, 30, 30}).with_deflate(1);
  const auto request = request_of(directory.file("ours.nc"), schema, Format::netcdf4);
  const Source source = noise_data(request.schema, *request.layout);
  auto written = storage::make_store(Format::netcdf4)->create(request);
  ASSERT_TRUE(written) << written.error().text();
  for (std::uint64_t record = 0; record < 8; ++record) write_record(**written, request, record, source);
  ASSERT_TRUE((*written)->publish());
  const auto file = open_input(request.path);
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t n = 0; n < 24; ++n) {
        const std::uint64_t at = (n * (t + 1) + t) % 24;
        const auto v = static_cast<std::uint32_t>(at % 3);
        EXPECT_TRUE(read_box(*file, v, at / 3, whole_of(*file, v)) == source(v, at / 3)) << v << " " << at;
      }
    });
}

}  // namespace
}  // namespace afterbay::test
