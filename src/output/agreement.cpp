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

Result<std::vector<std::byte>> agree_encoded(Session& session, const std::string& subject,
                                             const EncodedAgreement& steps) {
  Session::State& of = session.state();
  const client::RankIdentity& identity = of.model_side().identity();
  if (of.group == nullptr && identity.model_size > 1)
    return fail(ErrorCode::bad_state, "{}: model ranks that are threads cannot look for points together",
                subject);
  if (of.group == nullptr) return steps.decide();
  Envelope mine{subject, identity.session_rank, std::nullopt, {}};
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
  return of.group->consult_models(question);
}

}  // namespace afterbay::output
