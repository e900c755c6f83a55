// SPDX-License-Identifier: Apache-2.0
#include "replay_job.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

#include "afterbay/mpi.hpp"
#include "base/printable.hpp"
#include "model/layout.hpp"

namespace afterbay::app {
namespace {

using Clock = std::chrono::steady_clock;

/// After a failure the other processes may never come; they get this long to report the reason.
constexpr std::chrono::seconds patience_after_failure{10};

/// The session's server thread calls MPI concurrently with the model if it must reach other nodes.
int thread_level(const config::Config& config) {
  const bool background = config.servers.topology == config::Topology::inline_ &&
                          config.servers.inline_mode == config::InlineMode::thread;
  return background ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

/// The total over the model ranks.
std::uint64_t sum(std::uint64_t mine, MPI_Comm comm) {
  std::uint64_t all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, comm);
  return all;
}

std::string count(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

double largest(double mine, MPI_Comm comm) {
  double most = 0;
  MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
  return most;
}

}  // namespace

ReplayJob::ReplayJob(const config::Config& config) : config_(config) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, thread_level(config), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size_);
}

PlanRequest ReplayJob::plan_request(const ReplayRequest& request, int model_ranks) const {
  return {.store = format_of(request.store).value_or(Format::netcdf4),
          .frame_bytes = config_.memory.block_bytes,
          .model_ranks = model_ranks};
}

Result<Playback> ReplayJob::run(const ReplayRequest& request) try {
  // Every process checks the input first, so that none is left alone in a session. If the session
  // is refused, all of them learn the reason.
  found_by_all_ = true;
  AFTERBAY_TRY_ASSIGN(const NetcdfReader input, NetcdfReader::open(request.input));
  AFTERBAY_TRY(make_plan(input, plan_request(request, 1)));
  SessionOptions options;
  options.arguments = request.arguments;
  Session session = open_session(MPI_COMM_WORLD, options);
  found_by_all_ = false;
  if (session.is_server()) {
    session.serve();
    return Playback{};
  }
  return play_as_model(session, input, request);
} catch (const Failure& failure) {
  return fail(failure.error());
} catch (const std::bad_alloc&) {
  return fail(make_error(ErrorCode::resources, "playing it needs more memory than this process can get")
                  .in_file(request.input));
}

Result<Playback> ReplayJob::play_as_model(Session& session, const NetcdfReader& input,
                                          const ReplayRequest& request) {
  const int ranks = session.model_size();
  const bool first = session.model_rank() == 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(model_comm(session), &comm);  // the session's communicator ends with finalize
  AFTERBAY_TRY_ASSIGN(Plan plan, make_plan(input, plan_request(request, ranks)));
  const Clock::time_point start = Clock::now();
  Playback playback = play(session, input, plan, request);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  playback.bytes = sum(playback.bytes, comm);
  playback.read_s = largest(playback.read_s, comm);
  playback.put_s = largest(playback.put_s, comm);
  MPI_Comm_free(&comm);
  if (first) print_summary(plan, input, request, playback, seconds, ranks);
  return playback;
}

void ReplayJob::print_summary(const Plan& plan, const NetcdfReader& input, const ReplayRequest& request,
                              const Playback& playback, double seconds, int model_ranks) const {
  fmt::print("{} ({}) -> {} ({}): {}, {}, {:.2f} MB\n", printable(request.input), input.contents().format,
             printable(playback.paths.front()), request.store, count(playback.paths.size(), "file"),
             count(playback.records, "record"), static_cast<double>(playback.bytes) * 1e-6);
  const auto beside = static_cast<std::uint64_t>(world_size_ - model_ranks);
  std::string servers = beside == 0 ? "inline" : count(beside, "server");
  if (config_.servers.topology == config::Topology::tiered)
    servers = fmt::format("{} servers and frontends", beside);
  fmt::print("{}, {}; {:.3f} s in all, most on one rank: {:.3f} s reading, {:.3f} s in put\n",
             count(static_cast<std::uint64_t>(model_ranks), "model rank"), servers, seconds, playback.read_s,
             playback.put_s);
  for (const RankGrid& grid : plan.grids)
    fmt::print("  ({}): {} points in {} parts on {} of {} ranks\n", grid.name, fmt::join(grid.global, " x "),
               fmt::join(grid.parts, " x "), grid.used_ranks(), model_ranks);
  std::fflush(stdout);
}

void ReplayJob::leave(int code) {
  const auto patience = code == 0 ? std::chrono::duration_cast<std::chrono::milliseconds>(config_.deadline)
                                  : std::chrono::milliseconds(patience_after_failure);
  const Clock::time_point end = Clock::now() + patience;
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
  int done = 0;
  MPI_Test(&all_here, &done, MPI_STATUS_IGNORE);
  while (done == 0 && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // MPI has no wait with a deadline
    MPI_Test(&all_here, &done, MPI_STATUS_IGNORE);
  }
  if (done == 0) {
    fmt::print(stderr, "afterbay replay: process {} waited {} s for the others to end; ending the job\n",
               world_rank_, std::chrono::duration<double>(patience).count());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, code == 0 ? 3 : code);
  }
  MPI_Finalize();
}

}  // namespace afterbay::app
