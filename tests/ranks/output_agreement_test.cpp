// SPDX-License-Identifier: Apache-2.0
// Model ranks that look for points together: all get one answer, or one error, and none waits for
// ever.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "afterbay/mpi.hpp"
#include "output/agreement.hpp"
#include "ranks/session_run.hpp"

namespace afterbay::output {
namespace {

using afterbay::testing::run_session;
using afterbay::testing::small_session;

struct Numbers {
  static constexpr wire::Kind kind{299};
  std::vector<std::int64_t> all;
  template <class A>
  void fields(A& a) {
    a(all);
  }
};

AgreementSteps<Numbers, Numbers> appending() {
  AgreementSteps<Numbers, Numbers> steps;
  steps.join = [](Numbers& mine, const Numbers& theirs) {
    mine.all.insert(mine.all.end(), theirs.all.begin(), theirs.all.end());
  };
  steps.decide = [](Numbers all) { return all; };
  return steps;
}

Error refused(Session& session, const std::string& subject, const AgreementSteps<Numbers, Numbers>& steps) {
  try {
    static_cast<void>(agree(session, subject, Numbers(), steps));
  } catch (const Failure& failure) {
    return failure.error();
  }
  return {ErrorCode::ok, "nothing was refused"};
}

void all_ranks_get_the_answer(const SessionOptions& options) {
  run_session(options, [](Session& session) {
    std::vector<std::int64_t> expected;
    for (int rank = 0; rank < session.model_size(); ++rank) expected.push_back(10 * rank);
    EXPECT_EQ(agree(session, "the numbers", Numbers{{10 * session.model_rank()}}, appending()).all, expected);
    // Each rank gets its own part.
    AgreementSteps<Numbers, Numbers> steps = appending();
    steps.part = [](int first, int end, const Numbers& answer) {
      Numbers part;
      for (const std::int64_t number : answer.all)
        if (number >= 10 * first && number < 10 * end) part.all.push_back(number);
      return part;
    };
    const Numbers part = agree(session, "parts", Numbers{{10 * session.model_rank()}}, steps);
    EXPECT_NE(std::ranges::find(part.all, 10 * session.model_rank()), part.all.end());
    session.start();
  });
}

}  // namespace
}  // namespace afterbay::output

namespace afterbay::testing {
namespace {

using namespace afterbay::output;

RANK_TEST(OutputAgreement, all_ranks_get_the_answer, 6) { all_ranks_get_the_answer(small_session(1)); }
RANK_TEST(OutputAgreement, one_rank_answers_itself, 2) { all_ranks_get_the_answer(small_session(1)); }
RANK_TEST(OutputAgreement, works_inline, 3) { all_ranks_get_the_answer(small_session(0)); }

RANK_TEST(OutputAgreement, an_error_of_the_first_rank_is_that_of_all, 4) {
  run_session(small_session(1), [](Session& session) {
    AgreementSteps<Numbers, Numbers> steps = appending();
    steps.decide = [](const Numbers& all) -> Numbers {
      refuse(ErrorCode::invalid_argument, "{} numbers", all.all.size());
    };
    const Error error = refused(session, "the numbers", steps);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(error.message, "0 numbers");
    EXPECT_EQ(agree(session, "the numbers", Numbers{{1}}, appending()).all.size(), 3U)
        << "the session continues";
    session.start();
  });
}

RANK_TEST(OutputAgreement, ranks_that_look_for_different_things_all_fail, 5) {
  run_session(small_session(1), [](Session& session) {
    const Error error =
        refused(session, session.model_rank() == 2 ? "the box 'b'" : "the box 'a'", appending());
    EXPECT_EQ(error.code, ErrorCode::conflict);
    // The ranks that find it out are neighbours in the tree of ranks.
    EXPECT_NE(error.message.find("rank 2 looks for the box 'b', but rank 3 for the box 'a'"),
              std::string::npos)
        << error.message;
    session.start();
  });
}

RANK_TEST(OutputAgreement, a_rank_that_does_not_come_is_named_within_the_deadline, 5) {
  run_session(small_session(1).set("deadline", "8s"), [](Session& session) {
    MPI_Barrier(model_comm(session));
    EXPECT_EQ(agree(session, "the numbers", Numbers{{1}}, appending()).all.size(), 4U);
    if (session.model_rank() != 3) {
      const Error error = refused(session, "the box 'a'", appending());
      EXPECT_EQ(error.code, ErrorCode::timed_out);
      EXPECT_NE(error.message.find("while looking for the box 'a'"), std::string::npos) << error.message;
      EXPECT_EQ(refused(session, "the box 'b'", appending()).code, ErrorCode::timed_out);
    }
    MPI_Barrier(model_comm(session));
    session.start();
  });
}

}  // namespace
}  // namespace afterbay::testing
