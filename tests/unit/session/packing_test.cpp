// SPDX-License-Identifier: Apache-2.0
// Packing in a whole session: the same integers in every format, placement and way of handing over,
// read back by netCDF; what files say; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <thread>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t packed_rows = 12, packed_columns = 50, packed_steps = 2;
constexpr double packed_hole = -999;
const std::vector<const char*> packed_names{"tas", "pr", "small", "scattered"};

/// The whole record of a variable; about 300 K, or from 0 on.
std::vector<double> packed_record(std::string_view name, std::uint64_t step) {
  std::mt19937 generator(static_cast<unsigned>(step) + 7);
  std::normal_distribution<double> normal;
  std::vector<double> values(packed_rows * packed_columns);
  for (double& value : values) {
    const unsigned kind = generator() % 16;
    value = name == "tas" ? 270 + 15 * std::clamp(normal(generator), -4.0, 4.0) : std::abs(normal(generator));
    if (kind == 0 && name != "tas") value = 0;
    if (kind == 1) value = packed_hole;
    if (kind == 2) value = std::numeric_limits<double>::quiet_NaN();
  }
  return values;
}

struct PackedRun {
  const char* name;
  const char* store = "netcdf4";
  int ranks = 1, servers = 1;
  enum class By { put, slot, endpoints } by = By::put;
  LocalRun::Settings more = {};
};

LocalRun::Settings packed_settings(const LocalRun::Settings& more) {
  LocalRun::Settings settings{{"memory.server", "8MiB"},
                              {"memory.block", "256KiB"},
                              {"deadline", "30s"},
                              {"collections.c.variables.tas.pack", "int16"},
                              {"collections.c.variables.tas.pack_range", "-100,80"},
                              {"collections.c.variables.tas.add", "-273.15"},
                              {"collections.c.variables.scattered.pack", "auto"},
                              {"collections.c.variables.scattered.pack_range", "0,10"},
                              {"collections.c.variables.scattered.absolute_error", "0.05"}};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

Schema packed_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", packed_rows).dimension("x", packed_columns);
  schema.variable("tas", Type::float64, {"time", "y", "x"})
      .on("grid")
      .with_fill(Values(packed_hole))
      .attribute("valid_range", Values({-90.0, 70.0}));
  schema.variable("pr", Type::float32, {"time", "y", "x"})
      .on("grid")
      .attribute("missing_value", Values(static_cast<float>(packed_hole)))
      .with_packing("int32", 0, 10, 1e-6);
  schema.variable("small", Type::float64, {"time", "y", "x"})
      .on("grid")
      .with_fill(Values(packed_hole))
      .with_packing("int8", 0, 10);
  schema.variable("scattered", Type::float64, {"time", "y", "x"}).on("points").with_fill(Values(packed_hole));
  return schema;
}

struct PackedFile {
  std::map<std::string, std::vector<double>> integers;
  std::map<std::string, double> scale, offset, largest_error;
};

double number_attribute(const std::filesystem::path& path, const char* variable, const char* name) {
  int file = 0, id = 0;
  double value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &file), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(file, variable, &id), NC_NOERR);
  EXPECT_EQ(nc_get_att_double(file, id, name, &value), NC_NOERR) << variable << " " << name;
  EXPECT_EQ(nc_close(file), NC_NOERR);
  return value;
}

PackedFile contents_of(const std::filesystem::path& path) {
  PackedFile found;
  for (const char* const name : packed_names) {
    found.integers[name] = read<double>(path, name);
    found.scale[name] = number_attribute(path, name, "scale_factor");
    found.offset[name] = number_attribute(path, name, "add_offset");
    found.largest_error[name] = number_attribute(path, name, "largest_error");
  }
  return found;
}

/// Puts a band of rows of a record, from `low` on.
template <class Puts>
void put_band(Puts& puts, OutputFile& file, const char* name, std::uint64_t step, std::uint64_t low,
              [[maybe_unused]] PackedRun::By by) {
  const std::vector<double> all = packed_record(name, step);
  const double* const mine = all.data() + low * packed_columns;
  if constexpr (std::is_same_v<Puts, Endpoint>) {
    puts.put(file, name, step, mine);
  } else if (by == PackedRun::By::slot) {
    Slot slot = file.acquire(name, step, Type::float64);
    EXPECT_FALSE(slot.direct());
    for (const Slot::Part& part : slot.parts())
      for (std::uint64_t y = 0; y < part.count[0]; ++y)
        for (std::uint64_t x = 0; x < part.count[1]; ++x)
          static_cast<double*>(part.data)[static_cast<std::int64_t>(y) * part.strides[0] +
                                          static_cast<std::int64_t>(x) * part.strides[1]] =
              all[(part.start[0] + y) * packed_columns + part.start[1] + x];
    slot.commit();
  } else {
    file.put(name, step, mine);
  }
}

void put_scattered(Session& session, OutputFile& file, std::uint64_t step) {
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const std::vector<double> all = packed_record("scattered", step);
  std::vector<double> mine;
  for (std::uint64_t i = rank; i < all.size(); i += ranks) mine.push_back(all[i]);
  file.put("scattered", step, mine.data());
}

void put_steps(Session& session, OutputFile& file, std::uint64_t low, std::uint64_t high, PackedRun::By by) {
  for (std::uint64_t step = 0; step < packed_steps; ++step) {
    if (by == PackedRun::By::endpoints) {
      std::vector<std::jthread> threads;
      for (const std::uint64_t first : {low, (low + high) / 2})
        threads.emplace_back([&, first] {
          const std::uint64_t end = first == low ? (low + high) / 2 : high;
          Endpoint endpoint = session.endpoint();
          endpoint.part("grid",
                        Block{{packed_rows, packed_columns}, {first, 0}, {end - first, packed_columns}});
          for (const char* const name : {"tas", "pr", "small"})
            put_band(endpoint, file, name, step, first, by);
          endpoint.end_step();
        });
      threads.clear();
    } else {
      for (const char* const name : {"tas", "pr", "small"}) put_band(session, file, name, step, low, by);
    }
    put_scattered(session, file, step);
    session.end_step();
  }
}

PackedFile contents_of_run(const PackedRun& how) {
  const Directory directory;
  LocalRun run(how.ranks, how.servers, packed_settings(how.more));
  const auto errors = run.run([&](Session& session, int rank) {
    const auto ranks = static_cast<std::uint64_t>(how.ranks), r = static_cast<std::uint64_t>(rank);
    const std::uint64_t low = packed_rows * r / ranks, high = packed_rows * (r + 1) / ranks;
    session.decomposition("grid",
                          Block{{packed_rows, packed_columns}, {low, 0}, {high - low, packed_columns}});
    Map map;
    map.global = {packed_rows, packed_columns};
    for (std::uint64_t i = r; i < packed_rows * packed_columns; i += ranks)
      map.indices.push_back(static_cast<std::int64_t>(i));
    session.decomposition("points", map);
    OutputFile file =
        session
            .collection("c", packed_schema(),
                        {.file = "c.nc", .directory = directory.path.string(), .store = how.store})
            .open();
    put_steps(session, file, low, high, how.by);
    session.wait(file.close());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << how.name << ": " << error->text();
  return contents_of(directory.path / "c.nc");
}

void expect_close_to_what_was_put(const PackedFile& found) {
  const std::map<std::string, double> bounds{
      {"tas", 180.0 / 65533 / 2}, {"pr", 1e-6}, {"small", 10.0 / 253 / 2}, {"scattered", 0.05}};
  const std::map<std::string, double> fills{
      {"tas", -32768}, {"pr", -2147483648.0}, {"small", -128}, {"scattered", -128}};
  for (const char* const name : packed_names) {
    std::vector<double> put;
    for (std::uint64_t step = 0; step < packed_steps; ++step)
      for (const double value : packed_record(name, step)) put.push_back(value);
    const std::vector<double>& integers = found.integers.at(name);
    ASSERT_EQ(integers.size(), put.size()) << name;
    double largest = 0;
    for (std::size_t i = 0; i < put.size(); ++i) {
      const bool missing = put[i] == packed_hole || std::isnan(put[i]);
      ASSERT_EQ(integers[i] == fills.at(name), missing) << name << " " << i;
      if (missing) continue;
      const double wanted = std::string_view(name) == "tas" ? put[i] - 273.15 : put[i];
      const double unpacked = integers[i] * found.scale.at(name) + found.offset.at(name);
      largest = std::max(largest, std::abs(unpacked - wanted));
      ASSERT_LE(std::abs(unpacked - wanted), bounds.at(name) * (1 + 1e-9)) << name << " " << i;
      if (wanted == 0) {
        ASSERT_EQ(unpacked, 0);
      }
    }
    EXPECT_NEAR(found.largest_error.at(name), largest, 1e-12) << name;
  }
}

TEST(ThreadSessionPacking, gives_the_same_integers_for_every_layout_and_way) {
  const PackedFile expected = contents_of_run({"one rank"});
  expect_close_to_what_was_put(expected);
  using By = PackedRun::By;
  for (const PackedRun& how :
       {PackedRun{"slab", "netcdf4", 3, 2, By::put, {{"placement", "slab"}, {"chunk", "4KiB"}}},
        PackedRun{"zstd",
                  "netcdf4",
                  2,
                  1,
                  By::put,
                  {{"collections.c.deflate", "1"}, {"collections.c.shuffle", "on"}}},
        PackedRun{"cdf5", "cdf5", 2, 2, By::put, {{"placement", "slab"}}},
        PackedRun{"cdf2", "cdf2", 1, 3, By::put, {{"placement", "variable"}}},
        PackedRun{"slots", "cdf5", 2, 1, By::slot}, PackedRun{"slots in netcdf4", "netcdf4", 1, 1, By::slot},
        PackedRun{"endpoints", "netcdf4", 1, 1, By::endpoints},
        PackedRun{"endpoints in cdf5", "cdf5", 1, 2, By::endpoints, {{"placement", "slab"}}}}) {
    const PackedFile found = contents_of_run(how);
    EXPECT_EQ(found.integers, expected.integers) << how.name;
    EXPECT_EQ(found.scale, expected.scale) << how.name;
    EXPECT_EQ(found.offset, expected.offset) << how.name;
    EXPECT_EQ(found.largest_error, expected.largest_error) << how.name;
  }
}

TEST(ThreadSessionPacking, threads_whose_parts_travel_through_the_sessions_thread_pack_once) {
  const PackedFile expected = contents_of_run({"one rank"});
  const Directory directory;
  LocalRun run(1, 1, packed_settings({}));
  run.servers_of_one_thread = 1;
  const auto errors = run.run([&](Session& session, int) {
    session.decomposition("grid",
                          Block{{packed_rows, packed_columns}, {0, 0}, {packed_rows, packed_columns}});
    Map map;
    map.global = {packed_rows, packed_columns};
    for (std::uint64_t i = 0; i < packed_rows * packed_columns; ++i)
      map.indices.push_back(static_cast<std::int64_t>(i));
    session.decomposition("points", map);
    OutputFile file =
        session.collection("c", packed_schema(), {.file = "c.nc", .directory = directory.path.string()})
            .open();
    put_steps(session, file, 0, packed_rows, PackedRun::By::endpoints);
    session.wait(file.close());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(contents_of(directory.path / "c.nc").integers, expected.integers);
  EXPECT_EQ(contents_of(directory.path / "c.nc").largest_error, expected.largest_error);
}

// ---- One variable on one rank

/// The error of defining, or of `model`; puts 4 numbers.
std::string one_variable(const LocalRun::Settings& settings, const std::function<void(Variable&)>& change,
                         const std::function<void(Session&, Collection&)>& model = {},
                         const char* store = "netcdf4") {
  const Directory directory;
  std::string said = "accepted";
  LocalRun run(1, 1, packed_settings(settings));
  const auto errors = run.run([&](Session& session, int) {
    try {
      Schema schema;
      schema.dimension("time", unlimited).dimension("x", 4);
      change(schema.variable("v", Type::float64, {"time", "x"}));
      Collection made = session.collection(
          "d", schema, {.file = "d.nc", .directory = directory.path.string(), .store = store});
      if (model) model(session, made);
    } catch (const Failure& failure) {
      said = failure.error().text();
    }
    session.finalize();
  });
  return said;
}

LocalRun::Settings of_v(LocalRun::Settings settings) {
  for (auto& [name, value] : settings) name = "collections.d.variables.v." + name;
  return settings;
}

const auto unchanged = [](Variable&) {};

TEST(ThreadSessionPacking, refuses_what_cannot_be_packed) {
  const auto said =
      [](const LocalRun::Settings& settings, const std::function<void(Variable&)>& change = unchanged,
         const char* store = "netcdf4") { return one_variable(of_v(settings), change, {}, store); };
  EXPECT_THAT(said({{"pack_range", "0,1"}}), HasSubstr("set pack as well"));
  EXPECT_THAT(said({{"pack", "int16"}}), HasSubstr("the range of its values is not given: set pack_range"));
  EXPECT_THAT(said({{"pack", "auto"}, {"pack_range", "0,1"}}), HasSubstr("give both"));
  EXPECT_THAT(said({{"pack", "int8"}, {"pack_range", "0,1"}, {"absolute_error", "0.001"}}),
              HasSubstr("pack it as int16, or allow an absolute_error of"));
  EXPECT_THAT(said({{"pack", "int16"}, {"pack_range", "0,1"}, {"bitround", "3"}}),
              HasSubstr("bitround is set for variable 'v', which is packed"));
  const LocalRun::Settings good{{"pack", "int16"}, {"pack_range", "0,1"}};
  EXPECT_EQ(said(good), "accepted");
  EXPECT_THAT(said(good, [](Variable& v) { v.type = Type::int32; }),
              HasSubstr("of type int32 cannot be packed: only float32 and float64 can"));
  EXPECT_THAT(said(good, [](Variable& v) { v.attribute("scale_factor", Values(2.0)); }),
              HasSubstr("has the attribute scale_factor, but is packed"));
  EXPECT_THAT(said(good, [](Variable& v) { v.attribute("valid_min", std::nan("")); }),
              HasSubstr("its attribute valid_min is NaN"));
  EXPECT_THAT(said(good, [](Variable& v) { v.attribute("valid_max", "high"); }),
              HasSubstr("its attribute valid_max is not a number"));
  EXPECT_EQ(said({{"pack", "int16"}, {"pack_range", "[0, 1]"}}), "accepted");
  EXPECT_THAT(said({}, [](Variable& v) { v.with_packing("int64", 0, 1); }),
              HasSubstr("packed as 'int64': expected int8, int16, int32 or auto"));
  EXPECT_EQ(said({{"pack", "off"}}, [](Variable& v) { v.with_packing("int64", 0, 1); }), "accepted");
}

/// Fill values are converted to the type of the variable before values are compared with them.
template <class T>
void expect_fill(const std::function<void(Variable&)>& give, Type type, T fill) {
  const Directory directory;
  LocalRun run(1, 1, packed_settings(of_v({{"pack", "int16"}, {"pack_range", "-1000,1000"}})));
  const auto errors = run.run([&](Session& session, int) {
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 4);
    Variable& v = schema.variable("v", type, {"time", "x"});
    give(v);
    OutputFile file =
        session.collection("d", schema, {.file = "d.nc", .directory = directory.path.string()}).open();
    const std::vector<T> values{0, fill, 10, fill};
    file.put("v", 0, values.data());
    session.wait(file.close());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  const auto found = read<double>(directory.path / "d.nc", "v");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_NE(found[0], -32768) << name_of(type);
  EXPECT_EQ(found[1], -32768) << name_of(type);
  EXPECT_NE(found[2], -32768) << name_of(type);
  EXPECT_EQ(found[3], -32768) << name_of(type);
}

TEST(ThreadSessionPacking, a_fill_value_of_any_type_is_that_of_the_variable) {
  for (const Values& fill : {Values(-999.0), Values(-999.0F), Values(std::int16_t{-999}), Values(-999)}) {
    for (const auto& give :
         std::vector<std::function<void(Variable&)>>{[&](Variable& v) { v.with_fill(fill); },
                                                     [&](Variable& v) { v.attribute("_FillValue", fill); }}) {
      expect_fill<float>(give, Type::float32, -999);
      expect_fill<double>(give, Type::float64, -999);
    }
  }
}

TEST(ThreadSessionPacking, refuses_fill_values_that_the_type_cannot_hold) {
  const auto said = [](const std::function<void(Variable&)>& change) {
    return one_variable(of_v({{"pack", "int16"}, {"pack_range", "0,1"}}), [&](Variable& v) {
      v.type = Type::float32;
      change(v);
    });
  };
  EXPECT_THAT(said([](Variable& v) { v.with_fill(1e300); }),
              HasSubstr("variable 'v' is float32, but its fill value is float64 1e+300"));
  EXPECT_THAT(said([](Variable& v) { v.attribute("_FillValue", "none"); }),
              HasSubstr("its attribute '_FillValue' is text"));
  EXPECT_THAT(said([](Variable& v) { v.attribute("_FillValue", Values({1.0, 2.0})); }),
              HasSubstr("of 2 elements"));
  EXPECT_THAT(said([](Variable& v) { v.with_fill(1.0F).attribute("_FillValue", 2.0); }),
              HasSubstr("another one as attribute '_FillValue'"));
}

/// The API takes any float64, unlike settings.
TEST(ThreadSessionPacking, refuses_errors_that_are_no_bounds) {
  const auto said = [](double error) {
    return one_variable({}, [&](Variable& v) { v.with_packing("int16", 0, 1, error); });
  };
  EXPECT_THAT(said(-0.001),
              AllOf(HasSubstr("variable v"), HasSubstr("absolute_error of packed numbers is -0.001")));
  EXPECT_THAT(said(std::numeric_limits<double>::quiet_NaN()),
              HasSubstr("absolute_error of packed numbers is nan"));
  EXPECT_THAT(said(std::numeric_limits<double>::infinity()),
              HasSubstr("absolute_error of packed numbers is inf"));
  EXPECT_EQ(said(0), "accepted");
}

TEST(ThreadSessionPacking, refuses_values_that_do_not_fit_and_goes_on) {
  const LocalRun::Settings settings = of_v({{"pack", "int16"}, {"pack_range", "0,1"}});
  const std::string said = one_variable(settings, unchanged, [](Session& session, Collection& made) {
    OutputFile file = made.open();
    std::vector<double> values{0, 0.5, 1, 2};
    try {
      file.put("v", 0, values.data());
      FAIL() << "accepted a value that does not fit";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::wrong_type);
      EXPECT_THAT(failure.error().text(), HasSubstr("1 values"));
      EXPECT_THAT(failure.error().text(), HasSubstr("variable v"));
      EXPECT_THAT(failure.error().text(), HasSubstr("from 0 to 1"));
    }
    values[3] = 0.25;
    file.put("v", 0, values.data());
    session.wait(file.close());
  });
  EXPECT_EQ(said, "accepted");
}

TEST(ThreadSessionPacking, files_cannot_change_how_they_are_packed) {
  const std::string said = one_variable(
      of_v({{"pack", "int16"}, {"pack_range", "0,1"}}), unchanged, [](Session&, Collection& made) {
        made.open("other.nc", SchemaChanges().attribute("v", "scale_factor", Values(2.0)));
      });
  EXPECT_THAT(said, HasSubstr("a file cannot have its own scale_factor"));
}

}  // namespace
}  // namespace afterbay::test
