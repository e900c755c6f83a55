// SPDX-License-Identifier: Apache-2.0
// Exchanges over a tree, and the messages that opening a session costs.
#include <gmock/gmock.h>
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mpi/tree.hpp"
#include "ranks/mpi_calls.hpp"
#include "ranks/session_run.hpp"
#include "transport/mpi/consult.hpp"

namespace afterbay::testing {
namespace {

using namespace std::chrono_literals;
using mpi::Bytes;
using mpi::Communicator;
using mpi::Tree;
using ::testing::HasSubstr;
using transport::network::consult;
using transport::network::Manner;
using transport::network::Steps;

struct Ranks {
  static constexpr wire::Kind kind{1};
  std::vector<int> ranks;
  template <class A>
  void fields(A& a) {
    a(ranks);
  }
};

/// ceil(log2(ranks))
std::uint64_t levels() { return std::bit_width(static_cast<unsigned>(size()) - 1); }

Steps<Ranks, Ranks> collecting() {
  Steps<Ranks, Ranks> steps;
  steps.join = [](Ranks& mine, int, const Ranks& theirs) {
    mine.ranks.insert(mine.ranks.end(), theirs.ranks.begin(), theirs.ranks.end());
  };
  steps.decide = [](Ranks all) -> Result<Ranks> { return all; };
  return steps;
}

void consult_everybody() {
  auto duplicate = Communicator::duplicate(comm(), 20s);
  ASSERT_TRUE(duplicate);
  Tree tree(*duplicate);
  std::vector<int> all(static_cast<std::size_t>(size()));
  std::iota(all.begin(), all.end(), 0);
  const Manner manner{20s, "a test ran"};
  const auto same = consult(tree, manner, Ranks{{rank()}}, collecting());
  ASSERT_TRUE(same) << same.error().text();
  EXPECT_EQ(same->ranks, all) << "in rank order";
  EXPECT_LE(tree.messages(), 2 * (levels() + 1));

  auto steps = collecting();
  steps.part = [](int first, int end, const Ranks& answer) {
    Ranks part;
    for (const int r : answer.ranks)
      if (first <= r && r < end) part.ranks.push_back(r);
    return part;
  };
  const auto own = consult(tree, manner, Ranks{{rank()}}, steps);
  ASSERT_TRUE(own) << own.error().text();
  EXPECT_EQ(own->ranks.front(), rank());
  EXPECT_EQ(static_cast<int>(own->ranks.size()), tree.branch().end - rank());
  barrier();
}

RANK_TEST(Tree, one_rank_consults_itself, 1) { consult_everybody(); }
RANK_TEST(Tree, two_ranks_get_the_same_answer, 2) { consult_everybody(); }
RANK_TEST(Tree, five_ranks_get_the_same_answer, 5) { consult_everybody(); }
RANK_TEST(Tree, eight_ranks_get_the_same_answer, 8) { consult_everybody(); }
RANK_TEST(Tree, sixteen_ranks_get_the_same_answer, 16) { consult_everybody(); }

RANK_TEST(Tree, bytes_of_any_length_are_gathered_in_parts, 6) {
  auto duplicate = Communicator::duplicate(comm(), 20s);
  ASSERT_TRUE(duplicate);
  Tree tree(*duplicate);
  const auto bytes_of = [](int r) {
    Bytes bytes(static_cast<std::size_t>(r) * 3001);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>((i * 7 + static_cast<std::size_t>(r)) % 251);
    return bytes;
  };
  constexpr std::size_t message_bytes = 6 * 1024;
  std::vector<Bytes> all;
  const auto take = [&all](int from, Bytes bytes) -> Result<> {
    EXPECT_EQ(static_cast<std::size_t>(from), all.size()) << "in rank order";
    all.push_back(std::move(bytes));
    return {};
  };
  const auto gathered =
      transport::network::gather(tree, {20s, "a test ran"}, bytes_of(rank()), take, message_bytes);
  ASSERT_TRUE(gathered) << gathered.error().text();
  EXPECT_EQ(all.size(), rank() == 0 ? 6U : 0U);
  for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], bytes_of(static_cast<int>(r)));
  if (rank() % 2 == 1) {  // no rank is below it
    const std::size_t parts = (bytes_of(rank()).size() + message_bytes - 1) / message_bytes;
    EXPECT_EQ(tree.messages(), parts);
  }
  barrier();
}

/// The root looked for a message of each rank by itself, and kept all bytes until the last rank had
/// sent its own.
RANK_TEST(Tree, gathered_bytes_are_passed_on_as_they_arrive_and_looked_for_with_one_probe, 6) {
  auto duplicate = Communicator::duplicate(comm(), 20s);
  ASSERT_TRUE(duplicate);
  Tree tree(*duplicate);
  int go = 0;
  // The last rank sends nothing before the root has passed on the bytes of all others.
  if (rank() == 5) MPI_Recv(&go, 1, MPI_INT, 0, 0, comm(), MPI_STATUS_IGNORE);
  const int before = mpi_calls().probes_of_one;
  int taken = 0;
  const auto take = [&](int from, const Bytes& bytes) -> Result<> {
    EXPECT_EQ(from, taken++);
    EXPECT_EQ(bytes, Bytes(1, static_cast<std::byte>(from)));
    if (from == 4) MPI_Send(&go, 1, MPI_INT, 5, 0, comm());
    return {};
  };
  const auto gathered =
      transport::network::gather(tree, {20s, "a test ran"}, Bytes(1, static_cast<std::byte>(rank())), take);
  ASSERT_TRUE(gathered) << gathered.error().text();
  EXPECT_EQ(taken, rank() == 0 ? 6 : 0);
  EXPECT_EQ(mpi_calls().probes_of_one, before);
  barrier();
}

RANK_TEST(Tree, a_root_that_cannot_use_the_bytes_of_a_rank_takes_those_of_the_others, 4) {
  auto duplicate = Communicator::duplicate(comm(), 20s);
  ASSERT_TRUE(duplicate);
  Tree tree(*duplicate);
  const auto take = [](int from, const Bytes&) -> Result<> {
    if (from == 1) return fail(ErrorCode::conflict, "no");
    EXPECT_EQ(from, 0);
    return {};
  };
  const auto gathered = transport::network::gather(tree, {20s, "a test ran"}, Bytes(1 << 20), take);
  EXPECT_EQ(gathered.has_value(), rank() != 0);
  if (rank() == 0 && !gathered) {
    EXPECT_EQ(gathered.error().message, "no");
  }
  barrier();
}

RANK_TEST(Tree, all_ranks_get_the_error_of_the_root, 5) {
  auto duplicate = Communicator::duplicate(comm(), 20s);
  ASSERT_TRUE(duplicate);
  Tree tree(*duplicate);
  auto steps = collecting();
  steps.decide = [](const Ranks&) -> Result<Ranks> {
    return fail(make_error(ErrorCode::conflict, "no").at_rank(3).in_file("f").add("while testing"));
  };
  const auto answer = consult(tree, {20s, "a test ran"}, Ranks{{rank()}}, steps);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::conflict);
  EXPECT_EQ(answer.error().rank, 3);
  EXPECT_EQ(answer.error().file, "f");
  EXPECT_EQ(answer.error().context.size(), 1U);
  barrier();
}

/// Rank 5 answers to rank 4, and rank 4 to rank 0. Only rank 4 waits for a short time: a rank that
/// is held up may begin later than the others, or answer later.
RANK_TEST(Tree, all_ranks_learn_which_rank_does_not_answer, 8) {
  auto duplicate = Communicator::duplicate(comm(), 20s);
  ASSERT_TRUE(duplicate);
  duplicate->leave_behind();
  if (rank() != 5) {
    Tree tree(*duplicate);
    const auto begin = std::chrono::steady_clock::now();
    const Manner manner{rank() == 4 ? 800ms : 60s, "a test ran"};
    const auto answer = consult(tree, manner, Ranks{{rank()}}, collecting());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::timed_out);
    EXPECT_EQ(answer.error().rank, 5) << answer.error().text();
    EXPECT_THAT(answer.error().message, HasSubstr("rank 5 did not answer within 800 ms while a test ran"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 50s) << "informed, not timed out by itself";
  }
  barrier();
}

/// So that the rank that is silent is named first by the rank that waits for it.
RANK_TEST(Tree, a_rank_waits_longer_for_children_that_have_children, 8) {
  auto duplicate = Communicator::duplicate(comm(), 20s);
  ASSERT_TRUE(duplicate);
  duplicate->leave_behind();
  if (rank() == 0) {
    Tree tree(*duplicate);
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = consult(tree, {800ms, "a test ran"}, Ranks{{0}}, collecting());
    ASSERT_FALSE(answer);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 900ms);
  }
  barrier();
}

RANK_TEST(Tree, a_report_that_cannot_be_read_names_its_rank, 4) {
  auto duplicate = Communicator::duplicate(comm(), 20s);
  ASSERT_TRUE(duplicate);
  Tree tree(*duplicate);
  transport::network::EncodedSteps steps;
  steps.join = [](int, std::span<const std::byte> report) -> Result<> {
    if (report.size() == 1) return {};
    return fail(ErrorCode::internal, "of 2 bytes");
  };
  steps.report = [] { return Bytes(rank() == 3 ? 2 : 1); };
  steps.decide = []() -> Result<Bytes> { return Bytes(1); };
  const auto answer = consult(tree, {20s, "a test ran"}, steps);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().rank, 3);
  EXPECT_THAT(answer.error().message, HasSubstr("do all ranks use the same version of the library?"));
  barrier();
}

/// The bound of the issue that introduced the tree is 40 x log2(N) messages per rank.
void expect_few_messages(const SessionOptions& options) {
  barrier();
  MpiCalls& calls = mpi_calls();
  const int before = calls.sends + calls.receives;
  calls.destinations.reset();
  Session session = open_session(comm(), options);
  const int messages = calls.sends + calls.receives - before;
  const std::size_t neighbours = calls.destinations.count();
  std::printf("rank %d of %d: %d messages, sent to %zu ranks\n", rank(), size(), messages, neighbours);
  EXPECT_EQ(calls.all_to_all, 0);
  EXPECT_LE(messages, 10 * static_cast<int>(levels() + 1));
  EXPECT_LE(neighbours, levels() + 1);
  if (session.is_server())
    session.serve();
  else
    session.finalize();
  barrier();
}

RANK_TEST(StartMessages, two_ranks, 2) { expect_few_messages(small_session(1)); }
RANK_TEST(StartMessages, eight_ranks_with_two_servers, 8) {
  expect_few_messages(small_session(2).set("placement", "slab"));
}
RANK_TEST(StartMessages, sixteen_ranks_on_declared_nodes, 16) {
  expect_few_messages(small_session(2).set("nodes", "0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3"));
}
RANK_TEST(StartMessages, tiered_on_two_nodes, 10) {
  expect_few_messages(small_session(2)
                          .set("topology", "tiered")
                          .set("memory.frontend", "128MiB")
                          .set("nodes", "0,0,0,0,0,1,1,1,1,1"));
}
RANK_TEST(StartMessages, inline_servers, 6) {
  expect_few_messages(small_session(0).set("nodes", "0,0,0,1,1,1"));
}

/// Settings of rank 5 and of rank 6 differ from those of rank 0, and from each other.
RANK_TEST(StartErrors, all_ranks_name_the_first_rank_with_different_settings, 8) {
  SessionOptions options = small_session(1);
  if (rank() >= 5) options.set("deadline", rank() == 5 ? "21s" : "22s");
  try {
    const Session session = open_session(comm(), options);
    ADD_FAILURE() << "opened with different settings";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::conflict);
    EXPECT_EQ(failure.error().rank, 5);
    EXPECT_THAT(failure.what(), HasSubstr("on rank 0 and"));
    EXPECT_THAT(failure.what(), HasSubstr("on rank 5"));
  }
  barrier();
}

/// An error of a lower rank comes before different settings of a higher one, and the reverse.
RANK_TEST(StartErrors, all_ranks_get_the_error_of_the_first_rank_at_fault, 7) {
  SessionOptions options = small_session(1);
  if (rank() == 3) options.set("no_such_setting", "1");
  if (rank() == 4) options.set("deadline", "22s");
  if (rank() == 6) options.set("no_such_setting", "2");
  try {
    const Session session = open_session(comm(), options);
    ADD_FAILURE() << "opened with an unknown setting";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().rank, 3) << failure.what();
    EXPECT_THAT(failure.what(), HasSubstr("no_such_setting"));
  }
  barrier();
}

}  // namespace
}  // namespace afterbay::testing
