// SPDX-License-Identifier: Apache-2.0
#include "server/catalog.hpp"

#include <algorithm>

#include "config/slab_shares.hpp"
#include "pipeline/plan.hpp"
#include "server/describe_collection.hpp"
#include "server/scatter.hpp"
#include "server/stage_sink.hpp"

namespace afterbay::server {
namespace {

/// One entry per variable; empty without stages.
std::vector<pipeline::Settings> settings_of(const ServedCollection& collection) {
  std::vector<pipeline::Settings> given;
  if (!collection.stages.empty()) given.resize(collection.schema.variables.size());
  for (const wire::StageSetting& it : collection.stages)
    if (it.variable < given.size()) given[it.variable][it.name] = it.value;
  return given;
}

}  // namespace

Catalog::Catalog(std::vector<int> session_ranks, const config::Config& config, const ThisServer& this_server)
    : session_ranks_(std::move(session_ranks)),
      config_(config),
      this_server_(this_server),
      decompositions_(session_ranks_, {this_server.server, this_server.checkers}) {}

Result<const ServedCollection*> Catalog::add(std::size_t peer, const wire::DefineCollection& message) {
  if (message.definition && !is_known(message.definition->format))
    return fail(
        make_error(ErrorCode::internal, "collection '{}' is defined with an unknown store", message.name)
            .at_rank(session_rank(peer)));
  auto [at, is_new] = collections_.try_emplace(message.id);
  ServedCollection& it = at->second;
  if (is_new) {
    it.id = message.id;
    it.name = message.name;
    it.digest = message.digest;
    new_collections_.push_back(message.id);
  } else if (it.name != message.name || it.digest != message.digest) {
    return fail(
        make_error(
            ErrorCode::conflict,
            "model rank {} defines collection '{}' differently from another rank ('{}' there): schema, "
            "store, options and settings of variables must be equal on all ranks",
            peer, message.name, it.name)
            .at_rank(session_rank(peer)));
  }
  if (!message.definition || it.layout) return nullptr;
  const wire::CollectionDefinition& definition = *message.definition;
  it.format = definition.format;
  it.existing = definition.existing;
  it.split = definition.split;
  it.servers = definition.servers;
  it.first = definition.first;
  it.gather_bytes = definition.gather_bytes;
  it.decompositions = definition.decompositions;
  it.stages = definition.stages;
  it.reductions = definition.reductions;
  it.trial_compressors = definition.trial_compressors;
  it.schema = definition.schema;
  const model::LayoutSizes sizes{config_.memory.block_bytes, config_.writing.chunk_bytes, it.gather_bytes,
                                 !it.reductions.empty()};
  AFTERBAY_TRY_ASSIGN(model::FileLayout layout, model::make_layout(it.schema, it.format, sizes));
  AFTERBAY_TRY_ASSIGN(pipeline::Plan plan,
                      pipeline::make_plan(it.schema, settings_of(it), !it.reductions.empty()));
  auto files = std::make_shared<const model::FileLayout>(std::move(layout));
  it.layout = pipeline::handover_layout(files, plan);
  it.owners = model::FrameOwners(*it.layout, it.split, it.servers.size(),
                                 config::slab_shares_of(it.servers, this_server_.slab_shares));
  it.part = part_in(it);
  it.sink = plan.empty() ? make_direct_sink(std::move(files))
                         : make_stage_sink(std::move(files), it.layout, it.schema, std::move(plan));
  return &it;
}

Result<bool> Catalog::end(std::size_t peer, const wire::DefineEnd& message) {
  if (ended_ == 0) {
    serial_ = message.serial;
    has_ended_.assign(ranks(), false);
  }
  if (message.serial != serial_)
    return fail(make_error(ErrorCode::conflict,
                           "model rank {} sends its definitions number {} while others send number {}", peer,
                           message.serial, serial_)
                    .at_rank(session_rank(peer)));
  has_ended_[peer] = true;
  return ++ended_ == ranks();
}

std::vector<int> Catalog::still_to_come() const {
  std::vector<int> absent;
  for (std::size_t p = 0; p < ranks() && ended_ > 0; ++p)
    if (!has_ended_[p]) absent.push_back(static_cast<int>(p));
  return absent;
}

Result<wire::MapVerdicts> Catalog::check() {
  ended_ = 0;
  AFTERBAY_TRY(decompositions_.check_blocks());
  for (const std::uint32_t id : new_collections_) AFTERBAY_TRY(find_needs(collections_[id], decompositions_));
  wire::MapVerdicts verdicts;
  verdicts.serial = serial_;
  verdicts.maps = decompositions_.check_maps();
  return verdicts;
}

wire::MapsChecked Catalog::judge(std::span<const std::vector<wire::MapVerdict>> by_server) const {
  wire::MapsChecked result = decompositions_.judge(by_server);
  result.serial = serial_;
  return result;
}

Result<wire::Defined> Catalog::complete(transport::FramePool& frames) {
  AFTERBAY_TRY_ASSIGN(const wire::MapVerdicts found, check());
  return complete(judge({&found.maps, 1}), frames);
}

Result<wire::Defined> Catalog::complete(const wire::MapsChecked& maps, transport::FramePool& frames) {
  if (maps.error) return fail(*maps.error);
  wire::Defined answer;
  answer.serial = serial_;
  new_packings_.clear();
  decompositions_.accept(maps);
  for (const std::uint32_t id : new_collections_) {
    ServedCollection& collection = collections_[id];
    describe(collection, decompositions_, new_packings_);
    AFTERBAY_TRY(declare(collection, frames));
    wire::Defined::Base base{id, collection.first_frame, {}};
    for (const auto* cut : collection.packed) base.packed.push_back(cut != nullptr ? 1 : 0);
    answer.bases.push_back(std::move(base));
  }
  new_collections_.clear();
  return answer;
}

std::uint16_t Catalog::part_in(const ServedCollection& it) const {
  if (it.split == model::Split::none) return 0;
  const auto position = [&](std::size_t server) {
    return static_cast<std::size_t>(std::ranges::find(it.servers, server) - it.servers.begin());
  };
  return static_cast<std::uint16_t>((position(this_server_.server) + it.servers.size() - position(it.first)) %
                                    it.servers.size());
}

/// Only this server's frames get an entry in its table.
Result<> Catalog::declare(ServedCollection& it, transport::FramePool& frames) {
  std::vector<transport::FrameDeclaration> declarations;
  declarations.reserve(it.frames());
  for (std::uint32_t number = 0; number < it.frames(); ++number) {
    const std::uint32_t frame = it.frame(number);
    const auto expected = it.expected_in(frame);
    declarations.push_back({it.layout->frames[frame].bytes, {expected.begin(), expected.end()}});
  }
  auto declared = frames.declare(declarations);
  if (!declared)
    return fail(std::move(declared).error().add(fmt::format("defining collection '{}'", it.name)));
  it.first_frame = *declared;
  owners_.resize(it.first_frame + declarations.size(), &it);
  return {};
}

std::vector<wire::MapPacking> Catalog::packings(std::size_t peer) const {
  std::vector<wire::MapPacking> messages;
  for (const ServedMap::Packings& packings : new_packings_)
    if (const auto at = packings.find(peer); at != packings.end()) messages.push_back(at->second);
  return messages;
}

const ServedCollection* Catalog::find(std::uint32_t id) const {
  const auto at = collections_.find(id);
  return at == collections_.end() ? nullptr : &at->second;
}

std::optional<Catalog::FoundMap> Catalog::map(std::uint32_t id) {
  const ServedDecomposition* const found = decompositions_.find(id);
  if (found == nullptr || !found->map || !found->checked) return std::nullopt;
  return FoundMap{found->name, *found->map};
}

const ServedCollection* Catalog::owner(std::uint32_t pool_frame) const {
  return pool_frame < owners_.size() ? owners_[pool_frame] : nullptr;
}

bool Catalog::contributes(const ServedCollection& collection, std::uint32_t variable,
                          std::size_t peer) const {
  const ServedDecomposition* const on = decompositions_.of(collection.decompositions[variable]);
  if (on == nullptr) return peer == 0;
  return on->map ? on->map->holds(peer) : on->blocks->holds(peer);
}

std::uint32_t Catalog::contributors(const ServedCollection& collection, std::uint32_t variable) const {
  const ServedDecomposition* const on = decompositions_.of(collection.decompositions[variable]);
  return on == nullptr ? 1 : on->holders;
}

bool Catalog::scatter(std::size_t peer, const transport::FrameSlot& slot, std::uint32_t piece_in_frame,
                      std::span<const std::byte> packed, std::byte* frame) const {
  const ServedCollection* collection = owner(slot.frame);
  if (collection == nullptr || peer >= ranks()) return false;
  const model::Frame in_layout =
      collection->layout->frames[collection->frame(slot.frame - collection->first_frame)];
  if (piece_in_frame >= in_layout.piece_count) return false;
  const model::Piece piece = collection->layout->pieces[in_layout.first_piece + piece_in_frame];
  const ServedDecomposition* const on = decompositions_.of(collection->decompositions[piece.variable]);
  return server::scatter(*collection, on, peer, piece, packed, frame + piece.frame_offset);
}

}  // namespace afterbay::server
