// SPDX-License-Identifier: Apache-2.0
// A consultation: reports of all ranks go up a tree and are joined on the way, the root decides,
// and its answer goes down, so that all ranks get the same answer or the same error.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rank_ranges.hpp"
#include "mpi/tree.hpp"
#include "wire/archive.hpp"

namespace afterbay::transport::network {

using Bytes = mpi::Bytes;

/// How long ranks wait, and what errors say.
struct Manner {
  /// For the reports of a rank's children. A rank waits a little longer for a child that has
  /// children, and for the answer, so that an error of another rank arrives before its own
  /// deadline.
  mpi::Millis limit{0};
  const char* what = "";              ///< "while ..."
  const RankRanges* ranks = nullptr;  ///< the ranks' numbers in errors; null or empty: unchanged
  [[nodiscard]] int called(int rank) const {
    return ranks == nullptr || ranks->empty() ? rank : ranks->at(static_cast<std::size_t>(rank));
  }
};

/// The steps on encoded messages.
struct EncodedSteps {
  std::function<Result<>(int child, std::span<const std::byte> report)> join;
  std::function<Bytes()> report;          ///< report of this rank and all ranks below it
  std::function<Result<Bytes>()> decide;  ///< the answer
  std::function<Result<Bytes>(int first, int end, std::span<const std::byte> answer)> part;
};
Result<Bytes> consult(mpi::Tree& tree, const Manner& manner, const EncodedSteps& steps);

template <class Report, class Answer>
struct Steps {
  /// Adds the report of the ranks below a child. Called in the order of their ranks. May be empty.
  std::function<void(Report& mine, int child, Report theirs)> join;
  /// On the root: the answer to the reports of all ranks.
  std::function<Result<Answer>(Report all)> decide;
  /// The part of the answer for the ranks from `first` to `end` - 1; empty: all of it.
  std::function<Answer(int first, int end, const Answer& answer)> part;
};

/// Collective. The answer, or its part for this rank and the ranks below it. Fails on all ranks
/// alike: with the root's error, or if a rank does not answer, with the lowest such rank.
template <class Report, class Answer>
Result<Answer> consult(mpi::Tree& tree, const Manner& manner, Report mine,
                       const Steps<Report, Answer>& steps) {
  std::optional<Answer> answer;
  const auto known = [&](std::span<const std::byte> bytes) -> Result<> {
    if (answer) return {};
    AFTERBAY_TRY_ASSIGN(answer, wire::decode<Answer>(bytes));
    return {};
  };
  EncodedSteps encoded;
  encoded.join = [&](int child, std::span<const std::byte> bytes) -> Result<> {
    AFTERBAY_TRY_ASSIGN(Report theirs, wire::decode<Report>(bytes));
    if (steps.join) steps.join(mine, child, std::move(theirs));
    return {};
  };
  encoded.report = [&] { return wire::encode(mine); };
  encoded.decide = [&]() -> Result<Bytes> {
    AFTERBAY_TRY_ASSIGN(answer, steps.decide(std::move(mine)));
    return steps.part ? Bytes() : wire::encode(*answer);
  };
  if (steps.part)
    encoded.part = [&](int first, int end, std::span<const std::byte> bytes) -> Result<Bytes> {
      AFTERBAY_TRY(known(bytes));
      return wire::encode(steps.part(first, end, *answer));
    };
  AFTERBAY_TRY_ASSIGN(const Bytes bytes, consult(tree, manner, encoded));
  AFTERBAY_TRY(known(bytes));
  return *std::move(answer);
}

/// Messages of a gather hold about as many bytes at most.
inline constexpr std::size_t gather_bytes = std::size_t{4} << 20;

/// Takes the bytes of one rank.
using TakeBytes = std::function<Result<>(int rank, Bytes bytes)>;

/// Collective, at most once per communicator. Passes the bytes of all ranks to `take` on the root,
/// in rank order, each as soon as it and all lower ranks are complete: the root keeps only bytes
/// that arrived before those of a lower rank. Bytes can have any length: they travel in parts. A
/// rank waits for no other rank but the root, and for the root only while its bytes are more than
/// MPI takes at once: others may have failed.
Result<> gather(mpi::Tree& tree, const Manner& manner, std::span<const std::byte> own, const TakeBytes& take,
                std::size_t message_bytes = gather_bytes);

}  // namespace afterbay::transport::network
