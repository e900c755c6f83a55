// SPDX-License-Identifier: Apache-2.0
// AxisReduction: a series that reduces another one over some of its axes, such as the vertical one.
// Axes are whole on every rank, so that nothing is exchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "output/series.hpp"
#include "statistics/bundle.hpp"

namespace afterbay::output {

class AxisReduction final : public Series, public Consumer {
 public:
  /// `space`: that of `of` without the axes `over`. Throws wrong_type if the statistic does not
  /// exist for the type.
  AxisReduction(Series& of, const Space& space, const std::vector<std::string>& over,
                const statistics::Statistic& statistic);

  [[nodiscard]] bool available() const override { return of_->available(); }
  [[nodiscard]] bool is_reduced() const override { return of_->is_reduced(); }
  [[nodiscard]] const Schedule* periods() const override { return of_->periods(); }
  [[nodiscard]] bool needs() const override { return available() && needed(); }
  [[nodiscard]] Form wants(const Form& /*given*/) const override { return taken_; }
  void take(std::size_t slot, const Value& value) override;
  /// Size of the buffers on this rank.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes(space().points); }
  /// Size of the buffers on a rank with that many points of the result.
  [[nodiscard]] std::size_t buffer_bytes(std::size_t points) const noexcept;
  [[nodiscard]] const Series& of() const noexcept { return *of_; }
  /// "mean over lev".
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  static std::string text_of(const statistics::Statistic& statistic, const std::vector<std::string>& over);
  void find_slabs(const std::vector<std::string>& over);
  /// Doubles of the state of this many points.
  [[nodiscard]] std::size_t state_size(std::size_t points) const noexcept;

  Series* of_;
  std::string text_;
  Form taken_;  ///< form of the values that come in
  statistics::Bundle bundle_;
  std::vector<double> state_;  ///< state of the statistic
  /// Whether slabs have several runs, on ranks with points.
  bool in_pieces_ = false;
  /// A slab has one index of each axis that vanishes, and all others: runs of elements at these
  /// places after its first one.
  std::vector<std::size_t> slabs_;
  std::vector<std::size_t> runs_;
  std::size_t run_ = 0;
  std::vector<std::byte> slab_;  ///< a slab with several runs, in one piece
  std::vector<double> result_;
};

}  // namespace afterbay::output
