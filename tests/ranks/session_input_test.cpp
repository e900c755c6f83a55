// SPDX-License-Identifier: Apache-2.0
// Reading files, by real ranks over every transport.
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "input_session.hpp"
#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

void exercise(const SessionOptions& options, int mode) {
  if (rank() == 0) test::inputs::write_file("input.nc", mode);
  run_session(options, [&](Session& session) {
    test::inputs::expect_right(session, "input.nc", mode == NC_NETCDF4);
    test::inputs::write_and_read(session, mode == NC_NETCDF4 ? "netcdf4" : "cdf5", "");
  });
}

RANK_TEST(SessionInput, over_shared_memory, 5) { exercise(small_session(1), NC_NETCDF4); }
RANK_TEST(SessionInput, over_mpi, 5) { exercise(small_session(1).set("transport", "mpi"), NC_64BIT_DATA); }
RANK_TEST(SessionInput, two_servers_on_declared_nodes, 6) {
  exercise(small_session(2).set("nodes", "0,0,0,1,1,1"), NC_NETCDF4);
}
RANK_TEST(SessionInput, inline_synchronous, 3) { exercise(small_session(0), NC_64BIT_OFFSET); }
RANK_TEST(SessionInput, inline_synchronous_servers_of_two_nodes, 4) {
  exercise(small_session(0).set("nodes", "0,0,1,1"), NC_NETCDF4);
}
RANK_TEST(SessionInput, inline_thread, 3) {
  exercise(small_session(0).set("inline.mode", "thread"), NC_NETCDF4);
}

/// Pieces that a server has in memory already: for one rank it has read them, the others describe
/// the cells of their maps when they read there first. The second map has the same points in
/// another order.
void exercise_cached_cells(const SessionOptions& options) {
  if (rank() == 0) test::inputs::write_file("input.nc", NC_64BIT_DATA);
  run_session(options, [&](Session& session) {
    InputFile input = session.open_input("input.nc");
    test::inputs::define(session);
    auto reversed = test::inputs::listed_cells(session.model_rank(), session.model_size());
    std::ranges::reverse(reversed);
    session.decomposition("reversed", test::maps::map_of({test::maps::cells}, reversed),
                          {.gaps_allowed = true, .repeats = Repeats::first});
    session.start();
    if (session.model_rank() == 0) test::inputs::expect_whole(input, false);
    MPI_Barrier(model_comm(session));
    for (int again = 0; again < 2; ++again) {
      test::inputs::expect_mapped(session, input);
      for (std::uint64_t r = 0; r < test::maps::records; ++r) {
        std::vector<double> ocean(reversed.size() * test::maps::levels, test::inputs::hole);
        input.get("ocean", {.record = r, .decomposition = "reversed"}, ocean.data());
        for (std::size_t i = 0; i < reversed.size(); ++i)
          for (std::uint64_t k = 0; k < test::maps::levels; ++k) {
            const auto cell = static_cast<std::uint64_t>(reversed[i]);
            ASSERT_EQ(ocean[i * test::maps::levels + k],
                      reversed[i] < 0 ? test::inputs::hole : test::maps::value(r, k, cell))
                << "record " << r << ", " << i;
          }
      }
    }
    input.close();
  });
}

RANK_TEST(SessionInputCached, cells_are_described_over_mpi, 4) {
  exercise_cached_cells(small_session(1).set("transport", "mpi"));
}
RANK_TEST(SessionInputCached, cells_are_described_over_mpi_to_two_servers, 5) {
  exercise_cached_cells(small_session(2).set("transport", "mpi"));
}
RANK_TEST(SessionInputCached, cells_are_described_over_mpi_with_little_memory, 4) {
  exercise_cached_cells(small_session(1).set("transport", "mpi").set("memory.input", "1MiB"));
}

// ---- behind frontends

SessionOptions tiered(int servers) {
  return small_session(servers)
      .set("topology", "tiered")
      .set("memory.frontend", "8MiB")
      .set("memory.link", "128KiB");
}

RANK_TEST(SessionInput, behind_a_frontend, 5) { exercise(tiered(1), NC_NETCDF4); }
RANK_TEST(SessionInput, behind_a_frontend_over_mpi, 5) {
  exercise(tiered(1).set("transport", "mpi"), NC_64BIT_DATA);
}
RANK_TEST(SessionInput, behind_frontends_of_two_nodes, 7) {
  exercise(tiered(1).set("nodes", "0,0,0,1,1,1,2").set("isolate_nodes", "off"), NC_NETCDF4);
}

// ---- a damaged record among others

constexpr std::size_t noisy_records = 8, noisy_cells = 20'000;

double noise(std::size_t record, std::size_t cell) {
  return static_cast<double>((record * noisy_cells + cell) * 2654435761U % 1'000'003);
}

/// Compressed; then a few bytes in the middle are overwritten.
void write_damaged() {
  const auto good = [](int code) { ASSERT_EQ(code, NC_NOERR) << nc_strerror(code); };
  int nc = 0, time = 0, cell = 0, x = 0;
  good(nc_create("damaged.nc", NC_CLOBBER | NC_NETCDF4, &nc));
  good(nc_def_dim(nc, "time", NC_UNLIMITED, &time));
  good(nc_def_dim(nc, "cell", noisy_cells, &cell));
  const int dims[]{time, cell};
  good(nc_def_var(nc, "x", NC_DOUBLE, 2, dims, &x));
  const std::size_t chunk[]{1, noisy_cells};
  good(nc_def_var_chunking(nc, x, NC_CHUNKED, chunk));
  good(nc_def_var_deflate(nc, x, 0, 1, 1));
  std::vector<double> values(noisy_cells);
  for (std::size_t r = 0; r < noisy_records; ++r) {
    for (std::size_t c = 0; c < noisy_cells; ++c) values[c] = noise(r, c);
    const std::size_t start[]{r, 0}, count[]{1, noisy_cells};
    good(nc_put_vara_double(nc, x, start, count, values.data()));
  }
  good(nc_close(nc));
  std::fstream file("damaged.nc", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size("damaged.nc") / 2));
  file << "overwritten by something else, which is not part of this file";
}

/// The call fails, with the file's name; afterwards everything that is whole can be read.
void exercise_damaged(const SessionOptions& options) {
  if (rank() == 0) write_damaged();
  run_session(options, [&](Session& session) {
    InputFile input = session.open_input("damaged.nc");
    for (int again = 0; again < 3; ++again) {
      std::vector<double> all(noisy_records * noisy_cells);
      try {
        input.get("x", {.record = 0, .records = noisy_records}, all.data());
        ADD_FAILURE() << "damage was not noticed";
      } catch (const Failure& failure) {
        EXPECT_NE(std::string(failure.what()).find("damaged.nc"), std::string::npos) << failure.what();
      }
    }
    std::size_t whole = 0;
    for (std::size_t r = 0; r < noisy_records; ++r) {
      std::vector<double> values(noisy_cells, -1);
      try {
        input.get("x", {.record = r}, values.data());
      } catch (const Failure&) {
        continue;
      }
      ++whole;
      for (std::size_t c = 0; c < noisy_cells; ++c) ASSERT_EQ(values[c], noise(r, c)) << r << " " << c;
    }
    EXPECT_GE(whole, noisy_records - 2);
    EXPECT_LT(whole, noisy_records);
    input.close();
  });
}

RANK_TEST(SessionInputDamaged, over_shared_memory, 4) { exercise_damaged(small_session(1)); }
RANK_TEST(SessionInputDamaged, over_mpi, 4) { exercise_damaged(small_session(1).set("transport", "mpi")); }
RANK_TEST(SessionInputDamaged, behind_a_frontend, 5) { exercise_damaged(tiered(1)); }

// ---- parts of all sizes, over the network

constexpr std::size_t wide_rows = 160, wide_columns = 8192;  // 10 MiB of double

double wide_value(std::size_t variable, std::size_t row, std::size_t column) {
  return static_cast<double>(variable * 100'000'000 + row * 10'000 + column);
}

void write_wide() {
  const auto good = [](int code) { ASSERT_EQ(code, NC_NOERR) << nc_strerror(code); };
  int nc = 0, row = 0, column = 0;
  good(nc_create("wide.nc", NC_CLOBBER | NC_64BIT_DATA, &nc));
  good(nc_def_dim(nc, "row", wide_rows, &row));
  good(nc_def_dim(nc, "column", wide_columns, &column));
  const int dims[]{row, column};
  std::array<int, 2> variables{};
  for (std::size_t v = 0; v < 2; ++v)
    good(nc_def_var(nc, v == 0 ? "v0" : "v1", NC_DOUBLE, 2, dims, &variables[v]));
  good(nc_enddef(nc));
  std::vector<double> values(wide_rows * wide_columns);
  for (std::size_t v = 0; v < 2; ++v) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = wide_value(v, i / wide_columns, i % wide_columns);
    good(nc_put_var_double(nc, variables[v], values.data()));
  }
  good(nc_close(nc));
}

/// Reads a box of both variables, the second one ahead.
void expect_box(Session& session, InputFile& input, const Block& box) {
  const bool as_float = session.model_rank() % 2 == 1;
  std::vector<double> values(box.count[0] * box.count[1], -1);
  std::vector<float> narrow(values.size(), -1);
  input.prefetch("v1", {.block = box});
  for (std::size_t v = 0; v < 2; ++v) {
    const std::string name = v == 0 ? "v0" : "v1";
    if (as_float)
      input.get(name, {.block = box}, narrow.data());
    else
      input.get(name, {.block = box}, values.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = wide_value(v, box.start[0] + i / box.count[1], box.start[1] + i % box.count[1]);
      const bool right = as_float ? narrow[i] == static_cast<float>(expected) : values[i] == expected;
      wrong += right ? 0 : 1;
    }
    ASSERT_EQ(wrong, 0u) << name;
  }
}

/// Long runs, which are sent as they lie in the server; short ones, which are packed; all pieces,
/// more than fit into the memory at a time; nothing; and single values.
void exercise_wide(const SessionOptions& options) {
  if (rank() == 0) write_wide();
  run_session(options, [&](Session& session) {
    InputFile input = session.open_input("wide.nc");
    const int ranks = session.model_size(), self = session.model_rank();
    const auto [first_row, some_rows] = share(wide_rows, ranks, self);
    const auto [first_column, some_columns] = share(wide_columns, ranks, ranks - 1 - self);
    expect_box(session, input, {{}, {first_row, 0}, {some_rows, wide_columns}});
    expect_box(session, input, {{}, {0, first_column}, {wide_rows, some_columns}});
    expect_box(session, input, {{}, {0, first_column}, {wide_rows, 3}});
    expect_box(session, input, {{}, {0, 0}, {wide_rows, wide_columns}});
    expect_box(session, input, {{}, {static_cast<std::uint64_t>(self), 17}, {1, 1}});
    if (self == 0) expect_box(session, input, {{}, {5, 5}, {100, 4000}});  // alone
    input.close();
  });
}

/// Segments of 1 MiB, and pieces of the same size.
SessionOptions in_mebibytes(SessionOptions options) {
  return options.set("memory.server", "16MiB")
      .set("memory.block", "1MiB")
      .set("memory.input", "8MiB")
      .set("memory.link", "4MiB");
}

RANK_TEST(SessionInputWide, over_mpi, 4) {
  exercise_wide(in_mebibytes(small_session(1).set("transport", "mpi")));
}
RANK_TEST(SessionInputWide, over_mpi_with_four_pieces_of_memory, 4) {
  exercise_wide(small_session(1).set("transport", "mpi").set("memory.input", "1MiB"));
}
RANK_TEST(SessionInputWide, over_mpi_from_two_servers, 5) {
  exercise_wide(in_mebibytes(small_session(2).set("transport", "mpi")));
}
RANK_TEST(SessionInputWide, behind_a_frontend, 5) {
  exercise_wide(in_mebibytes(tiered(1)).set("memory.frontend", "16MiB"));
}
// Without segments that ranks share, everything that is not small goes through the rings.
RANK_TEST(SessionInputWide, behind_a_frontend_without_common_segments, 5) {
  exercise_wide(in_mebibytes(tiered(1)).set("memory.frontend", "4MiB"));
}
// A part does not fit into any segment.
RANK_TEST(SessionInputWide, behind_a_frontend_with_segments_smaller_than_pieces, 5) {
  exercise_wide(tiered(1).set("memory.input", "16MiB"));
}
RANK_TEST(SessionInputWide, behind_a_frontend_over_mpi, 5) {
  exercise_wide(in_mebibytes(tiered(1)).set("memory.frontend", "16MiB").set("transport", "mpi"));
}
RANK_TEST(SessionInputWide, behind_a_frontend_from_two_servers, 6) {
  exercise_wide(in_mebibytes(tiered(2)).set("memory.frontend", "16MiB"));
}

// A rank whose array cannot hold what the file contains, and a rank that closes at once, do not
// disturb others.
RANK_TEST(SessionInputWide, a_rank_that_reads_less_and_closes_leaves_the_others_their_data, 5) {
  if (rank() == 0) write_wide();
  run_session(in_mebibytes(tiered(1)).set("memory.frontend", "16MiB"), [&](Session& session) {
    InputFile input = session.open_input("wide.nc");
    if (session.model_rank() == 0) {
      input.prefetch("v0", {});
      input.prefetch("v1", {});
      input.close();
      return;
    }
    expect_box(session, input, {{}, {0, 0}, {wide_rows, wide_columns}});
    input.close();
  });
}

}  // namespace
}  // namespace afterbay::testing
