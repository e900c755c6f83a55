// SPDX-License-Identifier: Apache-2.0
#include "output/earlier_files.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "model/format_traits.hpp"
#include "output/agreement.hpp"
#include "output/other_writers.hpp"
#include "session/facade.hpp"
#include "session/state.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

struct Found {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::earlier_files);
  /// For each entry, the number of files of earlier runs: FileSeries::earlier_files. For one file:
  /// 1 if it exists.
  std::vector<std::int64_t> files;
  std::string refusal;  ///< another session that runs has written one of them; empty: none has
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
  if (const OtherWriters* const others = plan.taken->others()) {
    auto refusal = others->living_writer(wanted);
    for (std::size_t f = 0; f < plan.files.size() && !refusal; ++f)
      refusal = plan.files[f]->refusal_of_writer(found.files[f]);
    if (refusal) found.refusal = refusal->message;
  }
  return found;
}

/// The first rank looks, so that thousands of ranks do not, and that all know the same. Throws what
/// it refuses on all ranks.
Found find(Session& session, const std::string& subject, const std::function<Found()>& look) {
  Found found = session.state().group == nullptr
                    ? look()
                    : agree<Question, Found>(session, subject, {},
                                             {.join = [](Question&, const Question&) {},
                                              .decide = [&](const Question&) { return look(); }});
  if (!found.refusal.empty()) throw Failure(Error(ErrorCode::conflict, found.refusal));
  return found;
}

/// The servers tell the other ranks.
Error fail_on_all_ranks(Session& session, Error error) {
  constexpr std::chrono::milliseconds until_they_have{1000};
  const SessionCall model = call_of(session.state(), "open");
  error.at_rank(model->identity().session_rank);
  model->puts().joint().stop(error);
  model->abandon("the session has failed", &error, false, true);
  static_cast<void>(model->await_failure(until_they_have));
  return error;
}

}  // namespace

void look_for_other_writers(Session& session, Plan& plan) {
  const Session::State& of = session.state();
  if (of.model->identity().model_rank != 0) return;
  OtherWriters others(of.name, of.config->journal.directory, Logger({of.name, "model", 0}, of.config->log),
                      [&session](Error error) { return fail_on_all_ranks(session, std::move(error)); });
  for (const auto& file : plan.files)
    if (const std::string path = first_path(*file); !path.empty()) others.watch(path);
  plan.taken->set_others(std::move(others));
}

void look_at_earlier_files(Session& session, Plan& plan) {
  const Found found = find(session, "files of earlier runs", [&] { return found_by_this_rank(plan); });
  for (std::size_t f = 0; f < plan.files.size(); ++f) plan.files[f]->begin_after(found.files[f]);
}

bool is_there(Session& session, const std::string& path,
              const std::function<std::optional<Error>()>& refusal) {
  // Servers in the model's processes do not work during an agreement: no rank may need them then.
  must(call_of(session.state(), "open")->waits().for_all("all ranks to open " + path));
  const auto look = [&] {
    std::error_code error;
    Found found{{std::filesystem::exists(path, error) ? 1 : 0}, {}};
    if (const auto refused = refusal()) found.refusal = refused->message;
    return found;
  };
  return find(session, "the file " + path, look).files.front() != 0;
}

}  // namespace afterbay::output
