// SPDX-License-Identifier: Apache-2.0
#include "server/prepare/received_definitions.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace afterbay::server {

ReceivedDefinitions::ReceivedDefinitions(const config::Config& config, const ServerIdentity& identity,
                                         Peers& peers, Host host)
    : peers_(peers),
      host_(std::move(host)),
      catalog_(identity.session_ranks, config,
               {static_cast<std::size_t>(identity.number), std::max<std::size_t>(1, peers.servers().count()),
                identity.slab_shares}),
      preparations_(preparations_host(identity)) {}

Preparations::Host ReceivedDefinitions::preparations_host(const ServerIdentity& identity) {
  assert_role(ingest_thread);  // no other thread uses the server yet
  Preparations::Host host = host_.preparations;
  host.server = static_cast<std::uint32_t>(identity.number);
  host.checkers = peers_.servers().count();
  host.answer = [this](const wire::Defined& defined) AFTERBAY_REQUIRES(ingest_thread) { answer(defined); };
  host.maps.judge = [this](std::span<const std::vector<wire::MapVerdict>> verdicts)
                        AFTERBAY_REQUIRES(ingest_thread) { return catalog_.judge(verdicts); };
  host.maps.send_to_judge = [this](const wire::MapVerdicts& found) AFTERBAY_REQUIRES(ingest_thread) {
    if (auto sent = peers_.servers().send(wire::judging_server, found); !sent)
      host_.preparations.fail(std::move(sent).error());
  };
  host.maps.send_to_all = [this](const wire::MapsChecked& checked)
                              AFTERBAY_REQUIRES(ingest_thread) { peers_.servers().broadcast(checked); };
  host.maps.done = [this](const wire::MapsChecked& checked)
                       AFTERBAY_REQUIRES(ingest_thread) { complete(checked); };
  return host;
}

/// File structures are made while the ranks still define and wait for the answer.
Result<> ReceivedDefinitions::add(std::size_t peer, const wire::DefineCollection& message) {
  AFTERBAY_TRY_ASSIGN(const ServedCollection* const collection, catalog_.add(peer, message));
  if (collection != nullptr) preparations_.begin(*collection);
  return {};
}

Result<> ReceivedDefinitions::end(std::size_t peer, const wire::DefineEnd& message) {
  AFTERBAY_TRY_ASSIGN(const bool last, catalog_.end(peer, message));
  if (!last) return {};
  if (message.writes_files != 0) host_.writes_files();
  if (message.balances_load != 0) host_.balances_load();
  AFTERBAY_TRY_ASSIGN(wire::MapVerdicts verdicts, catalog_.check());
  preparations_.maps().found(std::move(verdicts), message.has_maps == 0);
  return {};
}

/// All servers that check the maps fail alike.
void ReceivedDefinitions::complete(const wire::MapsChecked& checked) {
  if (host_.preparations.session_failed()) return;
  auto answer = catalog_.complete(checked, peers_.frames());
  if (!answer) return host_.contradiction(std::move(answer).error());
  if (auto served = host_.completed(*answer); !served)
    return host_.preparations.fail(std::move(served).error());
  preparations_.complete(catalog_, std::move(*answer));
}

void ReceivedDefinitions::answer(const wire::Defined& defined) {
  const auto bytes = wire::encode(defined);
  for (std::size_t p = 0; p < catalog_.ranks(); ++p) {
    for (const wire::MapLosses& lost : catalog_.losses(p)) peers_.send(p, lost);
    for (const wire::MapPacking& packing : catalog_.packings(p)) peers_.send(p, packing);
    peers_.port().send(p, bytes);
  }
}

}  // namespace afterbay::server
