// SPDX-License-Identifier: Apache-2.0
#include "output/late_steps.hpp"

#include <bit>
#include <chrono>
#include <optional>
#include <utility>

#include "output/refuse.hpp"
#include "session/facade.hpp"
#include "session/state.hpp"
#include "wire/archive.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

constexpr std::size_t most_on_the_way = 64;  ///< messages of a rank that have not been received

/// What a rank and those below it contribute in a step.
struct StepTotals {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::step_totals);
  std::uint64_t number = 0;
  std::vector<std::vector<std::byte>> totals;  ///< by reduction
  template <class A>
  void fields(A& a) {
    a(number, totals);
  }
};

}  // namespace

std::size_t LateSteps::lag_of(std::size_t model_ranks) {
  return model_ranks < 2 ? 0 : static_cast<std::size_t>(std::bit_width(model_ranks - 1)) * slack;
}

LateSteps::LateSteps(Session* session, Plan& plan, const ModelTime& time)
    : session_(session), plan_(plan), time_(time) {
  if (session == nullptr || plan.grid_reductions.empty() || session->model_size() == 1) return;
  session::Group* const group = session->state().group.get();
  if (group == nullptr)
    refuse(ErrorCode::bad_state,
           "the description reduces over dimensions of a grid, which model ranks that are threads cannot do: "
           "use MPI ranks");
  ascent_ = must(group->ascend_models());
  // Long messages reach their receiver only during calls of MPI: also if this rank waits for
  // servers, which may wait for the receiver.
  session->state().model->waits().add_idle([ascent = std::weak_ptr(ascent_)] {
    if (const auto it = ascent.lock()) static_cast<void>(it->progress());
    return false;
  });
  lag_ = static_cast<std::size_t>(ascent_->levels()) * slack;
  height_ = static_cast<std::size_t>(ascent_->height());
}

void LateSteps::add(std::int64_t step, bool ends_run) {
  Step made;
  made.step = step;
  made.number = number_++;
  made.ends_run = ends_run;
  for (std::size_t i = 0; i < plan_.grid_reductions.size(); ++i)
    if (auto contribution = plan_.grid_reductions[i]->contribution()) {
      made.of.push_back(i);
      made.contributions.push_back(*std::move(contribution));
    }
  steps_.push_back(std::move(made));
}

void LateSteps::end_step(std::int64_t step) {
  if (plan_.grid_reductions.empty()) return;
  add(step, false);
  advance(lag_, height_ * slack);
}

void LateSteps::finish() { advance(0, 0); }

void LateSteps::end_run(std::int64_t step) {
  if (plan_.grid_reductions.empty()) return;
  add(step, true);
  finish();
}

void LateSteps::advance(std::size_t lag, std::size_t height) {
  for (Step& step : steps_) {
    if (step.number + height >= number_) break;
    if (!std::exchange(step.passed_on, true)) pass_on(step);
  }
  while (!steps_.empty() && steps_.front().number + lag < number_) {
    execute(steps_.front());
    steps_.pop_front();
  }
}

/// The contributions of the ranks below are added to those of this rank, and sent to its parent.
void LateSteps::pass_on(Step& step) {
  if (ascent_ == nullptr || step.of.empty()) return;
  std::vector<StepTotals> others;
  for (std::size_t child = 0; child < ascent_->children(); ++child) {
    others.push_back(must(wire::decode<StepTotals>(await(child))));
    if (others.back().number != step.number || others.back().totals.size() != step.of.size())
      refuse(
          ErrorCode::conflict,
          "a rank has sent contributions of step {} to {} reductions over grids, but {} of step {} are "
          "expected: all ranks must make the same definitions, call step and save alike, and read the same "
          "description",
          others.back().number, others.back().totals.size(), step.of.size(), step.number);
  }
  StepTotals all;
  all.number = step.number;
  for (std::size_t i = 0; i < step.of.size(); ++i) {
    std::vector<std::byte>& mine = step.contributions[i].totals;
    if (!others.empty()) {
      std::vector<std::span<const std::byte>> parts{mine};
      for (const StepTotals& other : others) parts.emplace_back(other.totals[i]);
      mine = plan_.grid_reductions[step.of[i]]->joined(parts);
    }
    if (session_->model_rank() == 0) continue;
    all.totals.push_back(std::move(mine));
    mine.clear();
  }
  if (session_->model_rank() != 0) send(wire::encode(all));
}

std::vector<std::byte> LateSteps::await(std::size_t child) {
  const std::chrono::milliseconds deadline = session_->state().config->deadline;
  const auto end = std::chrono::steady_clock::now() + deadline;
  std::optional<std::vector<std::byte>> message;
  const auto reached = [&] {
    message = must(ascent_->look(child));
    return message || std::chrono::steady_clock::now() > end;
  };
  if (!reached())
    must(call_of(session_->state(), "step")->waits().until(reached, "contributions of other model ranks"));
  if (message) return *std::move(message);
  const int rank = ascent_->number_of(child);
  throw Failure(
      make_error(ErrorCode::timed_out,
                 "rank {} has not sent its contribution to reductions over grids within {} ms: it, or "
                 "a rank that sends to it, has not come as far; see the other ranks' output",
                 rank, deadline.count())
          .at_rank(rank));
}

/// Memory of messages is bounded: a rank does not run ahead of its parent by any number of steps.
void LateSteps::send(std::vector<std::byte> message) {
  must(ascent_->send(std::move(message)));
  const std::chrono::milliseconds deadline = session_->state().config->deadline;
  const auto end = std::chrono::steady_clock::now() + deadline;
  const auto reached = [&] {
    return must(ascent_->progress()) <= most_on_the_way || std::chrono::steady_clock::now() > end;
  };
  if (reached()) return;
  must(call_of(session_->state(), "step")->waits().until(reached, "ranks to take contributions"));
  if (must(ascent_->progress()) > most_on_the_way)
    refuse(ErrorCode::timed_out,
           "another rank has not received contributions to reductions over grids within {} ms; see the other "
           "ranks' output",
           deadline.count());
}

void LateSteps::execute(const Step& step) {
  const Date now = time_.at(step.step);
  if (!step.ends_run)
    plan_.begin_late_step(step.step);
  else
    plan_.begin_late_end();
  for (std::size_t i = 0; i < step.of.size(); ++i)
    plan_.grid_reductions[step.of[i]]->emit_late(step.contributions[i]);
  plan_.end_late_step(now);
}

}  // namespace afterbay::output
