// SPDX-License-Identifier: Apache-2.0
// The server's implementation of Preparations::Host.
#include <span>
#include <utility>
#include <vector>

#include "server/server.hpp"

namespace afterbay::server {

Preparations::Host Server::preparations_host(std::size_t workers) {
  assert_role(ingest_thread);  // no other thread uses the server yet
  Preparations::Host host;
  host.server = static_cast<std::uint32_t>(identity_.number);
  host.workers = workers;
  host.submit = [this](Preparations::Task task, Preparations::Then then) AFTERBAY_REQUIRES(ingest_thread) {
    workers_.submit([this, task = std::move(task), then = std::move(then)] {
      executor_.post([then, made = task()]() AFTERBAY_REQUIRES(ingest_thread) { then(made); });
    });
  };
  host.make_structure = [this](Format format, const storage::FileRequest& request) {
    const observe::Timed timed(profile_.preparation());
    requests_.store(format).prepare(request);
  };
  if (journal_.is_kept()) host.begin_journal = [this] { return journal_.begin(); };
  host.make_buffer = [this](std::uint64_t bytes) { memory_.prepare_buffer(bytes); };
  host.has_files = [this]() AFTERBAY_REQUIRES(ingest_thread) { return !files_.all().empty(); };
  host.session_failed = [this]() AFTERBAY_REQUIRES(ingest_thread) { return failure_.happened(); };
  host.fail = [this](Error error) AFTERBAY_REQUIRES(ingest_thread) { fail(std::move(error)); };
  host.answer = [this](const wire::Defined& defined) AFTERBAY_REQUIRES(ingest_thread) {
    const auto bytes = wire::encode(defined);
    for (std::size_t p = 0; p < catalog_.ranks(); ++p) {
      for (const wire::MapLosses& lost : catalog_.losses(p)) port_->send(p, wire::encode(lost));
      for (const wire::MapPacking& packing : catalog_.packings(p)) port_->send(p, wire::encode(packing));
      port_->send(p, bytes);
    }
  };
  host.checkers = fellows_.count();
  host.maps.judge = [this](std::span<const std::vector<wire::MapVerdict>> verdicts)
                        AFTERBAY_REQUIRES(ingest_thread) { return catalog_.judge(verdicts); };
  host.maps.send_to_judge = [this](const wire::MapVerdicts& found) AFTERBAY_REQUIRES(ingest_thread) {
    if (auto sent = fellows_.send(wire::judging_server, found); !sent) fail(std::move(sent).error());
  };
  host.maps.send_to_all = [this](const wire::MapsChecked& checked)
                              AFTERBAY_REQUIRES(ingest_thread) { fellows_.broadcast(checked); };
  host.maps.done = [this](const wire::MapsChecked& checked) AFTERBAY_REQUIRES(ingest_thread) {
    if (failure_.happened()) return;
    auto answer = catalog_.complete(checked, port_->frames());
    if (answer)
      for (const wire::Defined::Base& base : answer->bases)
        if (auto added = reducer_.add(*catalog_.find(base.collection)); !added)
          return fail(std::move(added).error());
    profile_.note_statistics(reducer_.bytes());
    if (!answer) {
      // All servers that check the maps fail alike.
      failure_.ranks_contradict();
      files_.end_unclosed();
      return fail(std::move(answer).error(), SessionFailure::of_wrong_message(fellows_.linked()));
    }
    telemetry_.activate();
    preparations_.complete(catalog_, std::move(*answer));
  };
  return host;
}

}  // namespace afterbay::server
