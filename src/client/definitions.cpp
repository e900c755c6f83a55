// SPDX-License-Identifier: Apache-2.0
#include "client/definitions.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/default_arithmetic.hpp"
#include "base/suggest.hpp"
#include "config/names.hpp"
#include "model/decomposition.hpp"

namespace afterbay::client {

using transport::Wake;

Definitions::Definitions(SessionCore& core, const config::Config& config, observe::Profile& profile,
                         Logger logger)
    : core_(core),
      config_(config),
      timer_(profile.timer("define")),
      logger_(std::move(logger)),
      pools_(config, core.identity().pool_of_server, core.servers(), core.identity().slab_shares),
      answered_(core.servers(), 0) {}

Result<> Definitions::check_new_decomposition(const std::string& name) const {
  AFTERBAY_TRY(core_.check_usable());
  if (name.empty()) return fail(ErrorCode::invalid_argument, "a decomposition needs a name: it is empty");
  for (const Decomposition& known : decompositions_)
    if (known.name == name)
      return fail(ErrorCode::conflict, "decomposition '{}' is registered already", name);
  return {};
}

Result<> Definitions::add_decomposition(const std::string& name, const Block& block,
                                        const Coverage& coverage) {
  AFTERBAY_TRY(check_new_decomposition(name));
  if (coverage.repeats != Repeats::refuse)
    return core_.report_to_caller(
        make_error(ErrorCode::invalid_argument,
                   "decomposition '{}': blocks must not overlap; repeats can be declared for maps only", name)
            .at_rank(core_.identity().session_rank));
  if (auto good = model::check_block(name, block); !good)
    return core_.report_to_caller(std::move(good).error().at_rank(core_.identity().session_rank));
  const MutexLock lock(endpoints_mutex_);
  decompositions_.push_back(
      {static_cast<std::uint32_t>(decompositions_.size()), 0, name, coverage, block, nullptr});
  return {};
}

Result<> Definitions::add_decomposition(const std::string& name, const Map& map, const Coverage& coverage) {
  const observe::Timed timed(timer_);
  AFTERBAY_TRY(check_new_decomposition(name));
  auto runs = model::make_listed_runs(name, map, coverage.repeats);
  if (!runs) return core_.report_to_caller(std::move(runs).error().at_rank(core_.identity().session_rank));
  auto part = std::make_shared<MapPart>(model::Index(map.global), std::move(*runs));
  const MutexLock lock(endpoints_mutex_);
  decompositions_.push_back(
      {static_cast<std::uint32_t>(decompositions_.size()), 0, name, coverage, {}, std::move(part)});
  return {};
}

namespace {

/// Whether some variable of the collection lies on the map.
bool lies_on(const Collection& collection, const Decomposition& map) {
  for (std::uint32_t v = 0; v < collection.schema().variables.size(); ++v)
    if (collection.variable(v).map == map.map) return true;
  return false;
}

/// The memory that all points of the collection's maps take on one server, as they are encoded.
std::uint64_t bytes_of_maps(const Collection& collection) {
  constexpr std::uint64_t half_bytes_per_point = 5;  // in runs of a few points
  std::uint64_t half_bytes = 0;
  std::set<const MapPart*> seen;
  for (std::uint32_t v = 0; v < collection.schema().variables.size(); ++v)
    if (const auto& map = collection.variable(v).map; map && seen.insert(map.get()).second)
      half_bytes += map->global().product() * half_bytes_per_point;
  return half_bytes / 2;
}

std::vector<std::byte> encoded(const model::PointRuns& runs) {
  return runs.empty() ? std::vector<std::byte>() : model::encode_offsets(runs);
}

}  // namespace

bool Definitions::is_in_batch(const Collection& collection) const {
  const std::vector<Sent>& sent = sent_[collection.id()];
  return std::ranges::find(sent, Sent::in_this_batch) != sent.end();
}

void Definitions::add_needs(const Collection& collection, const Decomposition& decomposition,
                            model::MapDivision& division, std::vector<bool>& more) const {
  const std::vector<Sent>& sent = sent_[collection.id()];
  for (std::uint32_t v = 0; v < collection.schema().variables.size(); ++v) {
    const VariableState& variable = collection.variable(v);
    if (!variable.framed || variable.map != decomposition.map) continue;
    if (!collection.pool().is_split()) {
      for (const std::size_t s : collection.pool().servers()) {
        if (sent[s] == Sent::no) continue;
        division.need_all(s);
        more[s] = more[s] || sent[s] == Sent::in_this_batch;
      }
      return;
    }
    auto cells = model::cells_of_owners(collection.layout(), v, variable.mapped, collection.owners());
    for (model::CellRange& range : cells) {
      const std::size_t server = collection.pool().server_of_owner(static_cast<std::uint16_t>(range.owner));
      range.owner = static_cast<std::uint32_t>(server);
      more[server] = more[server] || sent[server] == Sent::in_this_batch;
    }
    division.need(model::part_of(collection.layout().variables[v].part, variable.mapped), cells);
  }
}

Result<bool> Definitions::send_map(const Decomposition& it, bool is_new) {
  const auto uses = [&](const auto& collection) {
    return is_in_batch(*collection) && lies_on(*collection, it);
  };
  if (!is_new && std::ranges::none_of(collections_, uses)) return false;
  const std::size_t servers = core_.servers();
  const bool homes = config_.servers_talk() && servers > 1;
  model::MapDivision division(it.map->global(), servers, homes);
  std::vector<bool> more(servers, is_new);
  for (const auto& collection : collections_) add_needs(*collection, it, division, more);
  std::vector<bool>& has_all = has_all_[it.id];
  has_all.resize(servers, false);
  std::size_t with_all = 0;
  for (std::size_t s = 0; s < servers; ++s) with_all += division.needs_all(s) || has_all[s] ? 1 : 0;
  // Servers that exchange no messages each check a whole map: one of them must have it.
  if (!homes && with_all == 0) {
    division.need_all(0);
    ++with_all;
  }
  for (std::size_t s = 0; s < servers; ++s)
    if (has_all[s]) more[s] = false;
  if (std::ranges::find(more, true) == more.end()) return false;
  const model::PointRuns& runs = it.map->runs();
  const auto& list = it.map->list();
  std::vector<std::vector<model::PointRun>> points(servers);
  std::vector<std::vector<model::PointRun>> lists(servers);
  bool has_parts = false;
  for (std::size_t s = 0; s < servers; ++s) has_parts = has_parts || (more[s] && !division.needs_all(s));
  if (has_parts) {
    points = division.divide(runs);
    if (list) lists = division.divide(*list);
  }
  wire::DefineMap whole;
  whole.id = it.id;
  whole.name = it.name;
  whole.coverage = it.coverage;
  whole.global.assign(it.map->global().begin(), it.map->global().end());
  whole.held = runs.points();
  whole.lost = it.map->has_lost() ? 1 : 0;
  wire::DefineMap part = whole;
  if (with_all > 0) {
    whole.all = 1;
    whole.points = encoded(runs);
    if (list) whole.list = encoded(*list);
  }
  for (std::size_t s = 0; s < servers; ++s) {
    if (!more[s]) continue;
    has_all[s] = division.needs_all(s);
    if (has_all[s]) {
      AFTERBAY_TRY(core_.send(s, whole, Wake::no));
      continue;
    }
    part.points = encoded(model::PointRuns(std::move(points[s]), runs.elements()));
    part.list = encoded(model::PointRuns(std::move(lists[s]), runs.elements()));
    if (part.list == part.points) part.list.clear();
    AFTERBAY_TRY(core_.send(s, part, Wake::no));
  }
  return true;
}

void Definitions::add_needs(const Collection& collection, const Decomposition& decomposition,
                            std::vector<Told>& needs) const {
  if (!is_in_batch(collection)) return;
  const std::vector<Sent>& sent = sent_[collection.id()];
  const auto need = [&](std::size_t server, Told what) { needs[server] = std::max(needs[server], what); };
  const bool holds = !model::box_of(decomposition.block).empty();
  for (std::uint32_t v = 0; v < collection.schema().variables.size(); ++v) {
    const VariableState& variable = collection.variable(v);
    if (variable.decomposition != static_cast<int>(decomposition.id)) continue;
    const bool whole_files = !collection.pool().is_split();
    for (const std::size_t s : collection.pool().servers())
      if (sent[s] == Sent::in_this_batch) need(s, whole_files && holds ? Told::block : Told::that_it_exists);
    if (whole_files || !holds || !variable.framed) continue;
    const auto& ranges = collection.owners().ranges();
    auto range = ranges.end();
    collection.layout().for_each_touching(v, variable.mine, [&](std::uint32_t piece) {
      if (range != ranges.end() && range->first_piece <= piece && piece < range->end_piece) return;
      range = std::ranges::upper_bound(ranges, piece, {}, &model::FrameOwners::Range::first_piece) - 1;
      need(collection.pool().server_of_owner(range->owner), Told::block);
    });
  }
}

Result<> Definitions::send_block(const Decomposition& it, bool is_new) {
  const std::size_t servers = core_.servers();
  std::vector<Told> needs(servers, Told::nothing);
  for (const auto& collection : collections_) add_needs(*collection, it, needs);
  std::vector<Told>& told = told_[it.id];
  told.resize(servers, Told::nothing);
  const bool holds = !model::box_of(it.block).empty();
  wire::DefineDecomposition message{it.id, it.name, it.coverage, holds, 0, 0, 0, {}};
  for (std::size_t s = 0; s < servers; ++s) {
    message.check = is_new && s == wire::checker_of(it.id, servers) ? 1 : 0;
    if (needs[s] <= told[s] && message.check == 0) continue;
    told[s] = std::max(told[s], needs[s]);
    message.used = told[s] != Told::nothing ? 1 : 0;
    message.here = told[s] == Told::block ? 1 : 0;
    message.block = it.block;
    if (!holds || (message.check == 0 && message.here == 0)) message.block.start = message.block.count = {};
    AFTERBAY_TRY(core_.send(s, message, Wake::no));
  }
  return {};
}

/// Settings for a collection that the model has not defined are probably mistyped.
void Definitions::warn_of_unknown_collections() const {
  if (core_.identity().model_rank != 0) return;
  std::vector<std::string> names;
  for (const auto& collection : collections_) names.push_back(collection->name());
  for (const std::string& line : config::unknown_collections(config_, names)) logger_.warning("{}", line);
}
Result<Definitions::Collections> Definitions::add_collection(const std::string& name, const Schema& schema,
                                                             const CollectionOptions& options,
                                                             std::vector<AskedReduction> reductions) {
  AFTERBAY_TRY(core_.check_usable());
  const DefaultArithmetic arithmetic;  // limits and fill values are compared and converted
  for (const auto& known : collections_)
    if (known->name() == name) return fail(ErrorCode::conflict, "collection '{}' is defined already", name);
  Collection::Definition definition{static_cast<std::uint32_t>(collections_.size()), name, schema, options,
                                    std::move(reductions)};
  auto made =
      Collection::make(std::move(definition), config_, decompositions_,
                       {core_.identity().model_rank, core_.identity().model_size, core_.servers(), &pools_});
  if (!made)
    return core_.report_to_caller(std::move(made)
                                      .error()
                                      .at_rank(core_.identity().session_rank)
                                      .add(fmt::format("defining collection '{}'", name)));
  const std::size_t first = collections_.size();
  for (auto& in_pool : *made) collections_.push_back(std::move(in_pool));
  return Collections(collections_).subspan(first);
}

Result<bool> Definitions::send_decompositions() {
  bool has_maps = false;
  for (std::size_t d = 0; d < decompositions_.size(); ++d) {
    const Decomposition& it = decompositions_[d];
    const bool is_new = d >= decompositions_sent_;
    if (it.map) {
      AFTERBAY_TRY_ASSIGN(const bool sent, send_map(it, is_new));
      has_maps = has_maps || sent;
    } else {
      AFTERBAY_TRY(send_block(it, is_new));
    }
  }
  return has_maps;
}

wire::DefineEnd Definitions::end_of_batch(bool has_maps) const {
  const auto any = [this](auto condition) -> std::uint8_t {
    return std::ranges::any_of(collections_, [&](const auto& it) { return condition(*it); }) ? 1 : 0;
  };
  wire::DefineEnd end;
  end.serial = serial_;
  end.writes_files = any([](const Collection& it) { return traits_of(it.format()).publishes; });
  end.balances_load = any(
      [](const Collection& it) { return it.pool().takes_least_loaded() || it.takes_least_loaded_pool(); });
  end.has_maps = has_maps ? 1 : 0;
  return end;
}

Result<Definitions::Collections> Definitions::send() {
  warn_of_unknown_collections();
  ++serial_;
  std::vector<wire::DefineCollection> messages;
  for (std::size_t c = collections_sent_; c < collections_.size(); ++c) {
    const Collection& collection = *collections_[c];
    messages.push_back(collection.message(core_.identity().model_rank == 0));
    std::vector<Sent>& sent = sent_.emplace_back(core_.servers(), Sent::no);
    if (gives_maps_later(collection)) continue;
    for (std::size_t s = 0; s < sent.size(); ++s)
      if (collection.pool().serves(s)) sent[s] = Sent::in_this_batch;
  }
  AFTERBAY_TRY_ASSIGN(const bool has_maps, send_decompositions());
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    for (std::size_t c = collections_sent_; c < collections_.size(); ++c) {
      if (sent_[c][s] != Sent::in_this_batch) continue;
      sent_[c][s] = Sent::before;
      AFTERBAY_TRY(core_.send(s, messages[c - collections_sent_], Wake::no));
    }
    AFTERBAY_TRY(core_.send_now(s, end_of_batch(has_maps)));
  }
  const std::size_t first_new = std::exchange(collections_sent_, collections_.size());
  decompositions_sent_ = decompositions_.size();
  AFTERBAY_TRY(core_.wait_until(
      [this] { return std::ranges::all_of(answered_, [this](auto n) { return n == serial_; }); },
      "the servers' answer to the definitions"));
  lose_points();
  {
    const MutexLock lock(endpoints_mutex_);
    decompositions_started_ = decompositions_.size();
  }
  return Collections(collections_).subspan(first_new);
}

bool Definitions::gives_maps_later(const Collection& collection) const {
  const std::vector<std::size_t>& pool = collection.pool().servers();
  const auto writes = [&](std::size_t server) { return collection.pool().serves(server); };
  if (collection.pool().is_split() || pool.size() < 2 || !std::ranges::all_of(pool, writes)) return false;
  return bytes_of_maps(collection) > config_.memory.maps_bytes / pool.size();
}

Result<> Definitions::define_at(const Collection& collection, std::size_t server) {
  ++serial_;
  Sent& sent = sent_[collection.id()][server];
  sent = Sent::in_this_batch;
  AFTERBAY_TRY(send_decompositions());
  sent = Sent::before;
  AFTERBAY_TRY(core_.send(server, collection.message(core_.identity().model_rank == 0), Wake::no));
  // The servers have checked the maps together: this one has nothing to ask the others.
  AFTERBAY_TRY(core_.send_now(server, end_of_batch(false)));
  return core_.wait_until([&] { return answered_[server] == serial_; },
                          Wait{.what = fmt::format("the answer of I/O server {} to the definition of "
                                                   "collection '{}'",
                                                   server, collection.name()),
                               .file = {},
                               .servers = [server] { return std::set<std::size_t>{server}; }});
}

std::vector<observe::CollectionRecord> Definitions::records_for_report() const {
  std::vector<observe::CollectionRecord> records;
  for (const auto& collection : collections_)
    if (!collection->by_pool().empty()) records.push_back(collection->record_for_report());
  return records;
}

Result<const Decomposition*> Definitions::decomposition(const std::string& name) const {
  std::vector<std::string> names;
  for (const Decomposition& known : decompositions_) {
    if (known.name == name) return &known;
    names.push_back(known.name);
  }
  return fail(ErrorCode::unknown_name, "decomposition '{}' has not been registered{}", name,
              did_you_mean(name, names));
}

Result<Decomposition> Definitions::started_decomposition(const std::string& name) const {
  const MutexLock lock(endpoints_mutex_);
  AFTERBAY_TRY_ASSIGN(const Decomposition* const known, decomposition(name));
  if (known->id < decompositions_started_) return *known;
  return fail(
      ErrorCode::bad_state,
      "decomposition '{}' is not known to the servers yet: call start, or open a file, before an endpoint "
      "registers its part",
      name);
}

void Definitions::answer(std::size_t server, const wire::Defined& message) {
  for (const auto& base : message.bases) {
    Collection& collection = *collections_.at(base.collection);
    collection.records().set_first_frame(server, base.first_frame);
    collection.packed().set(server, base.packed);
  }
  answered_[server] = message.serial;
}

void Definitions::answer(const wire::MapLosses& message) {
  std::vector<model::OffsetRun>& lost = lost_[message.id];
  for (std::size_t i = 0; i < message.offsets.size(); ++i)
    lost.push_back({message.offsets[i], message.lengths.at(i)});
}

/// When all servers have answered: each knows of points in its part of a map.
void Definitions::lose_points() {
  for (auto& [id, lost] : std::exchange(lost_, {}))
    decompositions_.at(id).map->lose(model::joined(std::move(lost)));
}

Result<> Definitions::answer(std::size_t server, wire::MapPacking message) {
  return decompositions_.at(message.id)
      .map->set_packing(server, model::Index(message.part),
                        {std::move(message.cells), std::move(message.before)});
}

}  // namespace afterbay::client
