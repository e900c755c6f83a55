// SPDX-License-Identifier: Apache-2.0
#include "output/described_epochs.hpp"

#include <algorithm>
#include <filesystem>

#include "base/log.hpp"
#include "describe/name_template.hpp"
#include "model/template_text.hpp"
#include "output/refuse.hpp"
#include "session/state.hpp"

namespace afterbay::output {

namespace {

constexpr std::size_t states_kept = 2;
/// Number of names that the next state must not have: the states that are durable differ from rank
/// to rank.
constexpr std::size_t most_recent = 8;

std::string with_digits(std::int64_t number, const describe::NameToken& token) {
  const int digits = token.format.empty() ? 0 : must(model::template_digits(token.name, token.format));
  return fmt::format("{:0{}}", number, digits);
}

}  // namespace

struct DescribedEpochs::Kept {
  struct One {
    One(std::string where, std::vector<std::string> all) : path(std::move(where)), files(std::move(all)) {}
    std::string path;                ///< absolute
    std::vector<std::string> files;  ///< likewise; `path` is the last
    int awaited = 2;                 ///< the file and the epoch, as far as they are not durable
  };

  Kept(Logger to, bool first) : logger(std::move(to)), removes(first) {}

  /// Forgets those that are older than the last `states_kept` that are durable with their epochs;
  /// the first rank removes their files.
  void remove_older() {
    std::size_t durable = 0;
    auto newest = states.rbegin();
    while (newest != states.rend() && durable < states_kept) {
      if ((*newest)->awaited == 0) ++durable;
      ++newest;
    }
    const auto end = newest.base();
    for (auto it = states.begin(); removes && it != end; ++it)
      for (const std::string& file : (*it)->files) {
        std::error_code error;
        std::filesystem::remove(file, error);
        if (error) logger.warning("the state {}, which is older, was not removed: {}", file, error.message());
      }
    states.erase(states.begin(), end);
  }

  Logger logger;
  bool removes;
  std::vector<std::shared_ptr<One>> states;  ///< the newest is the last
};

DescribedEpochs::DescribedEpochs(Session& session, const describe::Description& description,
                                 const ModelTime& time, std::optional<std::int64_t> member)
    : session_(session), description_(description), time_(time), member_(member) {
  const Session::State& of = session.state();
  kept_ =
      std::make_shared<Kept>(Logger({of.name, "model", of.model->identity().session_rank}, of.config->log),
                             of.model->identity().model_rank == 0);
  if (description.state.empty() || member) return;
  for (const describe::NameToken& token : must(describe::state_name_tokens(description.state)))
    if (token.name == "member")
      refuse_at(description.state_at, ErrorCode::invalid_argument,
                "state: the name contains {{member}}, but the model has not given the number of its member");
}

void DescribedEpochs::add(Clock clock, const std::string& file) {
  within_days_ = within_days_ || clock.every().seconds != 0 || clock.every().nanoseconds != 0;
  if (!description_.state.empty()) check_names(clock);
  clocks_.push_back({std::move(clock), file});
}

void DescribedEpochs::check_names(Clock clock) {
  constexpr int epochs = 40;
  const bool has_step = std::ranges::any_of(must(describe::state_name_tokens(description_.state)),
                                            [](const auto& token) { return token.name == "step"; });
  std::string last;
  Date begin = time_.start;
  for (std::int64_t i = 1; i <= epochs; ++i) {
    const Date end = time_.calendar.interval(begin, clock.every(), clock.alignment()).end;
    std::string next = name(i, end);
    if (next == last)
      refuse_at(
          description_.state_at, ErrorCode::conflict,
          "state: the states of two epochs, one after the other, would have the name \"{}\": give {{date}} "
          "a finer format, or add {{step}}",
          next);
    if (!has_step) first_.push_back(next);
    last = std::move(next);
    begin = end;
  }
}

void DescribedEpochs::check_paths(const TakenPaths& known) const {
  for (const std::string& path : first_)
    if (const auto owner = known.owner(path))
      refuse_at(
          description_.state_at, ErrorCode::conflict,
          "state: a state would have the name \"{}\", which {} has: give files and states different names",
          path, owner->text());
}

std::string DescribedEpochs::name(std::int64_t step, const Date& date) const {
  std::string name;
  for (const model::TemplatePiece& piece : must(model::split_template(description_.state))) {
    if (!piece.is_token) {
      name += piece.text;
      continue;
    }
    const describe::NameToken token = must(describe::state_name_tokens("{" + piece.text + "}")).front();
    const std::string_view usual = within_days_ ? "%Y-%m-%dT%H%M%S" : "%Y-%m-%d";
    if (token.name == "case") name += description_.case_name;
    if (token.name == "member") name += with_digits(member_.value(), token);
    if (token.name == "step") name += with_digits(step, token);
    if (token.name == "date")
      name += time_.calendar.format(date, token.format.empty() ? usual : std::string_view(token.format));
  }
  constexpr std::string_view suffix = ".nc";
  return name.ends_with(suffix) ? name : name + std::string(suffix);
}

/// Whether the step reaches the end of a period, or passes one.
bool DescribedEpochs::ends_epoch(Clock& clock, std::int64_t step) const {
  const Date now = time_.at(step);
  const Interval& period = clock.until(now);
  return period.end == now || (step > 0 && period.begin > time_.at(step - 1));
}

bool DescribedEpochs::is_due(std::int64_t step) {
  return std::ranges::any_of(clocks_, [&](OfFile& it) { return ends_epoch(it.clock, step); });
}

void DescribedEpochs::end_step(std::int64_t step, SavedState& saved) {
  const Date now = time_.at(step);
  std::vector<std::string> due;
  for (OfFile& it : clocks_)
    if (ends_epoch(it.clock, step)) due.push_back(it.file);
  if (due.empty()) return;
  if (description_.state.empty()) {
    for (const std::string& file : due) session_.epoch(fmt::format("{} {}", file, time_.calendar.text(now)));
    return;
  }
  // The epoch has the name of its state, so that who restores the files to it knows how to resume.
  const std::string path = name(step, now);
  if (std::ranges::find(recent_, path) != recent_.end())
    refuse_at(
        description_.state_at, ErrorCode::conflict,
        "state: the state of step {} would replace an earlier one, \"{}\", which may still be needed: give "
        "{{date}} a finer format, or add {{step}}",
        step, path);
  recent_.push_back(path);
  if (recent_.size() > most_recent) recent_.erase(recent_.begin());
  auto state = std::make_shared<Kept::One>(std::filesystem::absolute(path).string(), saved.files_of(path));
  std::erase_if(kept_->states, [&](const auto& it) { return it->path == state->path; });
  kept_->states.push_back(state);
  const Ticket file = saved.write_at_epoch(path, step);
  const Ticket epoch = session_.epoch(path);
  const auto durable = [kept = kept_, state] {
    if (--state->awaited == 0) kept->remove_older();
  };
  session_.on_complete(file, durable);
  session_.on_complete(epoch, durable);
}

}  // namespace afterbay::output
