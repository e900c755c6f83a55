// SPDX-License-Identifier: Apache-2.0
// Diagnosis: names what ranks wait for, and what a rank left incomplete, for the errors of missed
// deadlines and of lost ranks. Reads the state of the server and changes nothing. Used by the
// ingest thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/catalog.hpp"
#include "server/epochs/epoch_keeper.hpp"
#include "server/files/output_files.hpp"
#include "server/open_tickets.hpp"
#include "server/prepare/preparations.hpp"
#include "server/records.hpp"
#include "server/shutdown/shutdown.hpp"
#include "server/string_queue.hpp"
#include "transport/link.hpp"

namespace afterbay::server {

class Diagnosis {
 public:
  /// What is looked at; outlives the diagnosis.
  struct Sources {
    const config::Config& config;
    const Catalog& catalog;
    const Preparations& preparations;
    Records& records;
    OutputFiles& files;
    const OpenTickets& tickets;
    const StringQueue& strings;
    const EpochKeeper& epochs;
    const Shutdown& shutdown;
    const transport::FramePool& frames;
  };

  explicit Diagnosis(Sources from) : from_(from) {}

  /// The deadline error that names what the ranks wait for, and the ranks that are late.
  [[nodiscard]] Error missed_deadline() const AFTERBAY_REQUIRES(ingest_thread);
  /// Adds the file and variable that remain incomplete to the error of a rank that ended early.
  [[nodiscard]] Error name_unfinished(Error error, std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);

 private:
  [[nodiscard]] std::optional<Error> missing_values() const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::optional<Error> missing_calls() const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Error deadline_error(std::string what, const std::vector<int>& ranks = {}) const;

  const Sources from_;
};

}  // namespace afterbay::server
