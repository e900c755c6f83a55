// SPDX-License-Identifier: Apache-2.0
#include "output/earlier_files.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/format_traits.hpp"
#include "output/agreement.hpp"
#include "output/other_writers.hpp"
#include "session/state.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

/// For each entry, the number of files of earlier runs: FileSeries::earlier_files.
struct Found {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::earlier_files);
  std::vector<std::int64_t> files;
  std::string refusal;  ///< a session that runs has written one of them; empty: none has
  template <class A>
  void fields(A& a) {
    a(files, refusal);
  }
};

struct Question {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::earlier_files_question);
  template <class A>
  void fields(A&) {}
};

/// Empty if the files do not get names.
std::string first_path(const FileSeries& files) {
  const PartNames& names = files.names();
  if (!traits_of(names.store()).publishes) return {};
  return files.target().path(FileName{.name = names.of(names.first(1).front())});
}

Found found_by_this_rank(const Plan& plan) {
  Found found;
  std::vector<OtherWriters::Wanted> wanted;
  for (const auto& file : plan.files) {
    found.files.push_back(file->earlier_files());
    if (std::string path = first_path(*file); !path.empty())
      wanted.push_back({&file->file(), std::move(path)});
  }
  if (const OtherWriters* const others = plan.taken->others())
    if (const auto refusal = others->living_writer(wanted)) found.refusal = refusal->message;
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

void look_for_other_writers(Session& session, Plan& plan) {
  const Session::State& of = session.state();
  if (of.model->identity().model_rank != 0) return;
  OtherWriters others(of.name, of.config->journal.directory, Logger({of.name, "model", 0}, of.config->log));
  for (const auto& file : plan.files)
    if (const std::string path = first_path(*file); !path.empty()) others.watch(path);
  plan.taken->set_others(std::move(others));
}

void look_at_earlier_files(Session& session, Plan& plan) {
  const Found found = find(session, plan);
  if (!found.refusal.empty()) throw Failure(Error(ErrorCode::conflict, found.refusal));
  for (std::size_t f = 0; f < plan.files.size(); ++f) plan.files[f]->begin_after(found.files[f]);
}

}  // namespace afterbay::output
