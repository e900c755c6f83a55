// SPDX-License-Identifier: Apache-2.0
#include "output/agreement.hpp"

#include <optional>

#include "session/state.hpp"
#include "wire/collective_messages.hpp"
#include "wire/data_fields.hpp"

namespace afterbay::output {

namespace {

/// A report on its way to the first rank.
struct Envelope {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::agreement_envelope);
  std::string subject;
  std::int32_t rank = 0;         ///< in the session: the lowest of the ranks that report
  std::optional<Error> problem;  ///< ranks look for different things
  std::vector<std::byte> report;
  template <class A>
  void fields(A& a) {
    a(subject, rank, problem, report);
  }
};

Error different(const Envelope& mine, const Envelope& theirs) {
  return make_error(ErrorCode::conflict,
                    "rank {} looks for {}, but rank {} for {}: all ranks must make the same definitions and "
                    "read the same description",
                    mine.rank, mine.subject, theirs.rank, theirs.subject)
      .at_rank(theirs.rank);
}

}  // namespace

namespace {

/// `problem`: of this rank, whatever the others look for.
Result<std::vector<std::byte>> consult(Session& session, const std::string& subject,
                                       const EncodedAgreement& steps, std::optional<Error> problem) {
  Session::State& of = session.state();
  const client::RankIdentity& identity = of.model_side().identity();
  Envelope mine{subject, identity.session_rank, std::move(problem), {}};
  session::Group::Consultation question;
  const std::string what = "looking for " + subject;
  question.what = what.c_str();
  question.join = [&](std::span<const std::byte> bytes) -> Result<> {
    AFTERBAY_TRY_ASSIGN(Envelope theirs, wire::decode<Envelope>(bytes));
    if (mine.problem) return {};
    if (theirs.problem || theirs.subject != mine.subject) {
      mine.problem = theirs.problem ? std::move(theirs.problem) : different(mine, theirs);
      return {};
    }
    return steps.join(theirs.report);
  };
  question.report = [&] {
    if (!mine.problem) mine.report = steps.report();
    return wire::encode(mine);
  };
  question.decide = [&]() -> Result<std::vector<std::byte>> {
    if (mine.problem) return fail(*mine.problem);
    return steps.decide();
  };
  question.part = steps.part;
  auto answer = of.group->consult_models(question);
  of.output.agreed_to_fail = !answer;
  return answer;
}

/// What ranks ask that have no question.
EncodedAgreement nothing_to_ask() {
  EncodedAgreement steps;
  steps.join = [](std::span<const std::byte>) -> Result<> { return {}; };
  steps.report = [] { return std::vector<std::byte>(); };
  steps.decide = [] { return Result<std::vector<std::byte>>(std::vector<std::byte>()); };
  return steps;
}

}  // namespace

Result<std::vector<std::byte>> agree_encoded(Session& session, const std::string& subject,
                                             const EncodedAgreement& steps) {
  Session::State& of = session.state();
  if (of.group == nullptr && of.model_side().identity().model_size > 1)
    return fail(ErrorCode::bad_state, "{}: model ranks that are threads cannot look for points together",
                subject);
  if (of.group == nullptr) return steps.decide();
  return consult(session, subject, steps, std::nullopt);
}

void await_all(Session& session, const std::string& subject) {
  if (session.state().group == nullptr) return;
  static_cast<void>(must(consult(session, subject, nothing_to_ask(), std::nullopt)));
}

Error error_of_all(Session& session, const Error& mine) {
  const Session::State& of = session.state();
  if (of.group == nullptr || of.model->failure() || of.output.agreed_to_fail) return mine;
  const auto all = consult(session, "an error", nothing_to_ask(), mine);
  return all ? mine : all.error();
}

}  // namespace afterbay::output
