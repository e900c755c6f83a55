// SPDX-License-Identifier: Apache-2.0
#include "client/session_puts.hpp"

#include <algorithm>
#include <utility>

namespace afterbay::client {

SessionPuts::SessionPuts(SessionCore& core, RankPuts& rank, const Definitions& definitions,
                         const OpenFiles& open_files, const JointPuts::Limits& limits,
                         observe::Profile& profile, std::function<std::uint64_t()> waited_for_files_ns,
                         std::function<Result<>()> sessions_work)
    : core_(core),
      rank_(rank),
      definitions_(definitions),
      open_files_(open_files),
      profile_(profile),
      endpoint_(core, rank, limits.deadline, profile),
      links_(core, std::move(waited_for_files_ns)),
      joint_(core, rank, endpoint_, links_, limits, profile, std::move(sessions_work)) {}

Result<> SessionPuts::share(const char* call) {
  if (own_) return {};
  AFTERBAY_TRY(core_.check_usable());
  AFTERBAY_TRY(rank_.check_no_slot_out(call));
  std::vector<JointRecords::Open> open;
  for (const OpenFiles* const files : {&open_files_, &std::as_const(samples_)})
    for (const auto& file : *files)
      for (const CollectionRecords::Record& record : file->collection->records().open(file->server))
        if (record.file == file->id)
          open.push_back({file.get(), record.record, record.fixed, core_.step(), record.seq});
  std::ranges::sort(open, {}, &JointRecords::Open::seq);  // those of one collection are in order then
  std::map<const File*, std::uint64_t> ended;
  for (const auto& file : open_files_) {
    std::uint64_t& records = ended[file.get()];
    for (const model::RecordSet& put : file->put) records = std::max(records, put.end());
    for (const JointRecords::Open& record : open)
      if (record.file == file.get() && !record.fixed) records = std::min(records, record.record);
  }
  joint_.start(std::move(open), std::move(ended));
  own_ = std::make_unique<PartEndpoint>(joint_, joint_.in_team([](Team& team) { return team.session(); }),
                                        profile_, core_.identity().session_rank);
  return {};
}

Result<> SessionPuts::take_part(const File& file, std::string_view variable) {
  const auto index = file.collection->index_of(variable);
  if (!index) return {};  // the put says so
  const int decomposition = file.collection->variable(*index).decomposition;
  const std::string& name = file.collection->schema().variables[*index].decomposition;
  if (!own_->has_part(decomposition)) {
    if (decomposition < 0) {
      AFTERBAY_TRY(own_->add_whole(nullptr));
    } else {
      AFTERBAY_TRY_ASSIGN(const Decomposition* const known, definitions_.decomposition(name));
      AFTERBAY_TRY(own_->add_whole(known));
    }
  }
  // Last: from here to note_part no endpoint gets a part of it.
  std::uint64_t after = 0;
  const std::string other = joint_.in_team([&](Team& team) {
    const Member* const it = team.other_with(*team.session(), decomposition);
    if (it != nullptr) return it->text();
    after = team.last_put_of_closed(decomposition);
    team.note_whole(decomposition, Team::under_way);
    return std::string();
  });
  own_->contribute_after(decomposition, after);
  if (!other.empty())
    return core_.report_to_caller(
        make_error(ErrorCode::conflict,
                   "{} has a part of {}: endpoints put the variables on it, each its part", other,
                   decomposition < 0 ? std::string("the variables without a decomposition")
                                     : fmt::format("decomposition '{}'", name))
            .in_file(file.path)
            .in_variable(std::string(variable))
            .at_rank(core_.identity().session_rank));
  return {};
}

void SessionPuts::note_part(const File& file, std::string_view variable) {
  const auto index = file.collection->index_of(variable);
  if (!index) return;
  const int decomposition = file.collection->variable(*index).decomposition;
  const std::uint64_t number = own_->has_begun(decomposition)
                                   ? Team::under_way
                                   : own_->member().last_put.load(std::memory_order_relaxed);
  joint_.in_team([&](Team& team) { team.note_whole(decomposition, number); });
}

Result<bool> SessionPuts::put(const std::shared_ptr<File>& file, std::string_view variable,
                              std::uint64_t record, const void* data, Type type, const MemoryLayout& memory,
                              const Section& section, bool may_wait) {
  if (!own_ && section.whole()) return endpoint_.put(*file, variable, record, data, type, memory, may_wait);
  AFTERBAY_TRY(share("put of a section"));
  AFTERBAY_TRY(joint_.tend());
  AFTERBAY_TRY(take_part(*file, variable));
  auto put = own_->put(file, variable, record, data, type, memory, section, may_wait);
  note_part(*file, variable);
  if (!put) return core_.report_to_caller(std::move(put).error());
  AFTERBAY_TRY(joint_.tend());
  return *put;
}

bool SessionPuts::shares_memory() const {
  for (std::size_t s = 0; s < core_.servers(); ++s)
    if (core_.link(s).packs()) return false;
  return true;
}

std::shared_ptr<File> SessionPuts::samples_of(Collection& collection) {
  const auto known = std::ranges::find(samples_, &collection, &File::collection);
  if (known != samples_.end()) return *known;
  auto file = std::make_shared<File>();
  file->id = wire::no_file;
  file->is_the_sessions = true;
  file->collection = &collection;
  file->path = fmt::format("the samples of collection '{}'", collection.name());
  file->server =
      collection.pool().is_split() ? collection.pool().first_owner() : collection.pool().server_of(0);
  file->servers.push_back(file->server);
  if (collection.pool().is_split())
    for (const std::size_t s : collection.pool().servers())
      if (s != file->server) file->servers.push_back(s);
  samples_.push_back(file);
  return file;
}

Result<> SessionPuts::begin(File& file, std::uint64_t record) {
  if (!own_) return endpoint_.begin(file, record);
  AFTERBAY_TRY(joint_.announce(file, record, own_->steps()));
  return joint_.tend();
}

Result<> SessionPuts::put_reduced(File& file, std::string_view variable, std::uint64_t record) {
  if (!own_) return endpoint_.put_reduced(file, variable, record);
  const auto done = [&]() -> Result<> {
    AFTERBAY_TRY(core_.check_usable());
    AFTERBAY_TRY_ASSIGN(const std::uint32_t index, file.collection->index_of(variable));
    return joint_.announce(file, record, own_->steps(), index);
  }();
  if (!done)
    return core_.report_to_caller(Error(done.error())
                                      .in_file(file.path)
                                      .in_variable(std::string(variable))
                                      .at_rank(core_.identity().session_rank));
  return joint_.tend();
}

Result<AcquiredSlot> SessionPuts::acquire(const std::shared_ptr<File>& file, std::string_view variable,
                                          std::uint64_t record, Type type) {
  if (!own_) {
    AFTERBAY_TRY_ASSIGN(auto slot, endpoint_.acquire(*file, variable, record, type));
    return AcquiredSlot(std::move(slot));
  }
  AFTERBAY_TRY(joint_.tend());
  AFTERBAY_TRY(take_part(*file, variable));
  auto slot = own_->acquire(file, variable, record, type);
  note_part(*file, variable);
  if (!slot) return core_.report_to_caller(std::move(slot).error());
  return AcquiredSlot(std::move(*slot));
}

Result<> SessionPuts::commit(const AcquiredSlot& slot, const void* buffer) {
  if (const auto* const mine = std::get_if<Endpoint::Acquired>(&slot)) return endpoint_.commit(*mine, buffer);
  if (auto done = own_->commit(std::get<PartEndpoint::Acquired>(slot), buffer); !done)
    return core_.report_to_caller(std::move(done).error());
  return joint_.tend();
}

void SessionPuts::forget(const AcquiredSlot& slot) noexcept {
  if (const auto* const mine = std::get_if<Endpoint::Acquired>(&slot))
    endpoint_.forget(*mine);
  else
    own_->forget(std::get<PartEndpoint::Acquired>(slot));
}

bool SessionPuts::is_out(const AcquiredSlot& slot) const {
  if (const auto* const mine = std::get_if<Endpoint::Acquired>(&slot)) return endpoint_.is_out(*mine);
  return own_->is_out(std::get<PartEndpoint::Acquired>(slot));
}

Result<std::shared_ptr<PartEndpoint>> SessionPuts::open_endpoint(std::string name) {
  AFTERBAY_TRY(share("opening an endpoint"));
  AFTERBAY_TRY(check_nothing_begun("opening an endpoint"));
  return join(std::move(name));
}

Result<std::shared_ptr<PartEndpoint>> SessionPuts::join(std::string name) {
  AFTERBAY_TRY(joint_.check_usable());
  return std::make_shared<PartEndpoint>(
      joint_, joint_.in_team([&](Team& team) { return team.join(std::move(name)); }), profile_,
      core_.identity().session_rank);
}

Result<> SessionPuts::check_nothing_begun(const char* call, const File* file) {
  if (!own_) return {};
  if (auto good = own_->check_nothing_begun(call, file); !good)
    return core_.report_to_caller(std::move(good).error());
  return {};
}

Result<> SessionPuts::end_step() {
  if (!own_) return {};
  if (auto ended = own_->end_step(); !ended) return core_.report_to_caller(std::move(ended).error());
  return joint_.tend();
}

}  // namespace afterbay::client
