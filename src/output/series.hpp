// SPDX-License-Identifier: Apache-2.0
// Series: the values of a field, or of something computed from it, step by step, and what consumes
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/schema.hpp"
#include "model/box.hpp"
#include "output/field_definitions.hpp"
#include "output/schedule.hpp"
#include "output/spaces.hpp"
#include "statistics/bundle.hpp"
#include "statistics/state_memory.hpp"

namespace afterbay::output {

/// How a consumer takes the values.
struct Form {
  Type type = Type::float64;
  Values missing;  ///< values of `type` that mark missing ones; empty: nothing is missing
  friend bool operator==(const Form&, const Form&) = default;
};

/// Without statistics, for so many values in this form.
statistics::Bundle bundle_for(const Form& form, std::size_t points);

/// Values of this rank for a step or a period.
struct Value {
  const std::byte* data = nullptr;
  const Form* form = nullptr;
  const MemoryLayout* layout = nullptr;  ///< layout of the caller's array; null: dense
  Date begin;                            ///< what the values cover: after `begin`, up to and including `end`
  Date end;
  double seconds = 0;       ///< what they stand for in sums over time
  bool in_servers = false;  ///< servers have the values, which they compute; `data` is null
};

class Series;

/// Takes the values of a series. A consumer that has several series tells them apart by `slot`.
class Consumer {
 public:
  virtual ~Consumer() = default;
  Consumer() = default;
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  /// Whether it takes the values of the current step, if there are any.
  [[nodiscard]] virtual bool needs() const = 0;
  /// The form in which it wants computed values; `given`: the form of the series.
  [[nodiscard]] virtual Form wants(const Form& given) const { return given; }
  /// Whether it takes values in the layout of the caller's array.
  [[nodiscard]] virtual bool takes_layouts() const { return false; }
  virtual void take(std::size_t slot, const Value& value) = 0;
};

class Series {
 public:
  Series(std::string name, const Space& space, Form form)
      : name_(std::move(name)), space_(&space), form_(std::move(form)) {}
  virtual ~Series() = default;
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  void add(Consumer& consumer, std::size_t slot = 0) { consumers_.push_back({&consumer, slot}); }
  /// Whether there are values in the current step.
  [[nodiscard]] virtual bool available() const = 0;
  /// Whether the result of a reduction over time, or computed from some.
  [[nodiscard]] virtual bool is_reduced() const { return false; }
  /// Whether its values are results of a computation, and not numbers that the model has given.
  [[nodiscard]] virtual bool is_computed() const { return true; }
  /// Whether it has the same values in each step.
  [[nodiscard]] virtual bool is_constant() const { return false; }
  /// The schedule whose periods its values stand for; null: it has a value in each step.
  [[nodiscard]] virtual const Schedule* periods() const { return nullptr; }
  /// Whether its values come in the form that a consumer wants; otherwise they have its own.
  [[nodiscard]] virtual bool gives_any_form() const { return false; }
  /// Whether it is reduced, and its values are those of single steps: extremes, instants.
  [[nodiscard]] virtual bool gives_values_of_steps() const { return false; }
  /// Whether some consumer takes the values of the current step.
  [[nodiscard]] bool needed() const;
  /// Whether some consumer that takes values of the current step needs a dense copy of arrays with
  /// a layout.
  [[nodiscard]] bool copies_layouts() const;

  struct Use {
    Consumer* consumer;
    std::size_t slot;
  };
  [[nodiscard]] const std::vector<Use>& uses() const noexcept { return consumers_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Space& space() const noexcept { return *space_; }
  /// The form of its values, or, of reductions, that of the values that they reduce.
  [[nodiscard]] const Form& form() const noexcept { return form_; }

 protected:
  /// Gives the values to all consumers that need them.
  void emit(const Value& value);

 private:
  std::string name_;
  const Space* space_;
  Form form_;
  std::vector<Use> consumers_;
  std::vector<std::byte> dense_;
};

/// A field as the model puts it.
class FieldSeries final : public Series {
 public:
  using Series::Series;
  [[nodiscard]] bool available() const override { return true; }
  [[nodiscard]] bool is_computed() const override { return false; }
  void put(const Value& value) { emit(value); }
};

/// A coordinate of a grid, which has the same values in each step.
class ConstantSeries final : public Series {
 public:
  /// `values`: of this rank; outlives it.
  ConstantSeries(const Coordinate& coordinate, const Space& space, Form form)
      : Series(coordinate.name, space, std::move(form)), values_(&coordinate.values) {}
  [[nodiscard]] bool available() const override { return true; }
  [[nodiscard]] bool is_computed() const override { return false; }
  [[nodiscard]] bool is_constant() const override { return true; }
  /// `covered`: by the step.
  void put(Value covered);

 private:
  const Values* values_;
};

/// Some of the points of a series.
class SubsetSeries final : public Series, public Consumer {
 public:
  /// `space`: a subset of that of `of`.
  SubsetSeries(Series& of, const Space& space) : Series(of.name(), space, of.form()), of_(&of) {
    of.add(*this);
  }
  [[nodiscard]] bool available() const override { return of_->available(); }
  [[nodiscard]] bool is_computed() const override { return of_->is_computed(); }
  [[nodiscard]] bool is_constant() const override { return of_->is_constant(); }
  [[nodiscard]] bool needs() const override { return needed(); }
  /// Size of its values on this rank.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return space().points * size_of(form().type); }
  void take(std::size_t slot, const Value& value) override;
  [[nodiscard]] const Series& of() const noexcept { return *of_; }

 private:
  Series* of_;
  std::vector<std::byte> kept_;
};

/// A statistic over the periods of a schedule, as a series with a value at the end of each period.
/// It belongs to SeriesStatistics, which fills it.
class ReducedSeries final : public Series {
 public:
  /// `of`: what it reduces; `form`: in which its values come.
  ReducedSeries(const Series& of, Form form, const Schedule& schedule, statistics::StatisticKind kind);
  [[nodiscard]] bool available() const override { return schedule_->ends(); }
  [[nodiscard]] bool is_reduced() const override { return true; }
  [[nodiscard]] const Schedule* periods() const override { return schedule_; }
  [[nodiscard]] bool is_computed() const override { return !gives_values_of_steps() || of_->is_computed(); }
  [[nodiscard]] bool gives_any_form() const override { return true; }
  [[nodiscard]] const Schedule& schedule() const noexcept { return *schedule_; }
  /// Whether each value is one of those that it reduces, so that their form holds it exactly and
  /// its fill value marks missing values only.
  [[nodiscard]] bool gives_values_of_steps() const override;
  /// Size of its values on this rank, in the largest form that consumers want.
  [[nodiscard]] std::size_t buffer_bytes() const;
  /// Computes the values in the forms that consumers want, and gives them away.
  void emit_results(const statistics::Bundle& bundle, std::size_t number, const Value& period);
  /// Tells consumers that servers have the values of the period.
  void emit_in_servers(Value period);

 private:
  const Series* of_;
  const Schedule* schedule_;
  statistics::StatisticKind kind_;
  std::vector<std::byte> results_;
};

/// Where samples go of which servers compute expressions and statistics.
class SampleTarget {
 public:
  virtual ~SampleTarget() = default;
  /// Statistics take a sample of this step.
  virtual void note_sample(bool begins_interval, double seconds) = 0;
  /// Samples of a source follow in this step: SampleRecords.
  virtual void need_sample(std::size_t source) = 0;
  /// This rank's values of a sample, for a variable of the file. Comes after all of the step have
  /// been announced.
  virtual void put_sample(std::size_t variable, std::size_t source, const Value& value) = 0;
};

/// All statistics of a series over the periods of one schedule.
class SeriesStatistics final : public Consumer {
 public:
  SeriesStatistics(Series& of, const Schedule& schedule, std::string text);
  /// The statistic as a series, made at first use. Throws wrong_type if it does not exist for the
  /// type.
  ReducedSeries& add(const statistics::Statistic& statistic);

  /// From now on its values are those of the periods of `finer`, at their ends, instead of those of
  /// the series: most of the time goes into passing over the states. See can_be_made_of.
  void make_of(SeriesStatistics& finer);
  /// Whether `finer` has the same statistics of the same series, over shorter periods of which
  /// those of this consist, and results stay the same.
  [[nodiscard]] bool can_be_made_of(const SeriesStatistics& finer) const;
  /// Its state, which was restored, has everything up to now, although it is made of others. Until
  /// the current period of these ends, it takes the values of the series itself.
  void take_rest_of_finer() noexcept { takes_rest_ = finer_ != nullptr && finer_->has_begun(); }
  /// Those whose current period its state lacks; null: it lacks nothing.
  [[nodiscard]] const SeriesStatistics* lacking() const noexcept { return takes_rest_ ? nullptr : finer_; }

  /// A variable of a file that has the values of a statistic.
  struct InFile {
    std::size_t variable = 0;
    std::size_t statistic = 0;
    Type type = Type::float64;  ///< type of samples and of the planes of states: see statistics::Planes
  };
  /// From now on, servers compute them. `variables`: of the file, one per statistic and writer of
  /// it. `takes_operands`: servers compute the series as well, and get what it is computed from.
  void leave_to_servers(SampleTarget& samples, std::vector<InFile> variables, bool takes_operands);
  /// The variables that servers compute.
  [[nodiscard]] const std::vector<InFile>& in_servers() const noexcept { return variables_; }
  [[nodiscard]] const SampleTarget* samples() const noexcept { return samples_; }
  /// Without points, if servers compute it.
  [[nodiscard]] const statistics::State& state_of(std::size_t statistic) const {
    return bundle_.state(statistic);
  }
  [[nodiscard]] bool is_left_to_servers() const noexcept { return samples_ != nullptr; }
  /// Called at the beginning of a step, before anything is put.
  void begin_step();

  [[nodiscard]] Form wants(const Form& /*given*/) const override { return taken_; }
  [[nodiscard]] bool takes_layouts() const override { return is_left_to_servers(); }
  /// At the end of the run only statistics give values, those of periods that it cuts short.
  [[nodiscard]] bool needs() const override {
    if (lacking() != nullptr || !schedule_->sampled() || !of_->available()) return false;
    if (!schedule_->at_end_of_run()) return true;
    const Schedule* const inner = of_->periods();
    return inner != nullptr && schedule_->samples_end_of(*inner);
  }
  void take(std::size_t slot, const Value& value) override;
  /// Gives away the statistics of a period that ends now, if its last step was not sampled or the
  /// run ends. Statistics of statistics come after those.
  void end_step();

  /// Identifies the statistics and their series; the same in all runs with this description,
  /// whoever computes.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] statistics::Bundle& bundle() noexcept { return bundle_; }
  [[nodiscard]] const Series& of() const noexcept { return *of_; }
  /// The form in which it takes values.
  [[nodiscard]] const Form& taken() const noexcept { return taken_; }
  [[nodiscard]] const Schedule& schedule() const noexcept { return *schedule_; }
  /// Statistics over shorter periods from which it is made; null: made from the series.
  [[nodiscard]] const SeriesStatistics* finer() const noexcept { return finer_; }
  /// Whether some over longer periods are made of it.
  [[nodiscard]] bool is_finer() const noexcept { return !made_of_it_.empty(); }
  [[nodiscard]] const std::vector<std::unique_ptr<ReducedSeries>>& results() const noexcept {
    return results_;
  }
  [[nodiscard]] const statistics::Statistic& statistic(std::size_t result) const {
    return bundle_.statistic(result);
  }
  /// Size of the state on this rank.
  [[nodiscard]] std::size_t state_bytes() const noexcept { return state_bytes(bundle_.points()); }
  /// Size of the state on a rank with so many points.
  [[nodiscard]] std::size_t state_bytes(std::size_t points) const noexcept;
  /// Size of its results on this rank.
  [[nodiscard]] std::size_t buffer_bytes() const;

 private:
  /// Whether there are values of its current period, in its state or in those of which it is made.
  [[nodiscard]] bool has_begun() const;
  void emit();
  void add_state(const statistics::Statistic& statistic);
  void take_period(const statistics::Bundle& finer);
  Series* of_;
  Form taken_;
  const Schedule* schedule_;
  /// Statistics over shorter periods from which it is made; null: made from the series.
  SeriesStatistics* finer_ = nullptr;
  std::vector<SeriesStatistics*> made_of_it_;  ///< statistics whose finer_ it is
  bool takes_rest_ = false;                    ///< see take_rest_of_finer
  SampleTarget* samples_ = nullptr;            ///< null: it computes itself
  bool takes_operands_ = false;                ///< servers compute the series as well
  std::vector<InFile> variables_;              ///< variables to which samples are put
  std::string text_;
  statistics::Bundle bundle_;
  std::vector<statistics::StateMemory> states_;
  std::vector<std::unique_ptr<ReducedSeries>> results_;
};

/// Copies the values of a section, which lie at `from` in the layout of a caller's array, into the
/// dense array of the whole part. `lengths`: of the part; elements of `bytes` bytes.
void copy_section(std::byte* to, const std::vector<std::uint64_t>& lengths, const model::Box& section,
                  const std::byte* from, const MemoryLayout& layout, std::size_t bytes);

/// Values in the layout of a caller's array, made dense. `lengths`: of the part; elements of
/// `bytes` bytes.
void make_dense(std::byte* to, const std::byte* from, const MemoryLayout& layout,
                const std::vector<std::uint64_t>& lengths, std::size_t bytes);

}  // namespace afterbay::output
