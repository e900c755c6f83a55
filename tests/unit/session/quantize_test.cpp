// SPDX-License-Identifier: Apache-2.0
// Rounding and codecs in a whole session: random values, shapes, gaps and missing data; the same
// values for every layout, and those that netCDF-C writes for the same settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <random>

#include "codec/codec.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t quantized_records = 2;
constexpr float quantized_missing = -999.0F;

struct Shape {
  std::uint64_t z, y, x;
  [[nodiscard]] std::uint64_t points() const { return z * y * x; }
};

/// Values of several magnitudes with zeros and missing values, the same for every layout.
std::vector<float> random_record(const Shape& shape, std::uint64_t record) {
  std::mt19937 generator(static_cast<unsigned>(shape.points() + record));
  std::normal_distribution<float> normal;
  std::vector<float> values(shape.points());
  for (float& value : values) {
    const unsigned kind = generator() % 20;
    value = normal(generator) * std::exp2(static_cast<float>(generator() % 30) - 15);
    if (kind == 0) value = 0;
    if (kind == 1) value = quantized_missing;
  }
  return values;
}

Schema quantized_schema(const Shape& shape, const std::vector<std::uint64_t>& chunk) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("z", shape.z).dimension("y", shape.y).dimension("x", shape.x);
  for (const char* const name : {"rounded", "digits", "groomed", "bounded"}) {
    Variable& variable = schema.variable(name, Type::float32, {"time", "z", "y", "x"});
    variable.on("grid").with_fill(Values(quantized_missing));
    if (!chunk.empty())
      variable.with_chunk(
          {chunk[0], std::min(chunk[1], shape.z), std::min(chunk[2], shape.y), std::min(chunk[3], shape.x)});
  }
  return schema;
}

struct QuantizedRun {
  const char* store = "netcdf4";
  int ranks = 1;
  int servers = 1;
  LocalRun::Settings more;
  std::vector<std::uint64_t> chunk;
};

/// The largest error, computed as differences between float32 numbers.
float largest_error_of(const std::filesystem::path& path, const char* variable) {
  int file = 0, id = 0;
  double value = -1;
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &file), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(file, variable, &id), NC_NOERR);
  EXPECT_EQ(nc_get_att_double(file, id, "largest_error", &value), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(file, "rounded", &id), NC_NOERR);
  EXPECT_EQ(nc_inq_att(file, id, "largest_error", nullptr, nullptr), NC_ENOTATT);  // states no accuracy
  EXPECT_EQ(nc_close(file), NC_NOERR);
  return static_cast<float>(value);
}

using FileValues = std::map<std::string, std::vector<float>>;

/// Ranks hold bands of y.
FileValues values_of_run(const Shape& shape, const QuantizedRun& how) {
  const Directory directory;
  LocalRun::Settings settings{{"memory.server", "16MiB"},
                              {"memory.block", "1MiB"},
                              {"deadline", "30s"},
                              {"collections.c.variables.rounded.bitround", "7"},
                              {"collections.c.variables.digits.granular_bitround", "3"},
                              {"collections.c.variables.groomed.bitgroom", "2"},
                              {"collections.c.variables.bounded.bitround", "3"},
                              {"collections.c.variables.bounded.absolute_error", "0.1"}};
  settings.insert(settings.end(), how.more.begin(), how.more.end());
  LocalRun run(how.ranks, how.servers, settings);
  const auto errors = run.run([&](Session& session, int rank) {
    const std::uint64_t ranks = static_cast<std::uint64_t>(how.ranks), r = static_cast<std::uint64_t>(rank);
    const std::uint64_t low = shape.y * r / ranks, high = shape.y * (r + 1) / ranks;
    session.decomposition("grid", Block{{shape.y, shape.x}, {low, 0}, {high - low, shape.x}});
    OutputFile file =
        session
            .collection("c", quantized_schema(shape, how.chunk),
                        {.file = "c.nc", .directory = directory.path.string(), .store = how.store})
            .open();
    for (std::uint64_t record = 0; record < quantized_records; ++record) {
      const std::vector<float> all = random_record(shape, record);
      std::vector<float> mine;
      for (std::uint64_t z = 0; z < shape.z; ++z)
        for (std::uint64_t y = low; y < high; ++y)
          for (std::uint64_t x = 0; x < shape.x; ++x) mine.push_back(all[(z * shape.y + y) * shape.x + x]);
      for (const char* const name : {"rounded", "digits", "groomed", "bounded"})
        file.put(name, record, mine.data());
      session.end_step();
    }
    session.wait(file.close());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  FileValues values;
  for (const char* const name : {"rounded", "digits", "groomed", "bounded"})
    values[name] = read<float>(directory.path / "c.nc", name);
  values["largest error"] = {largest_error_of(directory.path / "c.nc", "bounded")};
  return values;
}

/// As netCDF-C writes it, record by record.
FileValues values_of_netcdf(const Shape& shape) {
  const Directory directory;
  const std::string path = (directory.path / "n.nc").string();
  int file = 0, dimensions[4], variables[3];
  EXPECT_EQ(nc_create(path.c_str(), NC_NETCDF4, &file), NC_NOERR);
  const std::uint64_t lengths[] = {NC_UNLIMITED, shape.z, shape.y, shape.x};
  const char* const names[] = {"t", "z", "y", "x"};
  for (int d = 0; d < 4; ++d) EXPECT_EQ(nc_def_dim(file, names[d], lengths[d], &dimensions[d]), NC_NOERR);
  const struct {
    const char* name;
    int mode, number;
  } all[] = {{"rounded", NC_QUANTIZE_BITROUND, 7},
             {"digits", NC_QUANTIZE_GRANULARBR, 3},
             {"groomed", NC_QUANTIZE_BITGROOM, 2}};
  for (int v = 0; v < 3; ++v) {
    EXPECT_EQ(nc_def_var(file, all[v].name, NC_FLOAT, 4, dimensions, &variables[v]), NC_NOERR);
    EXPECT_EQ(nc_def_var_fill(file, variables[v], NC_FILL, &quantized_missing), NC_NOERR);
    EXPECT_EQ(nc_def_var_quantize(file, variables[v], all[v].mode, all[v].number), NC_NOERR);
  }
  for (std::uint64_t record = 0; record < quantized_records; ++record) {
    const std::vector<float> values = random_record(shape, record);
    const std::size_t start[] = {record, 0, 0, 0}, count[] = {1, shape.z, shape.y, shape.x};
    for (const int variable : variables)
      EXPECT_EQ(nc_put_vara_float(file, variable, start, count, values.data()), NC_NOERR);
  }
  EXPECT_EQ(nc_close(file), NC_NOERR);
  FileValues values;
  for (const auto& it : all) values[it.name] = read<float>(path, it.name);
  return values;
}

void expect_equal_bits(const std::vector<float>& one, const std::vector<float>& other,
                       const std::string& what) {
  ASSERT_EQ(one.size(), other.size()) << what;
  EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(float)), 0) << what;
}

TEST(ThreadSessionQuantize, gives_the_values_of_netcdf_for_every_layout) {
  for (const Shape& shape : {Shape{3, 7, 5}, Shape{1, 40, 31}, Shape{2, 9, 16}}) {
    const FileValues expected = values_of_netcdf(shape);
    const FileValues alone = values_of_run(shape, {});
    const std::vector<float>& first = alone.at("bounded");
    float largest = 0;
    for (const QuantizedRun& how :
         {QuantizedRun{}, QuantizedRun{"netcdf4", 3, 2, {{"placement", "slab"}}, {1, 1, 3, 3}},
          QuantizedRun{"netcdf4",
                       2,
                       1,
                       {{"collections.c.deflate", "1"}, {"collections.c.shuffle", "on"}},
                       {1, 2, 4, 5}},
          QuantizedRun{"cdf5", 2, 2, {{"placement", "slab"}}, {}},
          QuantizedRun{"cdf2", 1, 3, {{"placement", "variable"}}, {}}}) {
      const FileValues values = values_of_run(shape, how);
      const std::string what = fmt::format("{} with {} ranks, {} servers", how.store, how.ranks, how.servers);
      for (const auto& [name, wanted] : expected)
        expect_equal_bits(values.at(name), wanted, what + ": " + name);
      expect_equal_bits(values.at("bounded"), first, what);
      EXPECT_EQ(values.at("largest error"), alone.at("largest error")) << what;
    }
    for (std::uint64_t record = 0; record < quantized_records; ++record) {
      const std::vector<float> values = random_record(shape, record);
      for (std::uint64_t i = 0; i < values.size(); ++i) {
        const float error = std::abs(first[record * values.size() + i] - values[i]);
        EXPECT_LE(error, 0.1F);
        largest = std::max(largest, error);
      }
    }
    EXPECT_EQ(alone.at("largest error"), std::vector<float>{largest});
  }
}

TEST(ThreadSessionQuantize, files_say_how_values_were_rounded) {
  const Directory directory;
  LocalRun run(1, 1,
               {{"memory.server", "16MiB"},
                {"memory.block", "1MiB"},
                {"deadline", "20s"},
                {"collections.c.variables.rounded.bitround", "7"}});
  const auto errors = run.run([&](Session& session, int) {
    Schema schema;
    schema.dimension("x", 2).variable("rounded", Type::float64, {"x"});
    OutputFile file =
        session.collection("c", schema, {.file = "c.nc", .directory = directory.path.string()}).open();
    file.put("rounded", std::vector<double>{1.23456, 7}.data());
    session.wait(file.close());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  int file = 0, variable = 0, info = 0, mode = 0, number = 0;
  ASSERT_EQ(nc_open((directory.path / "c.nc").c_str(), NC_NOWRITE, &file), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(file, "rounded", &variable), NC_NOERR);
  EXPECT_EQ(nc_inq_var_quantize(file, variable, &mode, &number), NC_NOERR);
  EXPECT_EQ(mode, NC_QUANTIZE_BITROUND);
  EXPECT_EQ(number, 7);
  std::string name(26, ' '), algorithm(8, ' ');
  EXPECT_EQ(nc_get_att_text(file, variable, "quantization", name.data()), NC_NOERR);
  EXPECT_EQ(name, "quantization_info_bitround");
  EXPECT_EQ(nc_inq_varid(file, name.c_str(), &info), NC_NOERR);
  EXPECT_EQ(nc_get_att_text(file, info, "algorithm", algorithm.data()), NC_NOERR);
  EXPECT_EQ(algorithm, "bitround");
  EXPECT_EQ(nc_close(file), NC_NOERR);
}

/// A file with values of another rounding is played again with other settings.
TEST(ThreadSessionQuantize, files_do_not_claim_an_earlier_rounding) {
  const Directory directory;
  const std::vector<std::string> names{"again", "bounded", "scaled", "packed", "kept"};
  LocalRun run(1, 1,
               {{"memory.server", "16MiB"},
                {"memory.block", "1MiB"},
                {"deadline", "20s"},
                {"collections.c.variables.again.granular_bitround", "3"},
                {"collections.c.variables.bounded.absolute_error", "1"},
                {"collections.c.variables.scaled.multiply", "2"},
                {"collections.c.variables.packed.pack", "int16"},
                {"collections.c.variables.packed.pack_range", "0,100"}});
  const auto errors = run.run([&](Session& session, int) {
    Schema schema;
    schema.dimension("x", 2);
    for (const std::string& name : names)
      schema.variable(name, Type::float32, {"x"})
          .attribute("_QuantizeBitRoundNumberOfSignificantBits", 15)
          .attribute("quantization", "quantization_info_bitround")
          .attribute("quantization_nsb", 15)
          .attribute("largest_error", 0.25);
    OutputFile file =
        session.collection("c", schema, {.file = "c.nc", .directory = directory.path.string()}).open();
    for (const std::string& name : names) file.put(name, std::vector<float>{1.23456F, 7}.data());
    session.wait(file.close());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  int file = 0;
  ASSERT_EQ(nc_open((directory.path / "c.nc").c_str(), NC_NOWRITE, &file), NC_NOERR);
  const auto has = [&](const std::string& variable, const char* attribute) {
    int id = 0;
    EXPECT_EQ(nc_inq_varid(file, variable.c_str(), &id), NC_NOERR) << variable;
    return nc_inq_att(file, id, attribute, nullptr, nullptr) == NC_NOERR;
  };
  for (const std::string& name : names) {
    const bool kept = name == "kept";
    EXPECT_EQ(has(name, "_QuantizeBitRoundNumberOfSignificantBits"), kept) << name;
    EXPECT_EQ(has(name, "quantization_nsb"), kept) << name;
    EXPECT_EQ(has(name, "quantization"), kept || name == "again") << name;
    EXPECT_EQ(has(name, "quantization_nsd"), name == "again") << name;
    EXPECT_EQ(has(name, "largest_error"), kept || name == "bounded" || name == "packed") << name;
  }
  EXPECT_TRUE(has("again", "_QuantizeGranularBitRoundNumberOfSignificantDigits"));
  EXPECT_EQ(nc_close(file), NC_NOERR);
}

}  // namespace
}  // namespace afterbay::test
