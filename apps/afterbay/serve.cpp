// SPDX-License-Identifier: Apache-2.0
// afterbay serve: the I/O servers of a run as separate programs,
//   mpirun -np 4 model : -np 2 afterbay serve
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "afterbay/mpi.hpp"
#include "command.hpp"

namespace afterbay::app {

namespace {

constexpr std::chrono::seconds time_for_others{5};

struct ServeOptions {
  std::string config_file;
  std::string name;
};

/// MPI_Init to MPI_Finalize.
class MpiProcess {
 public:
  MpiProcess() {
    int provided = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
      throw Failure(
          Error(ErrorCode::mpi, "MPI_Init_thread failed; is mpirun the one that Afterbay was built with?"));
    }
    if (provided < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw Failure(
          Error(ErrorCode::mpi, "this MPI does not give MPI_THREAD_FUNNELED, which a server needs"));
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  void finalize() { MPI_Finalize(); }

  /// After a success all ranks reach MPI_Finalize, but possibly late: wait at most this long.
  void finalize_or_exit(Exit code) {
    std::jthread watchdog([code](const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any changed;
      std::unique_lock lock(mutex);
      changed.wait_for(lock, stop, time_for_others, [] { return false; });
      if (!stop.stop_requested()) std::_Exit(static_cast<int>(code));
    });
    MPI_Finalize();
  }

  /// Ends the job after a failure, when the model's ranks have had time to report their errors and
  /// to end by themselves. MPI_Finalize instead would wait for ranks that may never reach it, and
  /// Open MPI 4.1's mpirun can crash or hang if other ranks abort meanwhile.
  [[noreturn]] void abort(Exit code) {
    const auto end = std::chrono::steady_clock::now() + time_for_others;
    while (std::chrono::steady_clock::now() < end) {
      int found = 0;  // the result does not matter: the call makes MPI progress
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
    std::_Exit(static_cast<int>(code));
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

void serve_until_finalized(const ServeOptions& options, const Invocation& invocation) {
  SessionOptions session_options;
  if (!options.name.empty()) session_options.set("session", options.name);
  session_options.role = Role::server;
  session_options.config_file = options.config_file;
  session_options.arguments = invocation.setting_flags;
  Session session = open_session(MPI_COMM_WORLD, session_options);
  session.serve();
}

Exit serve(const ServeOptions& options, const Invocation& invocation) {
  MpiProcess process;
  if (process.size() == 1) {
    process.finalize();
    complain("serve",
             "there is no model to serve; start it beside this: mpirun -np 4 MODEL : -np 2 afterbay serve");
    return Exit::usage;
  }
  try {
    serve_until_finalized(options, invocation);
  } catch (const Failure& failure) {
    const Exit code = exit_of(failure.code());
    complain("serve", fmt::format("process {}: {}", process.rank(), failure.what()));
    if (failure.code() != ErrorCode::stopped) process.abort(code);
    process.finalize_or_exit(code);
    return code;
  }
  process.finalize();
  return Exit::ok;
}

Action prepare_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option("--config", options->config_file, "YAML file with settings; give the model the same file");
  app.add_option("--name", options->name,
                 "name of the session, as the setting `session`; default: the model's");
  app.footer(
      "Start it beside the model, in the same job:\n"
      "  mpirun -np 4 ./model : -np 2 afterbay serve --config run.yaml\n"
      "It returns when every model rank has finalized its session. Settings may also be given as flags:\n"
      "--afterbay.NAME=VALUE.");
  return [options](const Invocation& invocation) { return serve(*options, invocation); };
}

const Registration serve_registration({.name = "serve",
                                       .summary = "serves a model of the same MPI job (MPMD)",
                                       .prepare = prepare_serve,
                                       .takes_settings = true});

}  // namespace

}  // namespace afterbay::app
