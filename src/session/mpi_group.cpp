// SPDX-License-Identifier: Apache-2.0
#include "session/mpi_group.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "mpi/check.hpp"
#include "mpi/request.hpp"
#include "mpi/tree.hpp"
#include "transport/mpi/consult.hpp"

namespace afterbay::session {
namespace {

/// Model ranks end a session at nearly the same time.
constexpr std::chrono::milliseconds farewell{1000};

/// Tags on the communicator of servers and frontends.
enum Word : int { ends_early = 1, reports_it = 2 };

/// Empty messages between the processes of a communicator. The sender does not wait until they are
/// received.
class Words {
 public:
  explicit Words(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  void send(Word word) const {
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      mpi::Request request;
      (void)MPI_Isend(nullptr, 0, MPI_BYTE, r, word, comm_, request.handle());
      (void)request.test();
      request.abandon();
    }
  }
  /// The ranks that have sent it since the last call.
  [[nodiscard]] std::vector<int> take(Word word) const {
    std::vector<int> sources;
    int there = 0;
    MPI_Status status;
    while (MPI_Iprobe(MPI_ANY_SOURCE, word, comm_, &there, &status) == MPI_SUCCESS && there != 0) {
      if (MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, word, comm_, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        break;
      sources.push_back(status.MPI_SOURCE);
    }
    return sources;
  }

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 0;
};

/// Messages of a tree's ranks to its root.
class TreeAscent final : public Group::Ascent {
 public:
  /// `numbers`: the ranks' numbers in the session.
  TreeAscent(const mpi::Communicator& comm, RankRanges numbers, std::chrono::milliseconds deadline)
      : tree_(comm), numbers_(std::move(numbers)), deadline_(deadline) {}

  [[nodiscard]] int levels() const override { return mpi::branch_of(0, tree_.size()).height(); }
  [[nodiscard]] int height() const override { return tree_.branch().height(); }
  [[nodiscard]] std::size_t children() const override { return tree_.branch().children.size(); }
  [[nodiscard]] int number_of(std::size_t child) const override {
    return numbers_.at(static_cast<std::size_t>(tree_.branch().children[child]));
  }
  Result<std::optional<Group::Bytes>> look(std::size_t child) override {
    using mpi::Tree;
    const auto now = std::chrono::steady_clock::now();
    const int from = tree_.branch().children[child];
    AFTERBAY_TRY_ASSIGN(auto message,
                        tree_.receive(std::span(&from, 1), Tree::Direction::up, now, now + deadline_));
    if (!message) return std::nullopt;
    return std::optional(std::move(message->bytes));
  }
  Result<> send(Group::Bytes message) override {
    return tree_.send(tree_.branch().parent, mpi::Tree::Direction::up, std::move(message));
  }
  Result<std::size_t> progress() override {
    AFTERBAY_TRY(tree_.settle(mpi::Tree::Time::min()));
    return tree_.on_the_way();
  }

 private:
  mpi::Tree tree_;
  RankRanges numbers_;
  mpi::Millis deadline_;
};

}  // namespace

MpiGroup::~MpiGroup() {
  if (side_ != MPI_COMM_NULL && !left_behind_ && mpi::is_running()) MPI_Comm_free(&side_);
}

Result<> MpiGroup::split(bool model, RankRanges models, std::vector<int> others) {
  model_ = model;
  models_ = std::move(models);
  others_ = std::move(others);
  return mpi::check(MPI_Comm_split(comm_.get(), model ? 0 : 1, rank_, &side_), "MPI_Comm_split");
}

bool MpiGroup::usable() const { return mpi::is_running(); }

Result<> MpiGroup::gather(const Bytes& mine, const std::function<Result<>(Bytes bytes)>& take) {
  mpi::Tree tree(comm_);
  return transport::network::gather(tree, {deadline_, "the reports of all ranks were collected"}, mine,
                                    [&take](int /*rank*/, Bytes bytes) { return take(std::move(bytes)); });
}

bool MpiGroup::await_models(std::chrono::milliseconds limit) {
  mpi::Request all_here;
  if (MPI_Ibarrier(side_, all_here.handle()) != MPI_SUCCESS) return false;
  const bool came = all_here.wait_until(limit, "all model ranks").has_value();
  all_here.abandon();
  return came;
}

Result<Group::Bytes> MpiGroup::consult_models(const Consultation& question) {
  if (unanswered_) return fail(*unanswered_);
  auto answer = consult_now(question);
  if (answer || (answer.error().code != ErrorCode::timed_out && answer.error().code != ErrorCode::mpi))
    return answer;
  // There may be messages that no rank receives.
  unanswered_ = answer.error();
  if (consulted_) consulted_->leave_behind();
  return answer;
}

/// On a communicator of its own: programs send messages on that of the model ranks.
Result<Group::Bytes> MpiGroup::consult_now(const Consultation& question) {
  if (!consulted_) {
    AFTERBAY_TRY_ASSIGN(consulted_, mpi::Communicator::duplicate(
                                        side_, deadline_, {&models_, "do all model ranks make this call?"}));
    consulted_->take_leave(farewell);  // a rank that did not participate may have messages
  }
  mpi::Tree tree(*consulted_);
  transport::network::EncodedSteps steps;
  steps.join = [&](int /*child*/, std::span<const std::byte> report) { return question.join(report); };
  steps.report = question.report;
  steps.decide = question.decide;
  steps.part = question.part;
  return transport::network::consult(tree, {deadline_, question.what, &models_}, steps);
}

/// On a communicator of its own: consultations may come between two messages.
Result<std::shared_ptr<Group::Ascent>> MpiGroup::ascend_models() {
  if (ascent_ != nullptr) return ascent_;
  AFTERBAY_TRY_ASSIGN(ascended_, mpi::Communicator::duplicate(
                                     side_, deadline_, {&models_, "do all model ranks make this call?"}));
  ascended_->take_leave(farewell);
  ascent_ = std::make_shared<TreeAscent>(*ascended_, models_, deadline_);
  return ascent_;
}

void MpiGroup::leave_behind() {
  left_behind_ = true;
  if (consulted_) consulted_->leave_behind();
  if (ascended_) ascended_->leave_behind();
}

/// The lowest of the ranks that call this at the same time reports, and tells all others, including
/// those that call later.
Group::EndingEarly MpiGroup::ending_early(std::chrono::milliseconds limit) {
  const Words words(side_);
  std::vector<bool> here(static_cast<std::size_t>(words.size()), false);
  here[static_cast<std::size_t>(words.rank())] = true;
  bool reported = false;
  words.send(ends_early);
  const auto end = std::chrono::steady_clock::now() + limit;
  const mpi::BackOff back_off;
  const auto hear = [&] {
    for (const int r : words.take(ends_early)) here[static_cast<std::size_t>(r)] = true;
    reported = !words.take(reports_it).empty() || reported;
    return reported || std::ranges::find(here, false) == here.end();
  };
  while (!hear() && std::chrono::steady_clock::now() < end) back_off.sleep();
  EndingEarly found;
  for (std::size_t r = 0; r < here.size(); ++r)
    if (here[r]) found.ranks.push_back(others_[r]);
  found.reports = !reported && found.ranks.front() == rank_;
  if (found.reports) words.send(reports_it);
  return found;
}

Result<std::function<Result<bool>()>> MpiGroup::arrive() {
  const auto abandon = [](mpi::Request* request) {
    request->abandon();  // some rank may never have arrived
    delete request;
  };
  const std::shared_ptr<mpi::Request> all_here(new mpi::Request, abandon);
  AFTERBAY_TRY(mpi::check(MPI_Ibarrier(comm_.get(), all_here->handle()), "MPI_Ibarrier"));
  return [all_here] { return all_here->test(); };
}

}  // namespace afterbay::session
