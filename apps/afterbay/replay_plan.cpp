// SPDX-License-Identifier: Apache-2.0
#include "replay_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "model/filters.hpp"

namespace afterbay::app {
namespace {

std::uint64_t product(std::span<const std::uint64_t> factors) {
  return std::accumulate(factors.begin(), factors.end(), std::uint64_t{1}, std::multiplies<>());
}

std::uint64_t round_up_divide(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

/// Searches all grids of at most `ranks` ranks.
class GridSearch {
 public:
  GridSearch(std::span<const std::uint64_t> global, std::uint64_t ranks)
      : global_(global), parts_(global.size(), 1) {
    try_from(0, ranks);
  }
  [[nodiscard]] const std::vector<std::uint64_t>& best() const { return best_; }

 private:
  void try_from(std::size_t dimension, std::uint64_t ranks) {
    if (dimension == global_.size()) return rate();
    for (std::uint64_t parts = 1; parts <= std::min(ranks, std::max<std::uint64_t>(1, global_[dimension]));
         ++parts) {
      parts_[dimension] = parts;
      try_from(dimension + 1, ranks / parts);
    }
  }

  void rate() {
    std::uint64_t points = 1;
    for (std::size_t d = 0; d < parts_.size(); ++d) points *= round_up_divide(global_[d], parts_[d]);
    std::uint64_t edge = 0;  // the sum of a part's lengths is smallest for squares
    for (std::size_t d = 0; d < parts_.size(); ++d) edge += round_up_divide(global_[d], parts_[d]);
    if (!best_.empty() && (points > points_ || (points == points_ && edge > edge_))) return;
    best_ = parts_;
    points_ = points;
    edge_ = edge;
  }

  std::span<const std::uint64_t> global_;
  std::vector<std::uint64_t> parts_;
  std::vector<std::uint64_t> best_;
  std::uint64_t points_ = 0;
  std::uint64_t edge_ = 0;
};

class Planner {
 public:
  Planner(const NetcdfReader& input, const PlanRequest& request)
      : input_(input), contents_(input.contents()), request_(request), store_(traits_of(request.store)) {}

  Result<Plan> make() {
    add_dimensions();
    for (const Attribute& attribute : contents_.attributes) check_attribute("global attribute", attribute);
    plan_.schema.attributes = contents_.attributes;
    plan_messages();
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) add_variable(v);
    if (problems_.empty()) return std::move(plan_);
    return fail(make_error(ErrorCode::format, "{} cannot be played into a {} file:\n  {}", input_.path(),
                           store_.name, fmt::join(problems_, "\n  "))
                    .in_file(input_.path()));
  }

 private:
  template <class... Args>
  void refuse(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void add_dimensions() {
    std::vector<std::string> unlimited_names;
    for (const InputDimension& dimension : contents_.dimensions) {
      plan_.schema.dimension(dimension.name, dimension.unlimited ? unlimited : dimension.length);
      if (!dimension.unlimited) continue;
      unlimited_names.push_back("'" + dimension.name + "'");
      plan_.records = dimension.length;
    }
    if (unlimited_names.size() > 1)
      refuse(
          "it has {} unlimited dimensions ({}): only one can be written record by record; make the others "
          "fixed "
          "(for example with ncks --fix_rec_dmn)",
          unlimited_names.size(), fmt::join(unlimited_names, ", "));
  }

  void check_attribute(const std::string& what, const Attribute& attribute) {
    if (!store_.types.has(attribute.values.type))
      refuse("{} '{}' has the type {}, which {} cannot hold", what, attribute.name,
             name_of(attribute.values.type), store_.name);
    if (std::ranges::find(store_.reserved_attributes, attribute.name) != store_.reserved_attributes.end())
      refuse("{} '{}' has a name that {} keeps for itself", what, attribute.name, store_.title);
  }

  /// Headers of messages contain the coordinates, which must be known before the first message.
  void plan_messages() {
    if (store_.messages == nullptr) return;
    Schema whole = plan_.schema;
    for (const InputVariable& input : contents_.variables) {
      std::vector<std::string> names;
      for (const std::size_t d : input.dimensions) names.push_back(contents_.dimensions[d].name);
      whole.variable(input.name, input.type, names).attributes = input.attributes;
    }
    const MessageTraits& messages = *store_.messages;
    for (const Variable& variable : whole.variables)
      if (messages.needed_first != nullptr ? messages.needed_first(whole, variable)
                                           : messages.slab_dimensions(whole, variable) == 0)
        needed_first_.insert(variable.name);
  }

  void add_variable(std::size_t number) {
    const InputVariable& input = contents_.variables[number];
    const std::string what = fmt::format("variable '{}'", input.name);
    if (!store_.types.has(input.type))
      refuse("{} has the type {}, which {} cannot hold", what, name_of(input.type), store_.name);
    for (const Attribute& attribute : input.attributes) check_attribute(what + ": attribute", attribute);

    std::vector<std::string> names;
    for (const std::size_t d : input.dimensions) names.push_back(contents_.dimensions[d].name);
    Variable& variable = plan_.schema.variable(input.name, input.type, names);
    variable.attributes = input.attributes;
    const Attribute* fill = input.find_attribute("_FillValue");
    if (fill != nullptr && fill->values.type == input.type && fill->values.count() == 1)
      variable.fill = fill->values;
    if (store_.chunks) copy_storage(input, variable);

    PlayedVariable played{number, Played::whole,
                          !input.dimensions.empty() && contents_.dimensions[input.dimensions[0]].unlimited,
                          0};
    check_dimensions(what, input, played.record);
    played.how = choose(input, played.record);
    if (played.how == Played::decomposed) {
      played.grid = grid_for(input, played.record);
      variable.on(plan_.grids[played.grid].name);
    }
    plan_.variables.push_back(played);
  }

  void check_dimensions(const std::string& what, const InputVariable& input, bool record) {
    const std::size_t fixed = input.dimensions.size() - (record ? 1 : 0);
    if (fixed > max_rank)
      refuse("{} has {} dimensions besides the unlimited one; at most {} are possible", what, fixed,
             max_rank);
    for (std::size_t d = 1; d < input.dimensions.size(); ++d)
      if (const InputDimension& dimension = contents_.dimensions[input.dimensions[d]]; dimension.unlimited)
        refuse("{} has the unlimited dimension '{}' as number {}: it must be the first", what, dimension.name,
               d + 1);
  }

  /// Filters and chunks as in the input. Servers assemble one record at a time, in blocks: chunks
  /// of several records, or larger than a block, are replaced by automatic ones.
  void copy_storage(const InputVariable& input, Variable& variable) const {
    if (input.chunk.empty() || input.type == Type::string) return;
    model::set_filters(variable, input.filters);
    const bool record = contents_.dimensions[input.dimensions[0]].unlimited;
    const bool one_record = !record || input.chunk[0] == 1;
    if (one_record && product(input.chunk) <= request_.frame_bytes / size_of(input.type))
      variable.chunk = input.chunk;
  }

  Played choose(const InputVariable& input, bool record) const {
    const bool coordinate = !record && input.dimensions.size() == 1 &&
                            contents_.dimensions[input.dimensions[0]].name == input.name;
    if (coordinate || (!record && needed_first_.contains(input.name))) return Played::constant;
    if (input.type == Type::string) return Played::strings;
    // Models hold short fixed vectors and scalars on every rank, and distribute the rest.
    const std::size_t fixed = input.dimensions.size() - (record ? 1 : 0);
    return fixed == 0 || (fixed == 1 && !record) ? Played::whole : Played::decomposed;
  }

  /// The grid over the last two dimensions, or over as many more as are needed to give every rank a
  /// part.
  std::size_t grid_for(const InputVariable& input, bool record) {
    const std::size_t first = record ? 1 : 0;
    const std::vector<std::uint64_t> shape = contents_.shape(input);
    std::size_t begin = std::max(first, shape.size() - std::min<std::size_t>(2, shape.size()));
    const auto ranks = static_cast<std::uint64_t>(request_.model_ranks);
    while (begin > first && product(std::span(shape).subspan(begin)) < ranks) --begin;
    RankGrid grid;
    for (std::size_t d = begin; d < shape.size(); ++d) {
      grid.name += (grid.name.empty() ? "" : ",") + contents_.dimensions[input.dimensions[d]].name;
      grid.global.push_back(shape[d]);
    }
    const auto same = [&](const RankGrid& known) { return known.name == grid.name; };
    const auto found = std::find_if(plan_.grids.begin(), plan_.grids.end(), same);
    if (found != plan_.grids.end()) return static_cast<std::size_t>(found - plan_.grids.begin());
    grid.parts = most_even_parts(grid.global, ranks);
    plan_.grids.push_back(std::move(grid));
    return plan_.grids.size() - 1;
  }

  const NetcdfReader& input_;
  const Contents& contents_;
  const PlanRequest& request_;
  const FormatTraits& store_;
  Plan plan_;
  std::set<std::string> needed_first_;  ///< by the first message
  std::vector<std::string> problems_;
};

}  // namespace

Block RankGrid::block_of(std::uint64_t rank) const {
  Block block{global, std::vector<std::uint64_t>(global.size(), 0),
              std::vector<std::uint64_t>(global.size(), 0)};
  if (rank >= used_ranks()) return block;
  for (std::size_t d = global.size(); d-- > 0;) {
    const std::uint64_t place = rank % parts[d];
    rank /= parts[d];
    block.start[d] = global[d] * place / parts[d];
    block.count[d] = global[d] * (place + 1) / parts[d] - block.start[d];
  }
  return block;
}

std::uint64_t RankGrid::used_ranks() const { return product(parts); }

std::vector<std::uint64_t> most_even_parts(std::span<const std::uint64_t> global, std::uint64_t ranks) {
  return GridSearch(global, ranks).best();
}

Result<Plan> make_plan(const NetcdfReader& input, const PlanRequest& request) {
  return Planner(input, request).make();
}

}  // namespace afterbay::app
