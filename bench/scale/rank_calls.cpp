// SPDX-License-Identifier: Apache-2.0
// A model rank that sends to all servers by MPI, and servers that are idle: what its calls take
// that look at every link, and what it keeps after `open`.
#include <mpi.h>

#include <fmt/format.h>

#include <deque>

#include "client/model_session.hpp"
#include "scale/cards.hpp"
#include "scale/emulation.hpp"
#include "session/link_sizes.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/mpi_carrier.hpp"
#include "transport/mpi/receive_memory.hpp"
#include "transport/mpi/staging.hpp"
#include "wire/archive.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"

namespace bench {

using namespace afterbay;

namespace {

constexpr int calls = 200;

/// The real link, except that messages to the server stay here and it answers a flush at once.
class IdleServerLink final : public transport::ClientLink {
  using Bytes = transport::Bytes;
  using Millis = transport::Millis;
  using Slot = transport::FrameSlot;

 public:
  explicit IdleServerLink(std::unique_ptr<transport::ClientLink> link) : link_(std::move(link)) {}
  Result<void> send(std::span<const std::byte> message, transport::Wake) override {
    if (wire::kind_of(message) != wire::Flush::kind) return {};
    AFTERBAY_TRY_ASSIGN(const auto flush, wire::decode<wire::Flush>(message));
    answers_.push_back(wire::encode(wire::TicketDone{flush.ticket}));
    return {};
  }
  Result<void> send_ahead(std::span<const std::byte> message) override {
    return send(message, transport::Wake::now);
  }
  Result<void> flush() override { return link_->flush(); }
  Result<transport::Landing> reserve(const Slot& slot, std::uint32_t piece, std::uint64_t bytes,
                                     bool may_wait) override {
    return link_->reserve(slot, piece, bytes, may_wait);
  }
  Result<bool> make_room(std::span<const Slot> slots, std::uint64_t bytes, transport::RoomFor use) override {
    return link_->make_room(slots, bytes, use);
  }
  [[nodiscard]] Result<void> check_fits(std::span<const Slot> slots) const override {
    return link_->check_fits(slots);
  }
  Result<void> commit(const Slot& slot, std::uint32_t piece) override { return link_->commit(slot, piece); }
  void set_position(std::uint64_t position) override { link_->set_position(position); }
  void advance(std::uint64_t position, std::uint32_t frame) override { link_->advance(position, frame); }
  void rest() override { link_->rest(); }
  Result<std::optional<Bytes>> receive() override {
    AFTERBAY_TRY_ASSIGN(auto received, link_->receive());
    if (received || answers_.empty()) return received;
    Bytes answer = std::move(answers_.front());
    answers_.pop_front();
    return std::optional<Bytes>(std::move(answer));
  }
  void wait(Millis most) override { link_->wait(most); }
  [[nodiscard]] bool under_way() override { return link_->under_way(); }
  [[nodiscard]] std::uint64_t progress() const override { return link_->progress(); }
  Result<void> check_alive() override { return link_->check_alive(); }
  void hurry(std::uint64_t end_ns) override { link_->hurry(end_ns); }
  void set_idle(std::function<bool()> idle) override { link_->set_idle(std::move(idle)); }
  [[nodiscard]] std::string name() const override { return link_->name(); }
  [[nodiscard]] bool packs() const override { return true; }
  [[nodiscard]] std::uint64_t waited_ns() const override { return link_->waited_ns(); }
  [[nodiscard]] std::uint64_t messages() const override { return link_->messages(); }

 private:
  std::unique_ptr<transport::ClientLink> link_;
  std::deque<Bytes> answers_;
};

/// A model rank of the session.
client::ModelSession& session_of(const Case& it, const config::Config& config, bool answered) {
  auto* const profile = new observe::Profile(false);
  const transport::LinkSizes sizes =
      transport::network::shared_by(session::link_sizes(config.memory), it.ranks);
  const auto comm = std::make_shared<const mpi::Communicator>(
      must(mpi::Communicator::duplicate(MPI_COMM_SELF, config.deadline)));
  const auto staging = must(transport::network::Staging::make(sizes, it.servers, true));
  const transport::network::MpiShared shared{staging, std::make_shared<transport::network::ProbeRound>(comm)};
  const auto links_of_rank = std::make_shared<transport::RankLinks>();
  client::ModelSession::Links links;
  for (std::size_t s = 0; s < it.servers; ++s) {
    std::unique_ptr<transport::ClientLink> link = std::make_unique<transport::network::MpiClientLink>(
        std::make_unique<transport::network::MpiCarrier>(comm, shared, sizes.credits,
                                                         transport::network::MpiRoute{.rank = 0}),
        transport::network::MpiClientOptions{
            .server = fmt::format("I/O server {} (rank {})", s, it.ranks + s),
            .sizes = sizes,
            .rank_links = links_of_rank,
            .dedicated = fmt::format("I/O server {} (rank {}) on host node{}", s, it.ranks + s, s)});
    if (answered) link = std::make_unique<IdleServerLink>(std::move(link));
    links.push_back(std::move(link));
  }
  // Never destroyed: its links would wait for servers that do not exist.
  return *new client::ModelSession(
      {0, 0, static_cast<int>(it.ranks), std::vector<std::size_t>(it.servers), {}}, config, std::move(links),
      *profile, Logger({"scale", "model", 0}, LogLevel::error));
}

}  // namespace

/// Steps in which nothing is put, each followed by a flush, and by the wait for its answers, which
/// are there. Messages themselves do not count: they are not sent.
nlohmann::json measure_rank_calls(const Case& it, const config::Config& config) {
  client::ModelSession& session = session_of(it, config, true);
  double step_s = 0;
  double wait_s = 0;
  for (int i = 0; i < calls; ++i) {
    const double begin = thread_cpu_s();
    must(session.end_step());
    const double ended = thread_cpu_s();
    must(session.wait(must(session.flush())));
    wait_s += thread_cpu_s() - ended;
    step_s += ended - begin;
  }
  return {{"step_ns", step_s / calls * 1e9}, {"wait_ns", wait_s / calls * 1e9}};
}

/// What the last model rank keeps after `open`: what rank 0 told it, its links and its session.
nlohmann::json measure_rank_open(const Case& it, const config::Config& config) {
  const transport::network::Company company(cards_of(it));
  const int last = company.models().back();
  const Memory before = memory_now();
  auto* const view = new OneView(must(wire::decode<OneView>(wire::encode(OneView{company.view_of(last)}))));
  session_of(it, config, false);
  const Memory after = memory_now();
  if (view->view.model < 0) throw Failure(Error(ErrorCode::internal, "the last rank is not a model rank"));
  return {{"memory", grown(before.heap, after.heap)}};
}

}  // namespace bench
