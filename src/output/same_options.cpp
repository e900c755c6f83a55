// SPDX-License-Identifier: Apache-2.0
#include "output/same_options.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "output/agreement.hpp"
#include "session/state.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

/// What ranks have given, in the order of `names_of_options`.
struct GivenOptions {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::given_options);
  std::int32_t rank = 0;           ///< in the session: the lowest of the ranks that report
  std::int32_t other_rank = 0;     ///< the first one that differs from it
  std::vector<std::string> texts;  ///< those of `rank`
  std::string difference;          ///< that of `other_rank`; empty: there is none
  template <class A>
  void fields(A& a) {
    a(rank, other_rank, texts, difference);
  }
};

struct OptionsAgree {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::options_agree);
  template <class A>
  void fields(A&) {}
};

constexpr const char* names_of_options[] = {"calendar", "start", "reference", "step", "member", "resume"};

std::vector<std::string> texts_of_options(const ModelTime& time, const OutputOptions& options) {
  return {text_of_rules(time.calendar),
          time.calendar.text(time.start),
          time.calendar.text(time.reference),
          time.step.text(),
          options.member ? std::to_string(*options.member) : "none",
          options.resume.empty() ? "none" : options.resume};
}

void join(GivenOptions& mine, const GivenOptions& theirs) {
  if (!mine.difference.empty()) return;
  const auto [here, there] = std::ranges::mismatch(mine.texts, theirs.texts);
  if (here != mine.texts.end()) {
    mine.other_rank = theirs.rank;
    mine.difference = fmt::format("rank {0} gives the {2} \"{3}\", but rank {1} gives \"{4}\"", mine.rank,
                                  theirs.rank, names_of_options[here - mine.texts.begin()], *here, *there);
  } else if (!theirs.difference.empty()) {
    mine.other_rank = theirs.other_rank;
    mine.difference = theirs.difference;
  }
}

OptionsAgree decide(const GivenOptions& all) {
  if (!all.difference.empty())
    throw Failure(make_error(ErrorCode::conflict,
                             "the options of the output differ: {}; all model ranks must give the same",
                             all.difference)
                      .at_rank(all.other_rank));
  return {};
}

}  // namespace

void check_same_options(Session& session, const ModelTime& time, const OutputOptions& options) {
  Session::State& of = session.state();
  if (of.group == nullptr) return;
  const GivenOptions mine{of.model_side().identity().session_rank, 0, texts_of_options(time, options), {}};
  agree<GivenOptions, OptionsAgree>(session, "the options of the output", mine,
                                    {.join = join, .decide = decide});
}

}  // namespace afterbay::output
