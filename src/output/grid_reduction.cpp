// SPDX-License-Identifier: Apache-2.0
#include "output/grid_reduction.hpp"

#include <algorithm>
#include <limits>

#include "base/default_arithmetic.hpp"
#include "model/fill_value.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

Form late_form() { return {Type::float64, Values(std::numeric_limits<double>::quiet_NaN())}; }

/// The totals of points, as one rank sends them, one after the other.
class Totalled {
 public:
  explicit Totalled(std::span<const std::byte> bytes) : rest_(bytes) { next(); }
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] std::uint64_t point() const noexcept { return point_; }
  void add_to(statistics::Totals& totals) {
    if (!totals.add_encoded(rest_)) refuse_damage();
    next();
  }

 private:
  [[noreturn]] static void refuse_damage() {
    refuse(ErrorCode::internal,
           "the totals of a reduction over a grid that another rank has sent are damaged");
  }
  /// Points are encoded as their distances.
  void next() {
    ended_ = rest_.empty();
    if (ended_) return;
    std::uint64_t distance = 0;
    if (!statistics::decode_count(distance, rest_)) refuse_damage();
    point_ += distance;
  }

  std::span<const std::byte> rest_;
  std::uint64_t point_ = 0;
  bool ended_ = false;
};

class TotalsWriter {
 public:
  void add(std::uint64_t point, const statistics::Totals& totals) {
    statistics::encode_count(point - std::exchange(last_, point), bytes_);
    totals.encode(bytes_);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t last_ = 0;
};

}  // namespace

std::string GridReduction::text_of(const statistics::Statistic& statistic, const std::string& vanishing) {
  return fmt::format("{} over {}", name_of(statistic.kind), vanishing);
}

GridReduction::GridReduction(Series& of, const Space& space, std::shared_ptr<const GridGroups> groups,
                             const std::vector<std::string>& over, const std::string& vanishing,
                             const statistics::Statistic& statistic)
    : Series(text_of(statistic, vanishing) + " of " + of.name(), space, late_form()),
      of_(&of),
      text_(text_of(statistic, vanishing)),
      statistic_(statistic),
      groups_(std::move(groups)) {
  const Form taken = wants(of.form());
  loops_ = statistics::value_loops(taken.type,
                                   taken.missing.empty() ? model::default_fill(taken.type) : taken.missing);
  if (loops_ == nullptr)
    refuse(ErrorCode::wrong_type, "'{}' has values of type {}, which cannot be reduced", of.name(),
           afterbay::name_of(taken.type));
  find_levels(over);
  result_.resize(space.points);
  of.add(*this);
}

Form GridReduction::wants(const Form& given) const { return of_->gives_any_form() ? late_form() : given; }

void GridReduction::find_levels(const std::vector<std::string>& over) {
  const Space& from = of_->space();
  levels_ = {{0}};
  for (std::size_t d = from.axes; d < from.local.size(); ++d) points_of_level_ *= from.local[d];
  for (std::size_t a = 0; a < from.axes; ++a) {
    const std::size_t length = from.local[a];
    const bool vanishes = std::ranges::find(over, from.dimensions[a].name) != over.end();
    std::vector<std::vector<std::size_t>> longer;
    for (const std::vector<std::size_t>& places : levels_) {
      if (vanishes) longer.emplace_back();
      for (std::size_t i = 0; i < length; ++i) {
        if (!vanishes) longer.emplace_back();
        for (const std::size_t place : places) longer.back().push_back(place * length + i);
      }
    }
    levels_ = std::move(longer);
  }
  for (std::vector<std::size_t>& places : levels_)
    for (std::size_t& place : places) place *= points_of_level_;
}

bool GridReduction::are_doubles(const Form& form) const noexcept {
  return form.type == Type::float64 && form.missing == late_form().missing;
}

void GridReduction::take(std::size_t /*slot*/, const Value& value) {
  const DefaultArithmetic arithmetic;
  const std::size_t points = of_->space().points;
  const double* values = reinterpret_cast<const double*>(value.data);
  const bool aligned = reinterpret_cast<std::uintptr_t>(value.data) % alignof(double) == 0;
  if (!aligned || !are_doubles(*value.form)) {
    values_.resize(points);
    if (value.form->missing.empty())
      loops_->widen(values_.data(), value.data, points);
    else
      loops_->widen_poisoned(values_.data(), value.data, points);
    values = values_.data();
  }
  TotalsWriter writer;
  statistics::Totals totals(statistic_.kind);
  for (std::size_t level = 0; points > 0 && level < levels_.size(); ++level)
    for (std::size_t p = 0; p < groups_->points.size(); ++p) {
      totals.clear();
      const std::size_t first = p == 0 ? 0 : groups_->ends[p - 1];
      for (const std::size_t place : levels_[level])
        for (std::size_t e = first; e < groups_->ends[p]; ++e)
          totals.add(values[place + groups_->elements[e]]);
      writer.add(level * groups_->all + groups_->points[p], totals);
    }
  taken_ = Contribution{writer.take(), value.begin, value.end, value.seconds};
}

std::vector<std::byte> GridReduction::joined(std::span<const std::span<const std::byte>> totals) const {
  const DefaultArithmetic arithmetic;
  std::vector<Totalled> parts(totals.begin(), totals.end());
  statistics::Totals sum(statistic_.kind);
  TotalsWriter writer;
  for (;;) {
    std::erase_if(parts, [](const Totalled& it) { return it.ended(); });
    if (parts.empty()) return writer.take();
    const std::uint64_t point = std::ranges::min_element(parts, {}, &Totalled::point)->point();
    sum.clear();
    for (Totalled& part : parts)
      if (!part.ended() && part.point() == point) part.add_to(sum);
    writer.add(point, sum);
  }
}

void GridReduction::emit_late(const Contribution& all) {
  std::ranges::fill(result_, std::numeric_limits<double>::quiet_NaN());
  {
    const DefaultArithmetic arithmetic;
    statistics::Totals totals(statistic_.kind);
    for (Totalled rest(all.totals); !rest.ended();) {
      const std::uint64_t point = rest.point();
      totals.clear();
      rest.add_to(totals);
      if (point < result_.size()) result_[point] = totals.result(statistic_);
    }
  }
  const Form form = this->form();
  emit({reinterpret_cast<const std::byte*>(result_.data()), &form, nullptr, all.begin, all.end, all.seconds});
}

/// Counts, the head of a sum, and its digits: three if values differ by less than a factor of 2^32.
std::size_t GridReduction::bytes_per_point() const noexcept {
  constexpr std::size_t head = 3;
  constexpr std::size_t sum = 3 + 3 * sizeof(std::uint32_t);
  switch (statistic_.kind) {
    case statistics::StatisticKind::mean:
    case statistics::StatisticKind::sum: return head + sum;
    case statistics::StatisticKind::standard_deviation: return head + 2 * sum + sizeof(std::uint32_t);
    case statistics::StatisticKind::range: return head + 2 * sizeof(double);
    case statistics::StatisticKind::minimum:
    case statistics::StatisticKind::maximum:
    // These reduce over time only.
    case statistics::StatisticKind::instant:
    case statistics::StatisticKind::once:
    case statistics::StatisticKind::rate:
    case statistics::StatisticKind::difference: break;
  }
  return head + sizeof(double);
}

GridReduction::Part GridReduction::part() const noexcept {
  return {groups_->elements.size(), levels_.size() * groups_->points.size(), space().points};
}

GridReduction::Part GridReduction::part(std::uint64_t elements, bool is_first) const noexcept {
  return {elements, levels_.size() * std::min(groups_->all, elements),
          is_first ? space().global_points() : 0};
}

std::uint64_t GridReduction::buffer_bytes(const Part& part, std::size_t waiting) const noexcept {
  const std::uint64_t levels = levels_.empty() ? 0 : levels_.size() * levels_.front().size();
  const bool widens = !are_doubles(wants(of_->form()));
  return part.elements * (sizeof(std::uint32_t) + (widens ? levels * sizeof(double) : 0)) +
         part.results * sizeof(double) + waiting * part.contributed * bytes_per_point();
}

}  // namespace afterbay::output
