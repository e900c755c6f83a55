// SPDX-License-Identifier: Apache-2.0
// GridReduction: a series that reduces another one over dimensions of its grid, which are divided
// among ranks. Each rank contributes the totals of its points; the first model rank has the
// results, some steps later (late_steps.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "output/series.hpp"
#include "statistics/totals.hpp"
#include "statistics/value_loops.hpp"

namespace afterbay::output {

class GridReduction final : public Series, public Consumer {
 public:
  /// `space`: Spaces::late of `of` without the dimensions `over`; `groups`: of both. `vanishing`:
  /// the dimensions and regions as text.
  GridReduction(Series& of, const Space& space, std::shared_ptr<const GridGroups> groups,
                const std::vector<std::string>& over, const std::string& vanishing,
                const statistics::Statistic& statistic);

  [[nodiscard]] bool available() const override { return of_->available(); }
  [[nodiscard]] bool is_reduced() const override { return of_->is_reduced(); }
  [[nodiscard]] const Schedule* periods() const override { return of_->periods(); }
  [[nodiscard]] bool needs() const override { return available() && needed(); }
  [[nodiscard]] Form wants(const Form& given) const override;
  void take(std::size_t slot, const Value& value) override;

  /// What this rank contributes to a value, and what the value covers.
  struct Contribution {
    std::vector<std::byte> totals;  ///< points in ascending order, each with its totals
    Date begin;
    Date end;
    double seconds = 0;
  };
  /// The contribution of the values that have come since the last call; nullopt: none have.
  std::optional<Contribution> contribution() { return std::exchange(taken_, std::nullopt); }
  /// Adds the totals of several ranks. Throws internal if they cannot be read.
  [[nodiscard]] std::vector<std::byte> joined(std::span<const std::span<const std::byte>> totals) const;
  /// Gives the results away. `all`: with the totals of all ranks; counts on the first rank.
  void emit_late(const Contribution& all);

  /// A rank's part of the reduction.
  struct Part {
    std::uint64_t elements = 0;     ///< elements of the grid
    std::uint64_t contributed = 0;  ///< points of the result
    std::uint64_t results = 0;      ///< points of the result that it gives away
  };
  /// The part of this rank.
  [[nodiscard]] Part part() const noexcept;
  /// The part of a rank with that many elements of the grid; `is_first`: it has the results.
  [[nodiscard]] Part part(std::uint64_t elements, bool is_first) const noexcept;
  /// `waiting`: steps whose contributions wait for those of other ranks.
  [[nodiscard]] std::uint64_t buffer_bytes(const Part& part, std::size_t waiting) const noexcept;
  /// About as many bytes are sent for a point of the result.
  [[nodiscard]] std::size_t bytes_per_point() const noexcept;
  /// Whether values have come since the last `contribution`.
  [[nodiscard]] bool has_contribution() const noexcept { return taken_.has_value(); }
  [[nodiscard]] const Series& of() const noexcept { return *of_; }
  /// "mean over lon", "mean over lat, lon by basin along region".
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  static std::string text_of(const statistics::Statistic& statistic, const std::string& vanishing);
  void find_levels(const std::vector<std::string>& over);
  [[nodiscard]] bool are_doubles(const Form& form) const noexcept;

  Series* of_;
  std::string text_;
  statistics::Statistic statistic_;
  std::shared_ptr<const GridGroups> groups_;
  std::unique_ptr<const statistics::ValueLoops> loops_;
  std::size_t points_of_level_ = 1;               ///< elements of the grid on this rank
  std::vector<std::vector<std::size_t>> levels_;  ///< first elements, by level of the result
  std::vector<double> values_;
  std::optional<Contribution> taken_;
  std::vector<double> result_;
};

}  // namespace afterbay::output
