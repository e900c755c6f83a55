// SPDX-License-Identifier: Apache-2.0
// Whole sessions of real ranks: files of several collections, read back by netCDF-C and compared value by
// value.
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "ranks/session_run.hpp"
#include "read_back.hpp"

namespace afterbay::testing {
namespace {

using test::read;

constexpr std::uint64_t levels = 3, rows = 14, columns = 22, points = rows * columns;
constexpr std::uint64_t halo = 2;
constexpr std::uint64_t records = 3;  ///< of a file, before more are appended

/// The value of a point, so that every number of every file is known beforehand.
float value(std::uint64_t record, std::uint64_t level, std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(((record * levels + level) * rows + row) * columns + column);
}

Schema history_schema() {
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

Schema flux_schema() {
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
    if (from == 0) h.put("mask", std::vector<int>(rows_ * columns, step + 7).data());
    for (std::uint64_t record = from; record < to; ++record) {
      put_history(h, record);
      f.put("F", record, stripes(record).data());
      session_.end_step();
    }
    const Ticket of_history = h.close(), of_flux = f.close();
    session_.wait(of_history);
    session_.wait(of_flux);
    EXPECT_TRUE(session_.is_complete(of_history));
    EXPECT_TRUE(std::filesystem::exists(h.path()));
    EXPECT_TRUE(std::filesystem::exists(f.path()));
  }

  void put_history(OutputFile& file, std::uint64_t record) {
    const double time = 6.0 * static_cast<double>(record);
    const std::vector<std::string> label{"step " + std::to_string(record) + std::string(record * 100, '.')};
    file.put("time", record, &time);
    file.put_strings("label", record, label);
    if (rows_ == 0) {  // holds nothing, and takes part
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
          with_halo[(k * shape[1] + j + halo) * shape[2] + i + halo] = here;
          dense.push_back(-here);
        }
    file.put("T", record, with_halo.data(), MemoryLayout{shape, {0, halo, halo}, {}});
    file.put("Q", record, dense.data());
  }

  [[nodiscard]] std::vector<double> stripes(std::uint64_t record) const {
    std::vector<double> values;
    for (std::uint64_t j = 0; j < rows; ++j)
      for (std::uint64_t i = 0; i < columns_; ++i) values.push_back(value(record, 0, j, column_ + i) + 0.5);
    return values;
  }

  Session& session_;
  std::uint64_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0;
  Collection history_, flux_, longer_history_, longer_flux_;
};

void expect_files(int step, std::uint64_t length) {
  const auto name = [&](const char* kind) { return std::string(kind) + "0" + std::to_string(step) + ".nc"; };
  const auto temperature = read<float>(name("h"), "T"), humidity = read<float>(name("h"), "Q");
  ASSERT_EQ(temperature.size(), length * levels * points);
  ASSERT_EQ(humidity.size(), length * levels * points);
  for (std::size_t i = 0; i < temperature.size(); ++i) {
    ASSERT_EQ(temperature[i], static_cast<float>(i)) << i;
    ASSERT_EQ(humidity[i], -static_cast<float>(i)) << i;
  }
  const auto flux = read<double>(name("f"), "F");
  ASSERT_EQ(flux.size(), length * points);
  for (std::size_t i = 0; i < flux.size(); ++i)
    ASSERT_EQ(flux[i], value(i / points, 0, 0, 0) + static_cast<double>(i % points) + 0.5) << i;
  for (const int mask : read<int>(name("h"), "mask")) ASSERT_EQ(mask, step + 7);
  EXPECT_EQ(read<double>(name("h"), "lev"), (std::vector<double>{850, 500, 250}));
  const auto times = read<double>(name("h"), "time");
  const auto labels = read<std::string>(name("h"), "label");
  for (std::size_t r = 0; r < length; ++r) {
    EXPECT_EQ(times[r], 6.0 * static_cast<double>(r));
    EXPECT_EQ(labels[r], "step " + std::to_string(r) + std::string(r * 100, '.'));
  }
}

void run_everything(const SessionOptions& options) {
  run_session(options, [](Session& session) {
    Model model(session);
    model.write_files(0);
    model.write_files(1);
    model.append_to_files(0);
  });
  if (rank() != 0) return;
  expect_files(0, records + 2);
  expect_files(1, records);
}

RANK_TEST(SessionRanks, four_and_one_over_shared_memory, 5) {
  run_everything(small_session(1).set("transport", "shm"));
}
RANK_TEST(SessionRanks, four_and_one_over_mpi, 5) {
  run_everything(small_session(1).set("transport", "mpi"));
}
RANK_TEST(SessionRanks, three_and_two_over_shared_memory, 5) {
  run_everything(small_session(2).set("transport", "shm"));
}
RANK_TEST(SessionRanks, three_and_two_over_mpi_with_files_in_turn, 5) {
  run_everything(small_session(2).set("transport", "mpi").set("placement", "file"));
}
RANK_TEST(SessionRanks, four_and_two_on_declared_nodes, 6) {
  run_everything(small_session(2).set("nodes", "0,1,0,1,0,1").set("placement", "file"));
}
RANK_TEST(SessionRanks, inline_synchronous, 3) { run_everything(small_session(0)); }
RANK_TEST(SessionRanks, inline_thread, 3) { run_everything(small_session(0).set("inline.mode", "thread")); }

// ---- one file, one variable

constexpr std::uint64_t wide = 8192;  ///< points of a rank; a record of two ranks fills a block of 64 KiB

/// A collection of the variable "x" {time, point}, `wide` points a rank.
Collection line(Session& session, const std::string& file) {
  const auto ranks = static_cast<std::uint64_t>(session.model_size()),
             rank = static_cast<std::uint64_t>(session.model_rank());
  session.decomposition("line", Block{{wide * ranks}, {wide * rank}, {wide}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("point", wide * ranks);
  schema.variable("x", Type::float32, {"time", "point"}).on("line");
  return session.collection("line", schema, {.file = file, .directory = {}});
}

float point_value(std::uint64_t record, std::uint64_t point) {
  return static_cast<float>(record * 100'000 + point);
}

std::vector<float> my_points(const Session& session, std::uint64_t record) {
  std::vector<float> values(wide);
  for (std::uint64_t i = 0; i < wide; ++i)
    values[i] = point_value(record, static_cast<std::uint64_t>(session.model_rank()) * wide + i);
  return values;
}

void expect_line(const std::string& file, std::uint64_t length, std::uint64_t ranks) {
  const auto values = read<float>(file, "x");
  ASSERT_EQ(values.size(), length * ranks * wide);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], point_value(i / (ranks * wide), i % (ranks * wide))) << file << " " << i;
}

// Rank 1 holds back its parts, so that no record is complete and no memory comes free.
RANK_TEST(SessionRanks, try_put_finds_the_memory_full_and_succeeds_later, 3) {
  constexpr std::uint64_t length = 40;
  std::uint64_t put_at_once = length;
  SessionOptions options = small_session(1);
  run_session(options.set("memory.server", "1MiB"), [&](Session& session) {
    OutputFile file = line(session, "full.nc").open();
    if (session.model_rank() == 0) {
      put_at_once = 0;
      while (put_at_once < length && file.try_put("x", put_at_once, my_points(session, put_at_once).data()))
        ++put_at_once;
      EXPECT_FALSE(put_at_once < length &&
                   file.try_put("x", put_at_once, my_points(session, put_at_once).data()));
      MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, model_comm(session));
      for (std::uint64_t record = put_at_once; record < length;)
        record += file.try_put("x", record, my_points(session, record).data()) ? 1 : 0;
    } else {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, model_comm(session), MPI_STATUS_IGNORE);
      for (std::uint64_t record = 0; record < length; ++record)
        file.put("x", record, my_points(session, record).data());
    }
    session.end_step();
  });
  if (rank() != 0) return;
  EXPECT_GT(put_at_once, 0u);
  EXPECT_LT(put_at_once, length);
  expect_line("full.nc", length, 2);
}

void run_acquired(const SessionOptions& options, bool direct) {
  run_session(options, [&](Session& session) {
    OutputFile file = line(session, "acquired.nc").open();
    for (std::uint64_t record = 0; record < 6; ++record) {
      Slot slot = file.acquire("x", record, Type::float32);
      EXPECT_EQ(slot.direct(), direct);
      for (const Slot::Part& part : slot.parts())
        for (std::uint64_t i = 0; i < part.count[0]; ++i)
          static_cast<float*>(part.data)[static_cast<std::int64_t>(i) * part.strides[0]] =
              point_value(record, part.start[0] + i);
      slot.commit();
      session.end_step();
    }
  });
  if (rank() == 0) expect_line("acquired.nc", 6, 4);
}

RANK_TEST(SessionRanks, slots_are_computed_in_place_over_shared_memory, 5) {
  run_acquired(small_session(1), true);
}
RANK_TEST(SessionRanks, slots_are_copied_over_mpi, 5) {
  run_acquired(small_session(1).set("transport", "mpi"), false);
}

RANK_TEST(SessionRanks, tickets_tell_when_steps_are_written_and_files_published, 5) {
  run_session(small_session(1), [](Session& session) {
    OutputFile file = line(session, "tickets.nc").open();
    std::vector<Ticket> flushed;
    for (std::uint64_t record = 0; record < 8; ++record) {
      file.put("x", record, my_points(session, record).data());
      session.end_step();
      flushed.push_back(session.flush());
    }
    session.wait(flushed.back());
    for (const Ticket ticket : flushed) EXPECT_TRUE(session.is_complete(ticket));
    EXPECT_FALSE(std::filesystem::exists("tickets.nc"));
    EXPECT_TRUE(std::filesystem::exists("tickets.nc.part"));
    session.wait(file.close());
    EXPECT_TRUE(std::filesystem::exists("tickets.nc"));
    EXPECT_FALSE(std::filesystem::exists("tickets.nc.part"));
  });
  if (rank() == 0) expect_line("tickets.nc", 8, 4);
}

void run_two_sessions(const char* mode) {
  const SessionOptions options = small_session(0).set("inline.mode", mode);
  try {
    Session first = open_session(comm(), options), second = open_session(comm(), options);
    OutputFile a = line(first, "first.nc").open(), b = line(second, "second.nc").open();
    for (std::uint64_t record = 0; record < 5; ++record) {
      a.put("x", record, my_points(first, record).data());
      b.put("x", record, my_points(second, record).data());
      second.end_step();
      first.end_step();
    }
    first.finalize();
    b.put("x", 5, my_points(second, 5).data());
    second.finalize();
  } catch (const Failure& failure) {
    FAIL() << failure.what();
  }
  barrier();
  if (rank() != 0) return;
  expect_line("first.nc", 5, 3);
  expect_line("second.nc", 6, 3);
}

// Ranks that host servers must answer all others before they leave a call for the model's own messages.
RANK_TEST(SessionRanks, ranks_of_a_synchronous_session_may_talk_between_its_calls, 4) {
  run_session(small_session(0).set("nodes", "0,1,0,1").set("transport", "mpi"), [](Session& session) {
    OutputFile file = line(session, "talking.nc").open();
    for (std::uint64_t record = 0; record < 30; ++record) {
      MPI_Barrier(model_comm(session));
      file.put("x", record, my_points(session, record).data());
      session.end_step();
    }
    MPI_Barrier(model_comm(session));
  });
  if (rank() == 0) expect_line("talking.nc", 30, 4);
}

RANK_TEST(SessionRanks, two_synchronous_sessions_are_used_alternately, 3) { run_two_sessions("synchronous"); }
RANK_TEST(SessionRanks, two_sessions_with_threads_are_used_alternately, 3) { run_two_sessions("thread"); }

}  // namespace
}  // namespace afterbay::testing
