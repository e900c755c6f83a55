// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/observation.hpp"

namespace afterbay::server {

Observation::Observation(const config::Config& config, const Identity& identity,
                         const transport::FramePool& frames, Logger logger,
                         std::unique_ptr<journal::Recorder> recorder, observe::Profile& profile,
                         std::size_t workers, Host host)
    : host_(std::move(host)),
      logger_(std::move(logger)),
      journal_(std::move(recorder)),
      telemetry_(config, identity, frames, logger_, telemetry_host(identity)),
      triggers_(config, identity, logger_, trigger_host()),
      profile_(profile, workers),
      codecs_(workers, host_.submit_last) {}

Telemetry::Host Observation::telemetry_host(const Identity& identity) {
  return {[this](observe::ServerState& state) AFTERBAY_REQUIRES(ingest_thread) {
            host_.fill(state);
            state.traffic.read_bytes = profile_.bytes_read();
          },
          host_.other_backlog_bytes, host_.fill_collection,
          [this, server = identity.number](const std::string& text) AFTERBAY_REQUIRES(ingest_thread) {
            if (host_.said_goodbye()) return;
            logger_.warning("I/O server {}: {}", server, text);
            journal_.warned(text);
          }};
}

TriggerRunner::Host Observation::trigger_host() {
  return {[this](journal::TriggerRan line) { journal_.triggered(std::move(line)); }, host_.report_epoch,
          host_.wake};
}

void Observation::warn(const std::string& text) const {
  logger_.warning("{}", text);
  journal_.warned(text);
}

void Observation::created(const ServedCollection& collection, const storage::File& file) {
  const storage::Striping striping = file.striping();
  if (striping.file_system.empty()) return;
  profile_.count_created(collection, file, striping);
  if (striping.warning.empty()) return;
  warn(fmt::format(
      "collection \"{}\": the stripes of a file could not be set; it is written with the striping of its "
      "directory: {}",
      collection.name, striping.warning));
}

void Observation::wrote(const storage::WriteCost& cost, const ServerProfile::CollectionTimers& timers) {
  profile_.add(cost, timers);
  telemetry_.tally().written(cost.bytes_in, cost.bytes_out);
}

void Observation::wrote_at_end(std::uint64_t bytes) {
  observe::add(profile_.timers().written, bytes);
  telemetry_.tally().written(0, bytes);
}

void Observation::taken(OutputFile& file, const Record& record) {
  if (record.fixed) return;
  ++file.records_taken;
  ++telemetry_.tally().of(file.collection->id).records_taken;
  codecs_.record_taken(file.collection->id, file.id, record.record);
}

void Observation::written(std::uint32_t collection, const Record& record) {
  if (!record.fixed && !record.is_sample()) ++telemetry_.tally().of(collection).records_written;
}

void Observation::backlog(std::uint64_t bytes) { observe::peak(profile_.timers().backlog, bytes); }

void Observation::published(const OutputFile& file) {
  telemetry_.file_published(file.collection->id, file.collection->name, file.path, file.opened_ns,
                            file.as_published.bytes, file.records_taken);
  telemetry_.errors_published(*file.collection, file.errors);
  fire_published(file);
  observe::add(profile_.timers().files, 1);
  logger_.info("published {}", file.path);
  if (const std::string warning = never_put_.warning(file); !warning.empty()) warn(warning);
}

/// Files in memory fire no triggers: only tests use them.
void Observation::fire_published(const OutputFile& file) {
  if (!traits_of(file.collection->format).publishes) return;
  triggers_.file_published({file.path, file.collection->name, file.as_published.bytes, file.records_taken,
                            file.as_published.checksum, file.name.step, file.name.member,
                            file.name.date.value_or("")});
}

void Observation::given_up(const OutputFile& file, const std::string& why) {
  profile_.count_given_up(*file.collection);
  journal_.given_up(file, why);
}

}  // namespace afterbay::server
