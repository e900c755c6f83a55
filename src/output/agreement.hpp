// SPDX-License-Identifier: Apache-2.0
// Agreement: all model ranks learn what follows from the points that they hold together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "afterbay/session.hpp"
#include "output/refuse.hpp"
#include "wire/archive.hpp"

namespace afterbay::output {

/// The steps on encoded reports and answers. See session::Group::Consultation.
struct EncodedAgreement {
  std::function<Result<>(std::span<const std::byte> theirs)> join;
  std::function<std::vector<std::byte>()> report;
  std::function<Result<std::vector<std::byte>>()> decide;
  std::function<Result<std::vector<std::byte>>(int first, int end, std::span<const std::byte> answer)> part =
      {};
};

/// Collective over the model ranks; waits, at most for the session's deadline. The answer is that
/// of the first rank; if it fails, it fails with the same error on all ranks. `subject`: "the
/// points of ...", for messages. If ranks have different ones, all of them fail.
Result<std::vector<std::byte>> agree_encoded(Session& session, const std::string& subject,
                                             const EncodedAgreement& steps);

/// Returns when all model ranks have called it. Throws on all ranks the error of those that call
/// error_of_all instead.
void await_all(Session& session, const std::string& subject);
/// On ranks that fail while the others may go on, if all of those come to another agreement: they
/// fail there. Returns the error of all, which is that of the lowest rank that has one. Does not
/// wait if all ranks have failed together, or the session has.
[[nodiscard]] Error error_of_all(Session& session, const Error& mine);

template <class Report, class Answer>
struct AgreementSteps {
  /// Adds the report of higher ranks. Called in the order of the ranks.
  std::function<void(Report& mine, Report theirs)> join;
  /// Called on the first rank. Throws Failure.
  std::function<Answer(Report all)> decide;
  /// What the model ranks from `first` to `end` - 1 need of the answer. Empty: all of it.
  std::function<Answer(int first, int end, const Answer& answer)> part = {};
};

/// The same for messages. Throws Failure.
template <class Report, class Answer>
Answer agree(Session& session, const std::string& subject, Report mine,
             const AgreementSteps<Report, Answer>& steps) {
  EncodedAgreement encoded;
  encoded.join = [&](std::span<const std::byte> theirs) -> Result<> {
    AFTERBAY_TRY_ASSIGN(Report report, wire::decode<Report>(theirs));
    steps.join(mine, std::move(report));
    return {};
  };
  encoded.report = [&] { return wire::encode(mine); };
  encoded.decide = [&]() -> Result<std::vector<std::byte>> {
    try {
      return wire::encode(steps.decide(std::move(mine)));
    } catch (const Failure& failure) {
      return fail(failure.error());
    }
  };
  if (steps.part)
    encoded.part = [&](int first, int end,
                       std::span<const std::byte> bytes) -> Result<std::vector<std::byte>> {
      AFTERBAY_TRY_ASSIGN(const Answer answer, wire::decode<Answer>(bytes));
      return wire::encode(steps.part(first, end, answer));
    };
  return must(wire::decode<Answer>(must(agree_encoded(session, subject, encoded))));
}

}  // namespace afterbay::output
