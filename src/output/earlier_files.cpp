// SPDX-License-Identifier: Apache-2.0
#include "output/earlier_files.hpp"

#include <cstdint>
#include <vector>

#include "output/agreement.hpp"
#include "session/state.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

/// Number of files of earlier runs for each entry: FileSeries::earlier_files.
struct Found {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::earlier_files);
  std::vector<std::int64_t> files;
  template <class A>
  void fields(A& a) {
    a(files);
  }
};

struct Question {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::earlier_files_question);
  template <class A>
  void fields(A&) {}
};

Found found_by_this_rank(const Plan& plan) {
  Found found;
  for (const auto& file : plan.files) found.files.push_back(file->earlier_files());
  return found;
}

/// The first rank looks, so that thousands of ranks do not, and that all know the same.
Found find(Session& session, const Plan& plan) {
  if (session.state().group == nullptr) return found_by_this_rank(plan);
  return agree<Question, Found>(session, "files of earlier runs", {},
                                {.join = [](Question&, const Question&) {},
                                 .decide = [&](const Question&) { return found_by_this_rank(plan); }});
}

}  // namespace

void look_at_earlier_files(Session& session, Plan& plan) {
  const Found found = find(session, plan);
  for (std::size_t f = 0; f < plan.files.size(); ++f) plan.files[f]->begin_after(found.files[f]);
}

}  // namespace afterbay::output
