// SPDX-License-Identifier: Apache-2.0
#include "client/definitions.hpp"

#include <algorithm>
#include <utility>

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
      pools_(config, core.identity().pool_of_server, core.servers()),
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
  decompositions_.push_back(
      {static_cast<std::uint32_t>(decompositions_.size()), name, coverage, block, nullptr});
  return {};
}

Result<> Definitions::add_decomposition(const std::string& name, const Map& map, const Coverage& coverage) {
  const observe::Timed timed(timer_);
  AFTERBAY_TRY(check_new_decomposition(name));
  auto runs = model::make_listed_runs(name, map, coverage.repeats);
  if (!runs) return core_.report_to_caller(std::move(runs).error().at_rank(core_.identity().session_rank));
  auto part = std::make_shared<MapPart>(model::Index(map.global), std::move(*runs));
  decompositions_.push_back(
      {static_cast<std::uint32_t>(decompositions_.size()), name, coverage, {}, std::move(part)});
  return {};
}

Result<> Definitions::send_decomposition(std::size_t server, const Decomposition& it) {
  if (!it.map)
    return core_.send(server, wire::DefineDecomposition{it.id, it.name, it.coverage, it.block}, Wake::no);
  const model::Index& global = it.map->global();
  return core_.send(
      server,
      wire::DefineMap{it.id,
                      it.name,
                      it.coverage,
                      {global.begin(), global.end()},
                      model::encode_offsets(it.map->runs()),
                      it.map->list() ? model::encode_offsets(*it.map->list()) : std::vector<std::byte>()},
      Wake::no);
}

/// Settings for a collection that the model has not defined are probably mistyped.
void Definitions::warn_of_unknown_collections() const {
  if (core_.identity().model_rank != 0) return;
  std::vector<std::string> names;
  for (const auto& collection : collections_) names.push_back(collection->name());
  for (const std::string& line : config::unknown_collections(config_, names)) logger_.warning("{}", line);
}
Result<Definitions::Collections> Definitions::add_collection(const std::string& name, const Schema& schema,
                                                             const CollectionOptions& options) {
  AFTERBAY_TRY(core_.check_usable());
  for (const auto& known : collections_)
    if (known->name() == name) return fail(ErrorCode::conflict, "collection '{}' is defined already", name);
  Collection::Definition definition{static_cast<std::uint32_t>(collections_.size()), name, schema, options};
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

Result<Definitions::Collections> Definitions::send() {
  warn_of_unknown_collections();
  ++serial_;
  const bool writes_files =
      std::ranges::any_of(collections_, [](const auto& it) { return traits_of(it->format()).publishes; });
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    for (std::size_t d = decompositions_sent_; d < decompositions_.size(); ++d)
      AFTERBAY_TRY(send_decomposition(s, decompositions_[d]));
    for (std::size_t c = collections_sent_; c < collections_.size(); ++c)
      if (collections_[c]->serves(s))
        AFTERBAY_TRY(core_.send(s, collections_[c]->message(core_.identity().model_rank == 0), Wake::no));
    AFTERBAY_TRY(
        core_.send_now(s, wire::DefineEnd{serial_, static_cast<std::uint8_t>(writes_files ? 1 : 0)}));
  }
  const std::size_t first_new = std::exchange(collections_sent_, collections_.size());
  decompositions_sent_ = decompositions_.size();
  AFTERBAY_TRY(core_.wait_until(
      [this] { return std::ranges::all_of(answered_, [this](auto n) { return n == serial_; }); },
      "the servers' answer to the definitions"));
  return Collections(collections_).subspan(first_new);
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

void Definitions::answer(std::size_t server, const wire::Defined& message) {
  for (const auto& base : message.bases) {
    Collection& collection = *collections_.at(base.collection);
    collection.records().set_first_frame(server, base.first_frame);
    collection.set_packed(base.packed);
  }
  answered_[server] = message.serial;
}

void Definitions::answer(const wire::MapLosses& message) {
  std::vector<model::OffsetRun> lost;
  for (std::size_t i = 0; i < message.offsets.size(); ++i)
    lost.push_back({message.offsets[i], message.lengths.at(i)});
  decompositions_.at(message.id).map->lose(lost);
}

Result<> Definitions::answer(wire::MapPacking message) {
  return decompositions_.at(message.id)
      .map->set_packing(model::Index(message.part), message.cells, std::move(message.before));
}

}  // namespace afterbay::client
