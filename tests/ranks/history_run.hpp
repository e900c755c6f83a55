// SPDX-License-Identifier: Apache-2.0
// A session of real ranks that uses almost all features: several collections, types, strings,
// halos, ranks that hold nothing, files that are appended to; read back with netCDF-C and compared
// value by value.
#pragma once

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "ranks/session_run.hpp"
#include "read_back.hpp"

namespace afterbay::testing::history {

constexpr std::uint64_t levels = 3, rows = 14, columns = 22, points = rows * columns;
constexpr std::uint64_t halo = 2;
constexpr std::uint64_t records = 3;  ///< records of a file before more are appended

/// Files that are made anew have stages in some variables, files that are appended to have none
/// (and the other way round for fluxes): every layout of a session writes the same values both
/// ways.
inline SessionOptions with_stages(SessionOptions options) {
  options.set("collections.history.variables.T.multiply", "0.5");
  options.set("collections.history.variables.T.add", "-8");
  options.set("collections.history.variables.Q.multiply", "-2");
  options.set("collections.history.variables.mask.add", "7");
  options.set("collections.history.variables.time.multiply", "6");
  return options.set("collections.longer_flux.variables.F.add", "0.5");
}

/// The value of a point, so that every number of every file is known in advance.
inline float value(std::uint64_t record, std::uint64_t level, std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(((record * levels + level) * rows + row) * columns + column);
}

inline Schema history_schema() {
  Schema schema;
  schema.dimension("time", unlimited)
      .dimension("lev", levels)
      .dimension("lat", rows)
      .dimension("lon", columns);
  schema.variable("lev", Type::float64, {"lev"}).with_constant(Values{850.0, 500.0, 250.0});
  schema.variable("time", Type::float64, {"time"});
  schema.variable("label", Type::string, {"time"});
  schema.variable("mask", Type::int32, {"lat", "lon"}).on("bands");
  schema.variable("T", Type::float32, {"time", "lev", "lat", "lon"}).on("bands");
  schema.variable("Q", Type::float32, {"time", "lev", "lat", "lon"}).on("bands").with_deflate(1);
  return schema;
}

inline Schema flux_schema() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("lat", rows).dimension("lon", columns);
  schema.variable("F", Type::float64, {"time", "lat", "lon"}).on("stripes");
  return schema;
}

/// One model rank's side of the run.
class Model {
 public:
  explicit Model(Session& session) : session_(session) {
    // Bands of rows; the last of several ranks holds none. Stripes of columns over all ranks.
    const int rank = session.model_rank(), ranks = session.model_size(), holders = ranks > 1 ? ranks - 1 : 1;
    if (rank < holders) std::tie(row_, rows_) = share(rows, holders, rank);
    std::tie(column_, columns_) = share(columns, ranks, rank);
    session.decomposition("bands", Block{{rows, columns}, {row_, 0}, {rows_, rows_ > 0 ? columns : 0}});
    session.decomposition("stripes", Block{{rows, columns}, {0, column_}, {rows, columns_}});
    history_ = session.collection("history", history_schema(), {.file = "h{step:02}.nc", .directory = {}});
    flux_ = session.collection("flux", flux_schema(),
                               {.file = "f{step:02}.nc", .directory = {}, .store = "cdf5"});
    longer_history_ = session.collection("longer_history", history_schema(),
                                         {.file = "h{step:02}.nc", .directory = {}, .existing = "append"});
    longer_flux_ =
        session.collection("longer_flux", flux_schema(),
                           {.file = "f{step:02}.nc", .directory = {}, .store = "cdf5", .existing = "append"});
  }

  /// A file of either collection, published when it returns.
  void write_files(int step) { write(history_, flux_, step, 0, records); }
  void append_to_files(int step) { write(longer_history_, longer_flux_, step, records, records + 2); }

 private:
  void write(Collection& history, Collection& flux, int step, std::uint64_t from, std::uint64_t to) {
    OutputFile h = history.open(FileName{{}, step, {}, {}});
    OutputFile f = flux.open(FileName{{}, step, {}, {}});
    EXPECT_EQ(h.records(), from);
    const bool is_new = from == 0;
    if (is_new) h.put("mask", std::vector<int>(rows_ * columns, step).data());
    for (std::uint64_t record = from; record < to; ++record) {
      put_history(h, record, is_new);
      f.put("F", record, stripes(record, is_new ? 0.5 : 0).data());
      session_.end_step();
    }
    const Ticket of_history = h.close(), of_flux = f.close();
    session_.wait(of_history);
    session_.wait(of_flux);
    EXPECT_TRUE(session_.is_complete(of_history));
    EXPECT_TRUE(std::filesystem::exists(h.path()));
    EXPECT_TRUE(std::filesystem::exists(f.path()));
  }

  /// `staged`: the servers compute the values from what is put here, see with_stages.
  void put_history(OutputFile& file, std::uint64_t record, bool staged) {
    const double time = (staged ? 1.0 : 6.0) * static_cast<double>(record);
    const std::vector<std::string> label{"step " + std::to_string(record) + std::string(record * 100, '.')};
    file.put("time", record, &time);
    file.put_strings("label", record, label);
    if (rows_ == 0) {  // holds nothing, but takes part
      file.put<double>("T", record, nullptr);
      file.put<float>("Q", record, nullptr);
      return;
    }
    const std::vector<std::uint64_t> shape{levels, rows_ + 2 * halo, columns + 2 * halo};
    std::vector<double> with_halo(shape[0] * shape[1] * shape[2], -1.0);
    std::vector<float> dense;
    for (std::uint64_t k = 0; k < levels; ++k)
      for (std::uint64_t j = 0; j < rows_; ++j)
        for (std::uint64_t i = 0; i < columns; ++i) {
          const float here = value(record, k, row_ + j, i);
          with_halo[(k * shape[1] + j + halo) * shape[2] + i + halo] = staged ? 2 * (here + 8) : here;
          dense.push_back(staged ? here / 2 : -here);
        }
    file.put("T", record, with_halo.data(), MemoryLayout{shape, {0, halo, halo}, {}});
    file.put("Q", record, dense.data());
  }

  [[nodiscard]] std::vector<double> stripes(std::uint64_t record, double more) const {
    std::vector<double> values;
    for (std::uint64_t j = 0; j < rows; ++j)
      for (std::uint64_t i = 0; i < columns_; ++i) values.push_back(value(record, 0, j, column_ + i) + more);
    return values;
  }

  Session& session_;
  std::uint64_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0;
  Collection history_, flux_, longer_history_, longer_flux_;
};

inline void expect_files(int step, std::uint64_t length) {
  const auto name = [&](const char* kind) { return std::string(kind) + "0" + std::to_string(step) + ".nc"; };
  const auto temperature = test::read<float>(name("h"), "T"), humidity = test::read<float>(name("h"), "Q");
  ASSERT_EQ(temperature.size(), length * levels * points);
  ASSERT_EQ(humidity.size(), length * levels * points);
  for (std::size_t i = 0; i < temperature.size(); ++i) {
    ASSERT_EQ(temperature[i], static_cast<float>(i)) << i;
    ASSERT_EQ(humidity[i], -static_cast<float>(i)) << i;
  }
  const auto flux = test::read<double>(name("f"), "F");
  ASSERT_EQ(flux.size(), length * points);
  for (std::size_t i = 0; i < flux.size(); ++i)
    ASSERT_EQ(flux[i], value(i / points, 0, 0, 0) + static_cast<double>(i % points) + 0.5) << i;
  for (const int mask : test::read<int>(name("h"), "mask")) ASSERT_EQ(mask, step + 7);
  EXPECT_EQ(test::read<double>(name("h"), "lev"), (std::vector<double>{850, 500, 250}));
  const auto times = test::read<double>(name("h"), "time");
  const auto labels = test::read<std::string>(name("h"), "label");
  for (std::size_t r = 0; r < length; ++r) {
    EXPECT_EQ(times[r], 6.0 * static_cast<double>(r));
    EXPECT_EQ(labels[r], "step " + std::to_string(r) + std::string(r * 100, '.'));
  }
}

/// Files of two collections, written by several ranks, appended to, read back and compared value by
/// value.
inline void run_everything(const SessionOptions& options) {
  run_session(with_stages(options), [](Session& session) {
    Model model(session);
    model.write_files(0);
    model.write_files(1);
    model.append_to_files(0);
  });
  if (rank() != 0) return;
  expect_files(0, records + 2);
  expect_files(1, records);
}

}  // namespace afterbay::testing::history
