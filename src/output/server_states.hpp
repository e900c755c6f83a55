// SPDX-License-Identifier: Apache-2.0
// ServerStates: the states of statistics that servers compute, in saved states. Servers write the
// planes of a file's statistics (statistics/planes.hpp) as the records of its variables, into a
// file beside that of the state of model ranks. A run reads them and computes where it wants to.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "output/plan.hpp"
#include "statistics/state_memory.hpp"

namespace afterbay::output {

/// The state of a statistic at the points of this rank.
class RankState {
 public:
  /// `form`: of the values of the statistic.
  RankState(const statistics::Statistic& statistic, const Form& form, std::size_t points);
  [[nodiscard]] const statistics::State& state() const { return bundle_.state(0); }
  /// Takes in the state of the same statistic over a part of the period.
  void absorb(const RankState& part);

 private:
  statistics::StateMemory memory_;
  statistics::Bundle bundle_;
};

class ServerStates {
 public:
  explicit ServerStates(Plan& plan) : plan_(plan) {}

  /// Whether servers compute something.
  [[nodiscard]] bool any() const;
  /// The file for the statistics of `files` that belongs to the state in `path`.
  [[nodiscard]] static std::string path_of(const std::string& path, const FileSeries& files);
  /// The paths for all files whose statistics servers compute.
  [[nodiscard]] std::vector<std::string> paths_of(const std::string& path) const;
  /// Writes them. `serial`: tells states apart; that of the lowest rank counts. `replaces`: files
  /// of these names.
  void write(const std::string& path, const std::string& serial, bool replaces);

  /// A file that `write` has made. Throws conflict if it belongs to another state.
  class Reader {
   public:
    Reader(Session& session, const std::string& path, const std::string& serial);
    void read(const std::string& variable, const std::string& decomposition, const RankState& to);
    void close() { file_.close(); }

   private:
    InputFile file_;
    std::vector<std::byte> plane_;
  };

  /// What a server goes on with.
  struct Restored {
    SeriesStatistics* statistics = nullptr;
    std::size_t statistic = 0;
    RankState state;
  };
  /// Hands over states that were read.
  void restore(const std::vector<Restored>& states);

 private:
  template <class Visit>
  void for_each_file(Visit visit) const;

  Plan& plan_;
};

}  // namespace afterbay::output
