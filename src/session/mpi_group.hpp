// SPDX-License-Identifier: Apache-2.0
// The group of a session that uses MPI.
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/rank_ranges.hpp"
#include "mpi/communicator.hpp"
#include "session/group.hpp"

namespace afterbay::session {

class MpiGroup : public Group {
 public:
  /// `rank`: the rank in the session, if `comm` has fewer ranks.
  MpiGroup(mpi::Communicator comm, int rank, std::chrono::milliseconds deadline)
      : comm_(std::move(comm)), rank_(rank), deadline_(deadline) {}
  ~MpiGroup() override;
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  /// Makes the communicators of the model ranks and of the others. Collective over `comm`.
  /// `models`: the ranks in the session of the model. `others`: those of servers and frontends that
  /// are not model ranks, ascending.
  Result<> split(bool model, RankRanges models, std::vector<int> others);

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return comm_.size(); }
  [[nodiscard]] bool usable() const override;
  Result<> gather(const Bytes& mine, const std::function<Result<>(Bytes bytes)>& take) override;
  bool await_models(std::chrono::milliseconds limit) override;
  Result<Bytes> consult_models(const Consultation& question) override;
  Result<std::shared_ptr<Ascent>> ascend_models() override;
  EndingEarly ending_early(std::chrono::milliseconds limit) override;
  void leave_behind() override;
  Result<std::function<Result<bool>()>> arrive() override;

  /// Null on servers and frontends.
  [[nodiscard]] MPI_Comm model_comm() const { return model_ ? side_ : MPI_COMM_NULL; }

 private:
  Result<Bytes> consult_now(const Consultation& question);

  mpi::Communicator comm_;
  int rank_;
  std::chrono::milliseconds deadline_;
  MPI_Comm side_ = MPI_COMM_NULL;  ///< communicator of the model ranks, or of the others
  bool model_ = false;
  RankRanges models_;
  std::vector<int> others_;
  /// Communicator of the model ranks, made when they first consult.
  std::optional<mpi::Communicator> consulted_;
  std::optional<mpi::Communicator> ascended_;  ///< the same for messages to the first model rank
  std::shared_ptr<Ascent> ascent_;
  std::optional<Error> unanswered_;  ///< error of a consultation in which ranks did not answer
  bool left_behind_ = false;
};

}  // namespace afterbay::session
