// SPDX-License-Identifier: Apache-2.0
// Models that flush denormal numbers, round upwards or trap: what is packed, rounded, converted and
// encoded does not depend on it, and accuracies are kept.
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "scratch_directory.hpp"
#include "unit/local_run.hpp"
#include "unit/model_environment.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t arithmetic_points = 4096;

/// Magnitudes near the least normal number, which rounding makes denormal; ordinary ones; and NaN.
std::vector<double> arithmetic_values(bool with_nan) {
  std::vector<double> values(arithmetic_points);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double within = 1 + static_cast<double>(i) / static_cast<double>(arithmetic_points);
    values[i] = i % 3 == 0 ? within * 1.5e-38 : i % 3 == 1 ? -within * 1e-40 : 200 + within * 100;
  }
  if (with_nan) values[7] = std::numeric_limits<double>::quiet_NaN();
  return values;
}

struct ArithmeticCase {
  std::string name;
  LocalRun::Settings variable = {};  ///< settings of the variable
  std::string store = "netcdf4";
  Type type = Type::float32;  ///< type in the file
  Type put = Type::float32;   ///< type that the model hands over
};

std::vector<ArithmeticCase> arithmetic_cases() {
  return {{.name = "rounded", .variable = {{"bitround", "1"}, {"relative_error", "0.001"}}},
          {.name = "packed", .variable = {{"pack", "int16"}, {"pack_range", "-1,400"}}, .put = Type::float64},
          {.name = "multiplied", .variable = {{"multiply", "0.1"}, {"add", "1e-39"}}},
          {.name = "converted", .put = Type::float64}};
}

/// What the model hands over; made before its environment changes.
struct ArithmeticData {
  explicit ArithmeticData(bool with_nan)
      : doubles(arithmetic_values(with_nan)), floats(doubles.begin(), doubles.end()) {}
  std::vector<double> doubles;
  std::vector<float> floats;
};

/// The values of the file, as bytes.
std::string stored(const ArithmeticCase& it, const ArithmeticData& data) {
  const Directory directory;
  LocalRun::Settings settings{{"memory.server", "8MiB"}, {"memory.block", "256KiB"}, {"deadline", "30s"}};
  for (const auto& [name, value] : it.variable)
    settings.emplace_back("collections.c.variables.v." + name, value);
  LocalRun run(1, 1, settings);
  const auto errors = run.run([&](Session& session, int) {
    session.decomposition("grid", Block{{arithmetic_points}, {0}, {arithmetic_points}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", arithmetic_points);
    schema.variable("v", it.type, {"time", "x"}).on("grid");
    OutputFile file =
        session
            .collection("c", schema,
                        {.file = "c.nc", .directory = directory.path.string(), .store = it.store})
            .open();
    if (it.put == Type::float64)
      file.put("v", 0, data.doubles.data());
    else
      file.put("v", 0, data.floats.data());
    session.end_step();
    session.wait(file.close());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << it.name << ": " << error->text();
  int id = 0, variable = 0;
  const std::string path = (directory.path / "c.nc").string();
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &id), NC_NOERR);
  EXPECT_EQ(nc_inq_varid(id, "v", &variable), NC_NOERR);
  nc_type type = 0;
  nc_inq_vartype(id, variable, &type);
  std::size_t bytes = 0;
  nc_inq_type(id, type, nullptr, &bytes);
  std::string values(arithmetic_points * bytes, '?');
  EXPECT_EQ(nc_get_var(id, variable, values.data()), NC_NOERR);
  nc_close(id);
  return values;
}

TEST(ThreadSessionModelArithmetic, values_do_not_depend_on_rounding_and_denormal_numbers_of_the_model) {
  const ArithmeticData data(false);
  for (const ArithmeticCase& it : arithmetic_cases()) {
    const std::string expected = stored(it, data);
    const ModelEnvironment environment;
    const std::string found = stored(it, data);
    EXPECT_TRUE(found == expected) << it.name;
  }
}

TEST(ThreadSessionModelArithmetic, a_stated_accuracy_holds_for_values_that_rounding_makes_denormal) {
  const ArithmeticData data(false);
  std::string found;
  {
    const ModelEnvironment environment;
    found = stored(arithmetic_cases().front(), data);
  }
  const std::vector<float>& put = data.floats;
  for (std::size_t i = 0; i < put.size(); ++i) {
    float value = 0;
    std::memcpy(&value, found.data() + i * sizeof value, sizeof value);
    ASSERT_LE(std::abs(static_cast<double>(value) - static_cast<double>(put[i])),
              0.001 * std::abs(static_cast<double>(put[i])))
        << "value " << i << ": " << put[i] << " became " << value;
  }
}

TEST(ThreadSessionModelArithmetic, values_that_are_not_numbers_do_not_trap) {
  const ArithmeticData data(true);
  for (const ArithmeticCase& it : arithmetic_cases()) {
    if (it.name == "packed") continue;  // it has no integer for NaN here
    SCOPED_TRACE(it.name);
    const std::string expected = stored(it, data);
    const TrappingEnvironment environment;
    EXPECT_TRUE(stored(it, data) == expected);
  }
}

}  // namespace
}  // namespace afterbay::test
