// SPDX-License-Identifier: Apache-2.0
#include "output/differing_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/caller_terms.hpp"
#include "output/agreement.hpp"
#include "output/numbers.hpp"
#include "session/state.hpp"
#include "storage/structure/compare_schema.hpp"
#include "wire/collective_messages.hpp"
#include "wire/data_fields.hpp"

namespace afterbay::output {

namespace {

/// What ranks have found.
struct DifferentValues {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::different_values);
  std::vector<std::string> variables;  ///< names
  std::vector<std::string> sentences;  ///< one per variable
  std::optional<Error> problem;        ///< a rank could not read
  template <class A>
  void fields(A& a) {
    a(variables, sentences, problem);
  }

  void add(const std::string& variable, std::string sentence) {
    if (sentence.empty() || std::ranges::find(variables, variable) != variables.end()) return;
    variables.push_back(variable);
    sentences.push_back(std::move(sentence));
  }
};

/// How far values may be apart that were computed twice, as a share of the largest one.
double rounding_of(Type type) {
  constexpr double of_float = 1e-6;
  constexpr double of_double = 1e-12;
  if (type == Type::float32) return of_float;
  return type == Type::float64 ? of_double : 0;
}

std::string shown_number(Type type, double number) {
  return type == Type::float32 ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
}

/// The first value of this rank's part that differs by more than rounding, as a sentence.
std::string difference_of_part(const std::string& variable, int rank, const Values& wanted,
                               const Values& found) {
  if (wanted == found) return {};
  const std::vector<double> here = numbers_of(wanted);
  const std::vector<double> there = numbers_of(found);
  if (here.empty())
    return fmt::format("variable '{}': the characters of rank {} are not those in the file", variable, rank);
  double magnitude = 0;
  for (const double number : here)
    if (std::isfinite(number)) magnitude = std::max(magnitude, std::abs(number));
  const double rounding = rounding_of(wanted.type) * magnitude;
  const std::size_t bytes = size_of(wanted.type);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const bool equal =
        std::memcmp(wanted.bytes.data() + i * bytes, found.bytes.data() + i * bytes, bytes) == 0;
    if (equal || (rounding > 0 && std::abs(here[i] - there[i]) <= rounding)) continue;
    return fmt::format("variable '{}': value {} of rank {}: {} wanted, {} in the file", variable,
                       said_index(i), rank, shown_number(wanted.type, here[i]),
                       shown_number(wanted.type, there[i]));
  }
  return {};
}

class ValueComparison {
 public:
  ValueComparison(Session& session, InputFile& file)
      : session_(session),
        file_(file),
        rank_(session.state().model_side().identity().session_rank),
        is_alone_(session.state().group == nullptr) {}

  /// Reading is collective if servers run in the model's processes: ranks that read nothing of a
  /// variable ask for nothing.
  void constants(const Schema& wanted) {
    int reader = 0;
    for (const Variable& variable : wanted.variables) {
      if (variable.constant.empty()) continue;
      const bool reads = is_alone_ || reader == session_.model_rank();
      reader = (reader + 1) % session_.model_size();
      attempt([&] {
        const Values found = read(variable, reads);
        if (reads || variable.dimensions.empty())
          found_.add(variable.name, storage::value_difference(variable.name, variable.constant, found));
      });
    }
  }

  void distributed(const client::Collection& collection,
                   const std::vector<DistributedCoordinate>& coordinates) {
    const Schema& wanted = collection.schema();
    for (const DistributedCoordinate& own : coordinates)
      attempt([&] {
        const Variable* const variable = wanted.find_variable(own.name);
        const auto number = static_cast<std::uint32_t>(variable - wanted.variables.data());
        const client::Processing& processing = collection.processing();
        if (processing.has_stages(number) || processing.packing(number) != nullptr) return;
        const std::string& decomposition = variable->decomposition;
        if (!decomposition.empty() && may_repeat(decomposition)) return;
        // Without a decomposition, the first rank writes the values that all have.
        const bool reads = !decomposition.empty() || is_alone_ || session_.model_rank() == 0;
        Selection part = reads ? Selection{} : nothing_of(*variable);
        part.decomposition = decomposition;
        Values found = own.values;  // elements that belong to no point keep them
        file_.get_raw(own.name, part, found.bytes.data(), found.type, {});
        found_.add(own.name, difference_of_part(own.name, rank_, own.values, found));
      });
  }

  /// What all ranks have found.
  DifferentValues agreed() {
    const auto decide = [](DifferentValues all) {
      if (all.problem) throw Failure(*std::move(all.problem));
      return all;
    };
    if (is_alone_) return decide(std::move(found_));
    return agree<DifferentValues, DifferentValues>(
        session_, "coordinates of " + file_.path(), std::move(found_),
        {.join =
             [](DifferentValues& mine, DifferentValues theirs) {
               if (!mine.problem) mine.problem = std::move(theirs.problem);
               for (std::size_t i = 0; i < theirs.variables.size(); ++i)
                 mine.add(theirs.variables[i], std::move(theirs.sentences[i]));
             },
         .decide = decide});
  }

 private:
  /// A rank that fails goes on: the others wait for it when all have read.
  template <class Task>
  void attempt(Task task) {
    try {
      task();
    } catch (const Failure& failure) {
      if (!found_.problem) found_.problem = failure.error();
    }
  }

  static Selection nothing_of(const Variable& variable) {
    Selection nothing;
    if (variable.dimensions.empty()) return nothing;  // a single value
    Block block;
    block.start.assign(variable.dimensions.size(), 0);
    block.count.assign(variable.dimensions.size(), 0);
    nothing.block = std::move(block);
    return nothing;
  }

  Values read(const Variable& variable, bool whole) {
    Values found = variable.constant;
    if (variable.type == Type::string)
      found.strings = file_.get_strings(variable.name);
    else
      file_.get_raw(variable.name, whole ? Selection{} : nothing_of(variable), found.bytes.data(), found.type,
                    {});
    return found;
  }

  [[nodiscard]] bool may_repeat(const std::string& decomposition) const {
    const client::Decomposition& it =
        *must(session_.state().model_side().definitions().decomposition(decomposition));
    return it.coverage.repeats != Repeats::refuse;
  }

  Session& session_;
  InputFile& file_;
  int rank_;
  bool is_alone_;  ///< model ranks that are threads exchange no messages: each compares all
  DifferentValues found_;
};

}  // namespace

std::vector<std::string> differing_values(Session& session, InputFile& file,
                                          const client::Collection& collection,
                                          const std::vector<DistributedCoordinate>& distributed) {
  const Schema& wanted = collection.schema();
  ValueComparison comparison(session, file);
  comparison.constants(wanted);
  comparison.distributed(collection, distributed);
  const DifferentValues found = comparison.agreed();
  std::vector<std::string> sentences;
  for (const Variable& variable : wanted.variables) {
    const auto at = std::ranges::find(found.variables, variable.name);
    if (at != found.variables.end())
      sentences.push_back(found.sentences[static_cast<std::size_t>(at - found.variables.begin())]);
  }
  return sentences;
}

}  // namespace afterbay::output
