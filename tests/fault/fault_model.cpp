// SPDX-License-Identifier: Apache-2.0
// A model that fails on purpose: fault_model SCENARIO DIRECTORY STORE. Every process writes what it
// saw to outcome.RANK ("ok", or the error's code, seconds since the fault and text) and waits until
// all that are still alive have done so: a process that leaves early would make mpirun end the
// others.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "afterbay/afterbay.hpp"

namespace {

using namespace afterbay;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t rows = 64, columns = 64, levels = 8;
constexpr int steps = 40;

struct Run {
  std::string scenario, directory, store;
  int rank = 0;  ///< in the world
  int size = 0;
  int victims = 0;  ///< processes that are killed and will not report
  Clock::time_point fault = Clock::now();
};

[[noreturn]] void leave(const Run& run, const std::string& outcome) {
  {
    std::ofstream file("outcome." + std::to_string(run.rank) + ".tmp");
    file << outcome << "\n";
  }
  std::filesystem::rename("outcome." + std::to_string(run.rank) + ".tmp",
                          "outcome." + std::to_string(run.rank));
  for (int i = 0; i < 1200; ++i) {
    int there = 0;
    for (int r = 0; r < run.size; ++r)
      there += std::filesystem::exists("outcome." + std::to_string(r)) ? 1 : 0;
    if (there >= run.size - run.victims) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  _exit(0);
}

std::string text_of(const Run& run, const Failure& failure) {
  const double seconds = std::chrono::duration<double>(Clock::now() - run.fault).count();
  return std::string(name_of(failure.code())) + "\n" + std::to_string(seconds) + "\n" + failure.what();
}

Schema schema() {
  Schema it;
  it.dimension("time", unlimited).dimension("lev", levels).dimension("lat", rows).dimension("lon", columns);
  it.variable("temperature", Type::float32, {"time", "lev", "lat", "lon"}).attribute("units", "K").on("grid");
  it.variable("pressure", Type::float32, {"time", "lat", "lon"}).attribute("units", "Pa").on("grid");
  return it;
}

Block block_of(const Run& run, int rank, int ranks) {
  const std::uint64_t mine = rows / static_cast<std::uint64_t>(ranks);
  Block block{{rows, columns}, {mine * static_cast<std::uint64_t>(rank), 0}, {mine, columns}};
  if (run.scenario == "outside" && rank == 2) block.count[0] += rows;
  if (run.scenario == "overlap" && rank == 2) block.start[0] -= 1;
  if (run.scenario == "gap" && rank == 2) block.count[0] -= 1;
  return block;
}

bool fault_at(const Run& run, const char* scenario, int rank, int at_rank, int step) {
  return run.scenario == scenario && rank == at_rank && step == 3;
}

/// kill_last_server, stop_beside: among several, only the one with the highest rank.
bool fault_of_server(const Run& run) {
  return run.scenario == "kill_server" || run.scenario == "kill_last_server" ||
         run.scenario == "cut_server" || run.scenario == "stop_server" || run.scenario == "stop_beside" ||
         run.scenario == "signal_server" || run.scenario == "kill_reading" || run.scenario == "stop_reading";
}

void wait_for_file(const std::string& name) {
  for (int i = 0; i < 1200 && !std::filesystem::exists(name); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void wait_for_outcomes(std::initializer_list<int> ranks) {
  for (const int rank : ranks) wait_for_file("outcome." + std::to_string(rank));
}

/// Collective over the model ranks: the processes that wait for it are struck.
void strike(Session& session) {
  MPI_Barrier(model_comm(session));
  if (session.model_rank() == 0) std::ofstream("strike") << "\n";
}

/// Stops this process like a debugger, or a node without free memory. When all others have
/// reported, another process ends it.
void stop_for_ever(const Run& run) {
  const std::string others = std::to_string(run.size - 1);
  const std::string reaper = "(for i in $(seq 600); do [ $(ls outcome.[0-9] 2>/dev/null | wc -l) -ge " +
                             others + " ] && break; sleep 0.1; done; kill -9 " + std::to_string(getpid()) +
                             ") >/dev/null 2>&1 &";
  if (std::system(reaper.c_str()) != 0) return;
  std::ofstream("stopped") << "\n";
  kill(getpid(), SIGSTOP);
}

/// In the middle of the run: ends the server or (on emulated nodes) the network of its node.
void strike_server(const Run& run) {
  wait_for_file("strike");
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (const char* chosen = std::getenv("AFTERBAY_TEST_FAULT_RANK"); chosen && rank != std::atoi(chosen))
    return;
  if ((run.scenario == "kill_last_server" || run.scenario == "stop_beside") && rank != size - 1) return;
  if (run.scenario.starts_with("stop_")) return stop_for_ever(run);
  if (run.scenario == "signal_server") return void(kill(getpid(), SIGTERM));
  if (run.scenario != "cut_server") kill(getpid(), SIGKILL);
  std::ofstream("cut") << std::system("ip link set eth0 down") << "\n";
}

/// Reads a file that another program created, or damaged.
void read_input(Session& session) {
  session.start();
  InputFile input = session.open_input("in.nc");
  std::vector<float> values(levels * rows * columns);
  input.get("temperature", {.record = 0}, values.data());
  session.finalize();
}

/// Reads again and again, until that fails.
void read_for_ever(Run& run, Session& session) {
  session.start();
  InputFile input = session.open_input("in.nc");
  std::vector<float> values(levels * rows * columns);
  for (std::uint64_t n = 0;; ++n) {
    run.fault = Clock::now();
    input.prefetch("temperature", {.record = (n + 1) % 3});
    input.get("temperature", {.record = n % 3}, values.data());
    const auto expected = static_cast<float>(n % 3 * values.size() + values.size() - 1);
    if (values.back() != expected) leave(run, "wrong\n0\nrecord " + std::to_string(n % 3));
    if (n == 1) strike(session);
  }
}

/// Reads do not wait for writes: while much output is queued for a disk that is slow, or writes
/// nothing, before the file `read` exists, a file is read.
void read_beside_output(Run& run, Session& session, const Block& block) {
  const CollectionOptions options{.file = "out.nc", .directory = run.directory, .store = run.store};
  Collection history = session.collection("history", schema(), options);
  OutputFile file = history.open();
  const std::vector<float> values(levels * block.count[0] * block.count[1], 280.0F);
  std::vector<float> read(levels * rows * columns);
  for (std::uint64_t record = 0; record < 80; ++record) {
    file.put("temperature", record, values.data());
    file.put("pressure", record, values.data());
    session.end_step();
  }
  const Ticket written = session.flush();
  run.fault = Clock::now();
  InputFile input = session.open_input("in.nc");
  input.get("temperature", {.record = 0}, read.data());
  if (session.is_complete(written)) leave(run, "wrong\n0\nthe output was written first");
  MPI_Barrier(model_comm(session));
  if (run.rank == 0) std::ofstream("read") << "\n";
  session.wait(written);
  input.close();
  session.finalize();
}

/// Two files are closed and queued for a slow disk, the second with a higher priority; one more
/// stays open.
void run_into_signal(Run& run, Session& session, const Block& block) {
  const std::vector<float> values(levels * block.count[0] * block.count[1], 280.0F);
  Collection history = session.collection(
      "history", schema(), {.file = "history.nc", .directory = run.directory, .store = run.store});
  Collection restart = session.collection(
      "restart", schema(), {.file = "restart.nc", .directory = run.directory, .store = run.store});
  for (Collection* collection : {&history, &restart}) {
    OutputFile file = collection->open();
    for (std::uint64_t record = 0; record < 10; ++record) {
      file.put("temperature", record, values.data());
      file.put("pressure", record, values.data());
      session.end_step();
    }
    file.close();
  }
  strike(session);
  OutputFile open = history.open(FileName{.name = "open.nc"});
  for (std::uint64_t record = 0;; ++record) {
    if (record == 1 && run.scenario == "signal_inline" && run.rank == 0) kill(getpid(), SIGTERM);
    open.put("temperature", record, values.data());
    open.put("pressure", record, values.data());
    session.end_step();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    run.fault = Clock::now();
  }
}

/// The last server is stopped, and the last rank waits for it. The others continue with files of
/// the first server, one of which is complete before that rank gives up.
void run_beside_stuck(Run& run, Session& session) {
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const std::uint64_t mine = rank < 3 ? rows / 4 : rows - 3 * (rows / 4);
  const Block block{{rows, columns}, {rank * (rows / 4), 0}, {mine, columns}};
  const Block thirds{{rows, columns},
                     {rank < 3 ? rank * 21 : rows, 0},
                     {rank < 2    ? 21
                      : rank == 2 ? rows - 42
                                  : 0,
                      columns}};
  session.decomposition("grid", block);
  session.decomposition("three", thirds);
  Schema of_three;
  of_three.dimension("time", unlimited).dimension("lat", rows).dimension("lon", columns);
  of_three.variable("rain", Type::float32, {"time", "lat", "lon"}).on("three");
  const CollectionOptions options{.file = "{collection}.nc", .directory = run.directory, .store = run.store};
  Collection first = session.collection("first", of_three, options);
  Collection second = session.collection("second", schema(), options);
  session.start();
  strike(session);
  wait_for_file("stopped");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::vector<float> values(levels * rows * columns, 280.0F);
  OutputFile there = second.open();
  OutputFile early = first.open(FileName{.name = "early.nc"});
  there.put("temperature", 0, values.data());
  early.put("rain", 0, values.data());
  session.end_step();
  run.fault = Clock::now();
  const Ticket stuck = there.close();
  const Ticket beside = early.close();
  OutputFile here = first.open();
  if (rank == 3) session.wait(stuck);
  bool progress = false;
  try {
    for (std::uint64_t record = 0;; ++record) {
      here.put("rain", record, values.data());
      session.end_step();
      progress = progress || (session.is_complete(beside) && !std::filesystem::exists("outcome.3"));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  } catch (const Failure&) {
    if (!progress) leave(run, "stalled\n0\nits file was not complete before the stuck server was noticed");
    throw;
  }
}

void model(Run& run, Session& session) {
  if (run.scenario == "input") return read_input(session);
  if (run.scenario.ends_with("_reading")) return read_for_ever(run, session);
  if (run.scenario == "stop_beside") return run_beside_stuck(run, session);
  const int rank = session.model_rank();
  const Block block = block_of(run, rank, session.model_size());
  session.decomposition("grid", block);
  if (run.scenario.starts_with("signal_")) return run_into_signal(run, session, block);
  if (run.scenario == "read_beside_output") return read_beside_output(run, session, block);
  const CollectionOptions options{
      .file = "out.nc", .directory = run.directory, .store = run.store, .existing = "refuse"};
  Collection history = session.collection("history", schema(), options);
  Collection other = session.collection("other", schema(), options);
  CollectionOptions spare = options;
  spare.file = "spare.nc";
  Collection third = session.collection("spare", schema(), spare);
  OutputFile file = history.open();
  std::optional<OutputFile> extra;
  if (run.scenario == "two_files") extra = third.open();
  if (run.scenario == "name_clash") other.open();
  const std::vector<float> values(levels * block.count[0] * block.count[1], 280.0F);
  const std::string letters(values.size(), 'x');
  for (int step = 0; step < steps || fault_of_server(run); ++step) {
    run.fault = Clock::now();
    const auto record = static_cast<std::uint64_t>(step);
    if (fault_at(run, "kill_model", rank, 1, step)) kill(getpid(), SIGKILL);
    if (fault_at(run, "stop_model", rank, 1, step)) stop_for_ever(run);
    if (fault_at(run, "vanish", rank, 0, step)) std::filesystem::remove_all(run.directory);
    if (fault_at(run, "absent_rank", rank, 2, step)) wait_for_outcomes({0, 1, 3});
    if (fault_at(run, "wrong_variable", rank, 0, step)) file.put("temperatur", record, values.data());
    if (fault_at(run, "wrong_type", rank, 0, step)) file.put("temperature", record, letters.data());
    if (!fault_at(run, "missing_rank", rank, 2, step)) file.put("temperature", record, values.data());
    file.put("pressure", record, values.data());
    if (extra) extra->put("temperature", record, values.data());
    if (extra) extra->put("pressure", record, values.data());
    session.end_step();
    if (fault_of_server(run)) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (run.scenario != "killed_after_close" && run.scenario != "rush") session.wait(session.flush());
    if (fault_of_server(run) && step == 1) strike(session);
  }
  file.close();
  if (run.scenario == "killed_after_close")
    MPI_Barrier(model_comm(session));  // every rank has closed the file
  run.fault = Clock::now();
  if (run.scenario == "killed_after_close" && rank == 0) kill(getpid(), SIGKILL);
  session.finalize();
}

/// opens_late: rank 0 opens after the other ranks that open, but before their deadline has passed.
/// opens_last: when these have given up. Two ranks never open.
void open_late_or_never(const Run& run) {
  const bool late = run.scenario == "opens_late";
  const bool last = run.scenario == "opens_last";
  if (!late && !last && run.scenario != "never_opens") return;
  const int first_absent = last ? 1 : 2;
  if (run.rank == first_absent || run.rank == first_absent + 1) leave(run, "ok");
  if (run.rank != 0) {
    std::ofstream("opening." + std::to_string(run.rank)) << "\n";
  } else if (last) {
    wait_for_outcomes({3, 4});
  } else if (late) {
    wait_for_file("opening.1");
    wait_for_file("opening.4");
    std::this_thread::sleep_for(std::chrono::seconds(3));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  Run run{argv[1], argv[2], argv[3]};
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.size);
  run.victims = run.scenario.starts_with("kill_") || run.scenario.starts_with("stop_") ||
                        run.scenario == "killed_after_close"
                    ? 1
                    : 0;
  if (const char* const more = std::getenv("FAULT_VICTIMS")) run.victims += std::atoi(more);
  open_late_or_never(run);
  run.fault = Clock::now();
  try {
    Session session = open_session(MPI_COMM_WORLD, SessionOptions().with_arguments(argc, argv));
    if (session.is_server()) {
      std::jthread killer;
      if (fault_of_server(run)) killer = std::jthread([&run] { strike_server(run); });
      session.serve();
    } else {
      model(run, session);
    }
    leave(run, "ok");
  } catch (const Failure& failure) {
    leave(run, text_of(run, failure));
  }
}
