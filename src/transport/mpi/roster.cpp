// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/roster.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string_view>

#include "base/host.hpp"

namespace afterbay::transport::network {
namespace {

/// FNV-1a.
std::uint64_t digest(std::string_view text, std::uint64_t value = 0xCBF2'9CE4'8422'2325ULL) {
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3ULL;
  return value;
}

std::uint64_t digest_of(const LinkSizes& s) {
  return digest(fmt::format("{} {} {} {} {} {} {} {} {} {} {}", s.block_bytes, s.small_block_bytes,
                            std::bit_cast<std::uint64_t>(s.small_share), s.ring_bytes, s.reply_bytes,
                            s.instances, s.max_frames, s.segment_bytes, s.segments, s.credits,
                            s.receive_bytes));
}

/// The cards of the ranks below a rank and its own, in rank order.
struct Cards {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::cards);
  std::vector<RankCard> cards;
  template <class A>
  void fields(A& a) {
    a(cards);
  }
};

RankCard own_card(int rank, const ConnectOptions& options) {
  RankCard own;
  own.rank = rank;
  own.model = options.model ? 1 : 0;
  own.server = options.server ? 1 : 0;
  own.frontend = options.frontend ? 1 : 0;
  own.transport = static_cast<std::uint8_t>(options.transport);
  own.declared_node = options.declared_node.value_or(-1);
  own.machine = machine_number();
  own.settings = digest_of(options.sizes);
  own.pool = options.pool;
  own.memory_bytes = options.frontend ? options.frontend_bytes : options.sizes.memory_bytes;
  own.pid = own_process().pid;
  own.pid_space = own_process().space;
  if (options.server || options.frontend) own.host = host_name();
  if (options.model) own.routes.assign(options.frontends.begin(), options.frontends.end());
  return own;
}

bool same_machine(const RankCard& a, const RankCard& b) { return a.machine == b.machine; }

/// Whether a server of the pool is among the ranks from `first` to `end` - 1.
bool any_serves(const std::vector<RankCard>& servers, std::int32_t pool, int first, int end) {
  return std::ranges::any_of(
      servers, [&](const RankCard& it) { return it.pool == pool && first <= it.rank && it.rank < end; });
}

}  // namespace

std::uint64_t machine_number() {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return digest(fmt::format("{} {} {}", std::string_view(name, static_cast<std::size_t>(length)), boot,
                            own_process().space));
}

bool share_memory(const RankCard& a, const RankCard& b) noexcept {
  if (a.rank == b.rank) return true;
  switch (static_cast<TransportChoice>(a.transport)) {
    case TransportChoice::shm: return true;
    case TransportChoice::mpi: return false;
    case TransportChoice::automatic: break;
  }
  return same_machine(a, b) && a.declared_node == b.declared_node;
}

std::vector<Turns> to_turns(const std::vector<std::int32_t>& list) {
  constexpr std::size_t longest_turn = 64;
  std::vector<Turns> all;
  for (std::size_t at = 0; at < list.size();) {
    std::size_t best_turn = 1;
    std::size_t best = 0;
    for (std::size_t turn = 1; turn <= std::min(longest_turn, list.size() - at); ++turn) {
      std::size_t count = turn;
      while (at + count < list.size() && list[at + count] == list[at + count - turn]) ++count;
      // A longer turn must save more than its own length.
      if (best == 0 || count >= best + 2 * turn) {
        best = count;
        best_turn = turn;
      }
      if (at + count == list.size()) break;
    }
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(at);
    all.push_back({best, {begin, begin + static_cast<std::ptrdiff_t>(best_turn)}});
    at += best;
  }
  return all;
}

std::vector<std::int32_t> from_turns(const std::vector<Turns>& turns) {
  std::vector<std::int32_t> list;
  for (const Turns& it : turns)
    for (std::uint64_t i = 0; i < it.count && !it.frontends.empty(); ++i)
      list.push_back(it.frontends[i % it.frontends.size()]);
  return list;
}

// ---- rank 0

Company::Company(std::vector<RankCard> cards) : cards_(std::move(cards)) {
  for (const RankCard& it : cards_) {
    if (it.model != 0) {
      by_machine_[it.machine].push_back(models_.size());
      for (const int frontend : it.routes)
        if (frontend >= 0 && (clients_[frontend].empty() || clients_[frontend].back() != models_.size()))
          clients_[frontend].push_back(models_.size());
      models_.push_back(it.rank);
    }
    if (it.frontend != 0) frontends_.push_back(it.rank);
    if (it.server != 0) servers_.push_back(it.rank);
  }
  for (const int frontend : frontends_) {
    const int pool = card(frontend).pool;
    if (routes_.contains(pool)) continue;
    std::vector<std::int32_t> of_pool;
    for (const int model : models_) of_pool.push_back(via(model, pool));
    routes_[pool] = to_turns(of_pool);
  }
}

int Company::via(int model, int pool) const {
  const auto& routes = card(model).routes;
  return static_cast<std::size_t>(pool) < routes.size() ? routes[static_cast<std::size_t>(pool)] : -1;
}

std::size_t Company::servers_behind(int frontend) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(servers_, [&](int server) { return card(server).pool == card(frontend).pool; }));
}

const std::vector<std::uint64_t>& Company::clients(int frontend) const {
  static const std::vector<std::uint64_t> none;
  const auto found = clients_.find(frontend);
  return found == clients_.end() ? none : found->second;
}

Result<void> Company::check(const Manner& manner) const {
  if (models_.empty() || servers_.empty())
    return fail(ErrorCode::invalid_argument,
                "of {} ranks {} are model ranks and {} I/O servers: at least one of each is needed",
                cards_.size(), models_.size(), servers_.size());
  for (const RankCard& it : cards_) {
    const int number = manner.called(it.rank);
    if (it.settings != cards_[0].settings || it.transport != cards_[0].transport)
      return fail(
          make_error(
              ErrorCode::conflict,
              "rank {} has other transport settings (sizes or choice of transport) than rank {}; give all "
              "ranks the same configuration",
              number, manner.called(0))
              .at_rank(number));
    if ((it.declared_node < 0) != (cards_[0].declared_node < 0))
      return fail(ErrorCode::conflict,
                  "rank {} and rank {} differ in whether their node is declared; declare all or none", number,
                  manner.called(0));
    for (const int frontend : it.routes)
      if (frontend >= static_cast<int>(cards_.size()) || (frontend >= 0 && card(frontend).frontend == 0))
        return fail(ErrorCode::internal, "rank {} sends through rank {}, which is not a frontend", number,
                    frontend);
  }
  if (static_cast<TransportChoice>(cards_[0].transport) != TransportChoice::shm) return {};
  return check_shared(manner);
}

Result<void> Company::check_shared(const Manner& manner) const {
  for (const int server : servers_)
    for (const int model : models_) {
      const int frontend = via(model, card(server).pool);
      if (!same_machine(card(model), card(frontend < 0 ? server : frontend)))
        return fail(ErrorCode::invalid_argument,
                    "shared memory is set for all pairs, but model rank {} and the I/O server at rank "
                    "{} run on "
                    "different nodes (or in different containers); use the transport `auto`, or "
                    "place an I/O "
                    "server on each node",
                    manner.called(model), manner.called(server));
    }
  return {};
}

RankView Company::view_of(int rank) const {
  RankView view;
  const RankCard& self = card(rank);
  const auto models_card = [&](std::uint64_t model) -> const RankCard& {
    return card(models_[static_cast<std::size_t>(model)]);
  };
  if (self.model != 0) {
    const auto number = static_cast<std::uint64_t>(std::ranges::lower_bound(models_, rank) - models_.begin());
    view.model = static_cast<std::int64_t>(number);
    for (const int frontend : self.routes) {
      if (frontend < 0) continue;
      Via via{card(frontend), clients(frontend).size(), 0, std::nullopt};
      for (const std::uint64_t client : clients(frontend)) {
        if (!share_memory(models_card(client), via.card)) continue;
        if (client == number) via.slot = via.near;
        ++via.near;
      }
      view.vias.push_back(std::move(via));
    }
  }
  if (self.server != 0) {
    if (const auto here = by_machine_.find(self.machine); here != by_machine_.end())
      for (const std::uint64_t model : here->second) {
        const RankCard& it = models_card(model);
        view.near.push_back(
            {model, static_cast<std::uint8_t>(share_memory(it, self) ? 1 : 0), it.pid, it.pid_space});
      }
  }
  if (self.frontend != 0)
    for (const std::uint64_t client : clients(rank)) {
      view.clients.push_back(client);
      if (share_memory(models_card(client), self)) view.near_clients.push_back(client);
    }
  return view;
}

Views Company::views(int first, int end) const {
  Views all;
  const RankRanges models(models_);
  for (const RankRanges::Range& range : models.ranges()) {
    all.models.push_back(range.first);
    all.models.push_back(range.last);
  }
  all.servers.reserve(servers_.size());
  for (const int server : servers_) {
    all.servers.push_back(card(server));
    all.servers.back().routes.clear();
  }
  for (const auto& [pool, routes] : routes_) {
    if (!any_serves(all.servers, pool, first, end)) continue;
    PoolRoutes& of_pool = all.relayed.emplace_back(PoolRoutes{pool, routes, {}});
    for (const int frontend : frontends_)
      if (card(frontend).pool == pool) of_pool.frontends.push_back(card(frontend));
  }
  all.views.reserve(static_cast<std::size_t>(end - first));
  for (int rank = first; rank < end; ++rank) all.views.push_back(view_of(rank));
  return all;
}

// ---- every rank

Views Views::part(int lowest, int first, int end) const {
  const auto begin = views.begin() + (first - lowest);
  Views some{models, servers, {}, {begin, begin + (end - first)}};
  for (const PoolRoutes& it : relayed)
    if (any_serves(servers, it.pool, first, end)) some.relayed.push_back(it);
  return some;
}

Result<Roster> Roster::exchange(mpi::Tree& tree, const Manner& manner, const ConnectOptions& options,
                                const Check& check) {
  Roster roster;
  roster.self_ = own_card(tree.rank(), options);
  Steps<Cards, Views> steps;
  steps.join = [&](Cards& mine, int, Cards theirs) {
    std::vector<std::uint64_t>& machines = roster.machines_.emplace_back();
    for (const RankCard& it : theirs.cards) machines.push_back(it.machine);
    std::ranges::sort(machines);
    machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
    machines.shrink_to_fit();
    std::ranges::move(theirs.cards, std::back_inserter(mine.cards));
  };
  std::optional<Company> company;  // rank 0 makes the part of each child from it
  steps.decide = [&](Cards all) -> Result<Views> {
    company.emplace(std::move(all.cards));
    AFTERBAY_TRY(company->check(manner));
    AFTERBAY_TRY(check(*company));
    return company->views(tree.rank(), tree.rank() + 1);
  };
  steps.part = [&, lowest = tree.rank()](int first, int end, const Views& views) {
    return company ? company->views(first, end) : views.part(lowest, first, end);
  };
  AFTERBAY_TRY_ASSIGN(Views views, consult(tree, manner, Cards{{roster.self_}}, steps));
  if (views.views.empty() || views.models.size() % 2 != 0)
    return fail(ErrorCode::internal, "rank 0 told rank {} nothing about the other ranks",
                manner.called(tree.rank()));
  for (std::size_t i = 0; i < views.models.size(); i += 2)
    roster.models_.add(views.models[i], views.models[i + 1]);
  roster.servers_ = std::move(views.servers);
  roster.view_ = std::move(views.views.front());
  if (roster.self_.server != 0)
    for (PoolRoutes& it : views.relayed)
      if (it.pool == roster.self_.pool) roster.relayed_ = std::move(it);
  return roster;
}

std::vector<std::int32_t> Roster::routes() const {
  return relayed_ ? from_turns(relayed_->routes) : std::vector<std::int32_t>();
}

const Via* Roster::via(int pool) const {
  const auto index = static_cast<std::size_t>(pool);
  if (self_.model == 0 || index >= self_.routes.size() || self_.routes[index] < 0) return nullptr;
  const auto found =
      std::ranges::find(view_.vias, self_.routes[index], [](const Via& it) { return it.card.rank; });
  return found == view_.vias.end() ? nullptr : &*found;
}

bool Roster::shares_memory(const RankCard& other) const noexcept { return share_memory(self_, other); }

ProcessId Roster::watchable(const RankCard& other) const noexcept {
  return same_machine(self_, other) ? other.process() : ProcessId{};
}

bool Roster::below_is_on(std::size_t child, std::uint64_t machine) const {
  return child < machines_.size() && std::ranges::binary_search(machines_[child], machine);
}

}  // namespace afterbay::transport::network
