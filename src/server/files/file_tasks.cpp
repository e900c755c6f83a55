// SPDX-License-Identifier: Apache-2.0
#include "server/files/file_tasks.hpp"

#include <algorithm>
#include <utility>

#include "base/caller_terms.hpp"
#include "model/changes.hpp"

namespace afterbay::server {

FileTasks::FileTasks(const config::Config& config, const Identity& identity, Stores stores,
                     transport::FramePool& frames, Observation& observation, SpacePolicy& space,
                     std::size_t workers, Host host)
    : config_(config),
      observation_(observation),
      space_(space),
      host_(std::move(host)),
      requests_(config, std::move(stores), identity.number,
                observation.journal().is_kept() && config.sums_files()),
      memory_(config, frames,
              {identity.number, host_.moved, [this](const std::string& text) { observation_.warn(text); },
               host_.dropped}),
      publisher_(observation.journal(), workers, publisher_host()) {}

Publisher::Host FileTasks::publisher_host() {
  Publisher::Host host;
  host.submit = host_.submit;
  host.check_wanted = [this](const OutputFile& file) { return check_wanted(file); };
  host.triggers = [this](const OutputFile& file) {
    return observation_.triggers().due_for_file(file.collection->name);
  };
  host.wrote = [this](std::uint64_t bytes) { observation_.wrote_at_end(bytes); };
  host.done = [this](PublicationEnded it) { host_.done(std::move(it)); };
  return host;
}

storage::FileRequest FileTasks::request_for(const OutputFile& file) {
  return requests_.request(file, space_.disk(), space_.of(*file.collection).readable);
}

void FileTasks::prepare(Format format, const storage::FileRequest& request) {
  const observe::Timed timed(observation_.profile().preparation());
  requests_.store(format).prepare(request);
}

Result<> FileTasks::check_wanted(const OutputFile& file) const {
  AFTERBAY_TRY(file.check_wanted());
  return host_.check_time(file.path);
}

bool FileTasks::is_droppable(const ServedCollection& collection) {
  return config_.writing.when_full == config::WhenFull::drop && collection.split == model::Split::none &&
         space_.of(collection).droppable;
}

// ---- creation

WorkerTask FileTasks::create(const OutputFile& file, SchemaChanges changes) {
  observation_.profile().of(*file.collection);
  return [this, id = file.id, request = request_for(file), shared = file.role == OutputFile::Role::leader,
          collection = file.collection, changes = std::move(changes)]() mutable {
    observe::Timed timed(observation_.profile().timers().create);
    FileCreated result{.file = id};
    const auto make = [&]() -> Result<> {
      // Without the run in the journal, a part file could not be attributed to a run if this
      // process were killed now.
      if (observation_.journal().records(*collection)) AFTERBAY_TRY(observation_.journal().begin());
      AFTERBAY_TRY_ASSIGN(request.schema, model::apply(collection->schema, changes));
      AFTERBAY_TRY_ASSIGN(result.created, requests_.store(collection->format).create(request));
      observation_.created(*collection, *result.created);
      if (!shared) return {};
      AFTERBAY_TRY_ASSIGN(result.share, result.created->share());
      return {};
    };
    if (auto made = make(); !made) result.error = std::move(made).error();
    timed.stop();  // before the ingest thread can end the run
    host_.done(std::move(result));
  };
}

WorkerTask FileTasks::join(const OutputFile& file, SchemaChanges changes, std::vector<std::byte> share,
                           std::shared_ptr<storage::Placer> placer) {
  observation_.profile().of(*file.collection);
  return [this, id = file.id, request = request_for(file), placer = std::move(placer),
          collection = file.collection, changes = std::move(changes), share = std::move(share)]() mutable {
    observe::Timed timed(observation_.profile().timers().create);
    FileCreated result{.file = id};
    const auto join = [&]() -> Result<> {
      AFTERBAY_TRY_ASSIGN(request.schema, model::apply(collection->schema, changes));
      AFTERBAY_TRY_ASSIGN(result.created, requests_.store(collection->format).join(request, share, placer));
      return {};
    };
    if (auto joined = join(); !joined) result.error = std::move(joined).error();
    timed.stop();
    host_.done(std::move(result));
  };
}

WorkerTask FileTasks::note_opened(const OutputFile& file) const {
  return [this, &file, id = file.id] {
    OpeningNoted result{.file = id};
    if (auto noted = observation_.journal().opened(file); !noted) result.error = std::move(noted).error();
    host_.done(std::move(result));
  };
}

// ---- data

WorkerTask FileTasks::write(OutputFile& file, FrameTask frame, std::uint64_t seq, bool droppable) {
  const std::uint32_t collection = frame.collection->id;
  const CollectionTimers timers = observation_.profile().of(*frame.collection);
  frame.sampler = observation_.codecs().sampler_of(collection);
  return [this, timers, queued = memory_.add(std::move(frame), {collection, seq}, droppable), collection,
          &file, seq] {
    observe::Timed timed(timers.write);
    FrameWritten result{.file = file.id, .collection = collection, .seq = seq};
    auto cost = write_queued(*queued, file, timers);
    if (cost) {
      timed.bytes(cost->bytes_in);
      observation_.wrote(*cost, timers);
      result.errors = std::move(cost->errors);
    } else {
      result.error = std::move(cost).error();
    }
    timed.stop();
    host_.done(std::move(result));
  };
}

Result<storage::WriteCost> FileTasks::write_queued(Overflow::Frame& frame, const OutputFile& file,
                                                   const CollectionTimers& timers) {
  return memory_.take(frame, [&](const FrameTask& task, ScratchBuffers& scratch) {
    auto cost = [&]() -> Result<storage::WriteCost> {
      AFTERBAY_TRY(check_wanted(file));
      return write_frame_task(task, *file.file, scratch, {timers.fill, timers.stages});
    }();
    if (!cost) cost.error().in_file(file.path);
    return cost;
  });
}

WorkerTask FileTasks::take_samples(FrameTask samples, std::uint64_t seq, const RecordHead& record,
                                   const FrameOrder::Frame& turn, FrameStates& states) {
  const CollectionTimers timers = observation_.profile().of(*samples.collection);
  auto queued = memory_.add(std::move(samples), {turn.collection, seq}, false);
  return [this, timers, queued = std::move(queued), seq, head = record, turn, &states] {
    const observe::Timed timed(timers.write);
    FrameWritten result{.file = wire::no_file, .collection = turn.collection, .seq = seq, .turn = turn};
    auto cost = memory_.take(
        *queued, [&](const FrameTask& task, ScratchBuffers& scratch) -> Result<storage::WriteCost> {
          const OrderedFrame ordered(task, scratch, timers.fill);
          observe::Timed computes(timers.statistics);
          AFTERBAY_TRY(states.take(ordered.frame(), head));
          storage::WriteCost taken;
          for (const std::uint32_t p : task.pieces)
            taken.bytes_in += task.collection->layout->pieces[p].bytes;
          computes.bytes(taken.bytes_in);
          return taken;
        });
    if (cost)
      observation_.wrote(*cost, timers);
    else
      result.error = std::move(cost).error();
    host_.done(std::move(result));
  };
}

WorkerTask FileTasks::write_results(OutputFile& file, std::vector<std::uint32_t> pieces, std::uint64_t seq,
                                    const RecordHead& record, const FrameOrder::Frame& turn,
                                    FrameStates& states) {
  const CollectionTimers timers = observation_.profile().of(*file.collection);
  ChunkSampler* const sampler =
      file.holds_states ? nullptr : observation_.codecs().sampler_of(turn.collection);
  return [this, timers, &file, pieces = std::move(pieces), seq, head = record, turn, &states, sampler] {
    observe::Timed timed(timers.write);
    FrameWritten result{.file = file.id, .collection = turn.collection, .seq = seq, .turn = turn};
    auto cost = memory_.with_scratch([&](ScratchBuffers& scratch) -> Result<storage::WriteCost> {
      AFTERBAY_TRY(check_wanted(file));
      ScratchBuffers::Lease buffer(scratch);
      const model::HandoverLayout& layout = *file.collection->layout;
      const model::Frame frame = layout.frames[layout.pieces[pieces.front()].frame];
      std::byte* const base = buffer.data() + layout.phase(frame, head.record);
      {
        const observe::Timed computes(timers.statistics);
        if (file.holds_states) {
          states.plane(pieces, head, base);
        } else {
          AFTERBAY_TRY(states.results(pieces, base));
        }
        fill_gaps(*file.collection, pieces, base);
      }
      const CompleteFrame results{base, pieces, head.record, head.epochs, true, sampler};
      return file.collection->sink->write(results, *file.file, scratch, timers.stages);
    });
    if (cost) {
      cost->bytes_in = 0;  // they were counted as samples
      observation_.wrote(*cost, timers);
      result.errors = std::move(cost->errors);
    } else {
      result.error =
          std::move(cost).error().in_file(file.path).in_variable(variables_of(*file.collection, pieces));
    }
    timed.stop();
    host_.done(std::move(result));
  };
}

WorkerTask FileTasks::write_strings(OutputFile& file, std::uint64_t number, wire::PutStrings message) {
  const CollectionTimers timers = observation_.profile().of(*file.collection);
  return [this, &file, timers, number, message = std::move(message)] {
    observe::Timed timed(timers.write);
    StringsWritten result{.file = file.id, .number = number};
    auto cost = [&]() -> Result<storage::WriteCost> {
      AFTERBAY_TRY(check_wanted(file));
      return file.file->write_strings(message.variable, message.record, message.values);
    }();
    if (cost) {
      timed.bytes(cost->bytes_in);
      observation_.wrote(*cost, timers);
    } else {
      result.error =
          std::move(cost).error().in_variable(file.collection->schema.variables[message.variable].name);
    }
    timed.stop();
    host_.done(std::move(result));
  };
}

// ---- epochs and ends

WorkerTask FileTasks::mark_epoch(OutputFile& file, storage::Epoch epoch,
                                 std::vector<storage::MemberEpoch> parts) {
  const bool member = file.role == OutputFile::Role::member;
  const CollectionTimers timers = observation_.profile().of(*file.collection);
  epoch.dropped = file.records_dropped;
  for (const storage::MemberEpoch& part : parts) model::merge(file.errors, part.errors);
  return [this, &file, member, timers, epoch = std::move(epoch), parts = std::move(parts),
          errors = file.errors]() mutable {
    observe::Timed timed(observation_.profile().timers().epoch);
    EpochMarked result{.file = file.id, .epoch = epoch.number};
    auto marked = [&]() -> Result<> {
      AFTERBAY_TRY(check_wanted(file));
      if (member) {
        AFTERBAY_TRY_ASSIGN(result.part, file.file->mark_member_epoch(epoch));
        result.part->errors = std::move(errors);
        return {};
      }
      AFTERBAY_TRY(observation_.journal().settle());
      epoch.records = std::max(epoch.records, file.file->records());
      if (!errors.empty()) AFTERBAY_TRY(file.file->note_errors(errors));
      AFTERBAY_TRY_ASSIGN(const auto cost, file.file->mark_epoch(epoch, parts));
      observation_.wrote(cost, timers);
      return {};
    }();
    if (!marked) result.error = std::move(marked).error();
    timed.stop();
    host_.done(std::move(result));
  };
}

WorkerTask FileTasks::hand_over(OutputFile& file) {
  const CollectionTimers timers = observation_.profile().of(*file.collection);
  return [this, timers, &file] {
    observe::Timed timed(timers.publish);
    PartHandedOver result{.file = file.id};
    if (auto account = file.file->hand_over())
      result.account = std::move(*account);
    else
      result.error = std::move(account).error();
    timed.stop();
    host_.done(std::move(result));
  };
}

void FileTasks::publish(OutputFile& file) {
  publisher_.publish(file, observation_.profile().of(*file.collection).publish,
                     space_.of(*file.collection).priority);
}

}  // namespace afterbay::server
