// SPDX-License-Identifier: Apache-2.0
#include "output/axis_reduction.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/fill_value.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

Form in_doubles() { return {Type::float64, Values(std::numeric_limits<double>::quiet_NaN())}; }

Form form_taken(const Series& of) { return of.gives_any_form() ? in_doubles() : of.form(); }

statistics::SampleFormat field_of(const Form& form) {
  return {form.type, form.missing.empty() ? model::default_fill(form.type) : form.missing};
}

}  // namespace

std::string AxisReduction::text_of(const statistics::Statistic& statistic,
                                   const std::vector<std::string>& over) {
  return fmt::format("{} over {}", name_of(statistic.kind), fmt::join(over, ", "));
}

AxisReduction::AxisReduction(Series& of, const Space& space, const std::vector<std::string>& over,
                             const statistics::Statistic& statistic)
    : Series(text_of(statistic, over) + " of " + of.name(), space, in_doubles()),
      of_(&of),
      text_(text_of(statistic, over)),
      taken_(form_taken(of)),
      bundle_(must(statistics::Bundle::create(field_of(taken_), space.points))),
      result_(space.points) {
  must(statistics::check(statistic, taken_.type));
  state_.resize(statistics::state_bytes(statistic, taken_.type, space.points) / sizeof(double) + 1);
  must(bundle_.add(statistic, std::as_writable_bytes(std::span(state_))));
  find_slabs(over);
  of.add(*this);
}

void AxisReduction::find_slabs(const std::vector<std::string>& over) {
  const Space& from = of_->space();
  slabs_ = runs_ = {0};
  run_ = from.points;
  bool keeps = false;  // an axis that an axis after it vanishes from
  for (std::size_t a = 0; a < from.axes; ++a) {
    if (from.dimensions[a].length == 1) continue;
    if (std::ranges::find(over, from.dimensions[a].name) == over.end())
      keeps = true;
    else
      in_pieces_ = in_pieces_ || keeps;
  }
  // Elements after the last axis that vanishes form runs. All axes come before the dimensions of
  // the grid.
  for (std::size_t a = 0; a < from.axes; ++a) {
    const std::uint64_t length = from.local[a];
    const std::size_t stride = length == 0 ? 0 : run_ / length;
    const bool vanishes = std::ranges::find(over, from.dimensions[a].name) != over.end();
    std::vector<std::size_t>& places = vanishes ? slabs_ : runs_;
    std::vector<std::size_t> more;
    for (const std::size_t place : places)
      for (std::uint64_t i = 0; i < length; ++i) more.push_back(place + i * stride);
    places = std::move(more);
    run_ = stride;
  }
  // Runs that touch are one.
  while (runs_.size() > 1 && runs_[1] == runs_[0] + run_) {
    std::size_t together = 1;
    while (together < runs_.size() && runs_[together] == runs_[together - 1] + run_) ++together;
    if (runs_.size() % together != 0) break;
    std::vector<std::size_t> fewer;
    for (std::size_t i = 0; i < runs_.size(); i += together) fewer.push_back(runs_[i]);
    runs_ = std::move(fewer);
    run_ *= together;
  }
  if (runs_.size() > 1) slab_.resize(space().points * size_of(taken_.type));
}

void AxisReduction::take(std::size_t /*slot*/, const Value& value) {
  const std::size_t bytes = size_of(taken_.type);
  bundle_.begin_interval(0);
  for (const std::size_t first : slabs_) {
    const std::byte* slab = value.data + first * bytes;
    if (runs_.size() > 1 && run_ > 0) {
      std::byte* to = slab_.data();
      for (const std::size_t run : runs_) {
        std::memcpy(to, slab + run * bytes, run_ * bytes);
        to += run_ * bytes;
      }
      slab = slab_.data();
    }
    must(bundle_.step(slab));
  }
  const Form form = this->form();
  auto* const result = reinterpret_cast<std::byte*>(result_.data());
  must(bundle_.result(0, {.type = form.type, .fill = form.missing}, result, 0, space().points));
  Value made = value;
  made.data = result;
  made.form = &form;
  made.layout = nullptr;
  emit(made);
}

std::size_t AxisReduction::state_size(std::size_t points) const noexcept {
  return statistics::state_bytes(bundle_.statistic(0), taken_.type, points) / sizeof(double) + 1;
}

std::size_t AxisReduction::buffer_bytes(std::size_t points) const noexcept {
  return (state_size(points) + points) * sizeof(double) + (in_pieces_ ? points * size_of(taken_.type) : 0);
}

}  // namespace afterbay::output
