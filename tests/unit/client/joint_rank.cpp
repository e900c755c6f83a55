// SPDX-License-Identifier: Apache-2.0
#include "unit/client/joint_rank.hpp"

#include <algorithm>
#include <utility>

#include "transport/shm/port.hpp"
#include "unit/config/config_sources.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t joint_block_bytes = JointRank::piece_cells * sizeof(double);

config::Config joint_config(std::size_t servers) {
  config::Sources sources = config::no_environment();
  sources.settings = {{"servers", std::to_string(servers)},
                      {"placement", "slab"},
                      {"memory.server", "2MiB"},
                      {"memory.block", std::to_string(joint_block_bytes)},
                      {"chunk", std::to_string(joint_block_bytes)}};
  return config::load(sources).value();
}

transport::ThreadHub make_joint_hub(std::size_t server, const JointRank::Options& options,
                                    std::shared_ptr<transport::RankLinks> rank_links) {
  transport::LinkSizes sizes;
  sizes.block_bytes = joint_block_bytes;
  sizes.small_block_bytes = joint_block_bytes;
  sizes.small_share = 0;
  sizes.memory_bytes = options.blocks * joint_block_bytes;
  sizes.ring_bytes = 64 << 10;
  sizes.reply_bytes = 4 << 10;
  sizes.max_frames = 64;
  return transport::ThreadHub::make(
             1, {sizes, transport::WaitPolicy{options.deadline}, server, {std::move(rank_links)}})
      .value();
}

std::vector<client::Decomposition> joint_decompositions() {
  std::vector<client::Decomposition> made(2);
  made[0].name = "line";
  made[0].block = Block{{JointRank::cells}, {0}, {JointRank::cells}};
  made[1].id = 1;
  made[1].name = "odd points";
  made[1].coverage.gaps_allowed = true;
  Map map;
  map.global = {JointRank::cells};
  for (std::uint64_t i = 1; i < JointRank::cells; i += 2) map.indices.push_back(static_cast<std::int64_t>(i));
  made[1].map = std::make_shared<client::MapPart>(
      model::Index(map.global), model::make_listed_runs("odd points", map, Repeats::refuse).value());
  return made;
}

}  // namespace

JointRank::JointRank(const Options& options)
    : config_(joint_config(options.servers)), decompositions_(joint_decompositions()) {
  client::SessionCore::Links links;
  const auto rank_links = std::make_shared<transport::RankLinks>();
  for (std::size_t s = 0; s < options.servers; ++s) {
    transport::ThreadHub hub = make_joint_hub(s, options, rank_links);
    ports_.push_back(std::move(hub.port));
    links.push_back(std::move(hub.clients.front()));
  }
  core_.emplace(
      client::RankIdentity{
          .session_rank = session_rank, .model_rank = 0, .model_size = 1, .pool_of_server = {}},
      config_, std::move(links),
      client::SessionCore::Host{.handle = [this](std::size_t server, std::span<const std::byte> message)
                                    -> Result<> { return handle ? handle(server, message) : Result<>(); },
                                .add_work = [this](Error& error) { joint_->add_work(error); }});
  if (options.one_thread) core_->add_idle([] { return false; });  // as if a server ran in its calls
  make_collection(options.servers);
  declare_frames();
  file_ = another_file("c.nc");
  rank_puts_.emplace(*core_, profile_);
  rank_.emplace(*core_, *rank_puts_, options.deadline, profile_);
  rank_->add_collection(*collection_);
  links_.emplace(*core_, [] { return std::uint64_t{0}; });
  joint_.emplace(*core_, *rank_puts_, *rank_, *links_,
                 client::JointPuts::Limits{options.deadline, options.memory_bytes}, profile_,
                 [this]() -> Result<> {
                   AFTERBAY_TRY(core_->poll());
                   return joint_->tend();
                 });
}

JointRank::~JointRank() = default;

void JointRank::make_collection(std::size_t servers) {
  pools_.emplace(config_, std::vector<std::size_t>{}, servers);
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", cells);
  schema.variable("v", Type::float64, {"time", "x"}).on("line").with_chunk({1, piece_cells});
  if (servers == 1) {
    schema.variable("k", Type::int16, {"time", "x"}).on("line").with_chunk({1, cells});
    schema.variable("m", Type::float64, {"time", "x"}).on("odd points").with_chunk({1, piece_cells});
    schema.variable("mark", Type::float64, {"time"});
    schema.variable("fixed", Type::float64, {"x"}).on("line");
  }
  collection_ = std::move(
      client::Collection::make({.id = 0, .name = "c", .schema = schema, .options = {.store = "netcdf4"}},
                               config_, decompositions_,
                               {.model_rank = 0, .model_ranks = 1, .servers = servers, .pools = &*pools_})
          .value()
          .front());
}

/// As the servers do when they get the definition.
void JointRank::declare_frames() {
  assert_role(ingest_thread);  // the test is the server
  const model::FrameOwners& owners = collection_->owners();
  for (std::uint16_t owner = 0; owner < ports_.size(); ++owner) {
    const std::size_t server = collection_->pool().server_of_owner(owner);
    std::vector<transport::FrameDeclaration> frames;
    for (std::uint32_t number = 0; number < owners.frames_of(owner); ++number) {
      const model::Frame frame = collection_->layout().frames[owners.frame(owner, number)];
      frames.push_back({frame.bytes, std::vector<std::uint32_t>(frame.piece_count, 1)});
    }
    collection_->records().set_first_frame(server, ports_[server]->frames().declare(frames).value());
  }
}

std::shared_ptr<client::File> JointRank::another_file(const std::string& path) {
  auto file = std::make_shared<client::File>();
  file->id = next_file_++;
  file->collection = collection_.get();
  file->server = collection_->pool().first_owner();
  for (std::size_t i = 0; i < ports_.size(); ++i)
    file->servers.push_back(collection_->pool().server_of_owner(static_cast<std::uint16_t>(i)));
  file->path = path;
  return file;
}

// ---- callers

void JointRank::start() {
  in_session("opening an endpoint", [this] {
    joint_->start({}, {});
    return true;
  });
}

std::unique_ptr<client::PartEndpoint> JointRank::endpoint(const std::string& name, std::uint64_t first,
                                                          std::uint64_t count) {
  auto made = std::make_unique<client::PartEndpoint>(*joint_, join(name), profile_, session_rank);
  if (count != 0) {
    const auto added = made->add_block(line(), Block{{cells}, {first}, {count}});
    EXPECT_TRUE(added) << added.error().text();
  }
  return made;
}

Result<> JointRank::end_session_step() {
  return in_session("end_step", [this]() -> Result<> {
    AFTERBAY_TRY(joint_->end_step(*session()));
    AFTERBAY_TRY(joint_->tend());
    core_->count_step();
    return {};
  });
}

// ---- servers

std::vector<std::string> JointRank::received(std::size_t server) {
  assert_role(ingest_thread);
  std::vector<std::string> texts;
  while (const auto message = ports_[server]->peek(0)) {
    texts.push_back(text_of(server, *message));
    ports_[server]->pop(0);
  }
  return texts;
}

std::string JointRank::text_of(std::size_t server, std::span<const std::byte> message) const {
  const auto kind = wire::kind_of(message).value();
  if (kind == wire::BeginRecord::kind) {
    const auto begun = wire::decode<wire::BeginRecord>(message).value();
    const std::string what =
        begun.meaning == wire::RecordKind::fixed ? "fixed" : fmt::format("record {}", begun.record);
    return fmt::format("begin {} as {}{}", what, begun.seq,
                       begun.file == file_->id ? "" : fmt::format(" in file {}", begun.file));
  }
  if (kind == wire::FrameReady::kind) {
    const auto ready = wire::decode<wire::FrameReady>(message).value();
    return fmt::format("{} of {}", piece_text(server, ready.frame), ready.seq);
  }
  if (kind == wire::Put::kind) {
    const auto put = wire::decode<wire::Put>(message).value();
    return fmt::format("put {} of {}", collection_->schema().variables[put.variable].name, put.seq);
  }
  if (kind == wire::EndRecords::kind) {
    const auto ended = wire::decode<wire::EndRecords>(message).value();
    EXPECT_EQ(ended.bounds.size(), 1U) << "there is one collection";
    return fmt::format("end before {} in step {}{}", ended.bounds.front().next_seq, ended.step,
                       ended.within_step != 0 ? " (within it)" : "");
  }
  return fmt::format("message {}", static_cast<std::uint32_t>(kind));
}

std::string JointRank::piece_text(std::size_t server, std::uint32_t number) const {
  const model::FrameOwners& owners = collection_->owners();
  std::uint16_t owner = 0;
  while (collection_->pool().server_of_owner(owner) != server) ++owner;
  const std::uint32_t in_server = number - collection_->records().first_frame(server);
  const model::Frame frame = collection_->layout().frames[owners.frame(owner, in_server)];
  EXPECT_EQ(frame.piece_count, 1U) << "the pieces of this layout are frames";
  const model::Piece piece = collection_->layout().pieces[frame.first_piece];
  return fmt::format("{}[{}]", collection_->schema().variables[piece.variable].name, piece.number);
}

JointRank::Place JointRank::place_of(std::string_view name, std::uint32_t piece) const {
  const model::HandoverLayout& layout = collection_->layout();
  Place place;
  place.piece = layout.pieces[layout.variables[variable(name)].first_piece + piece];
  place.frame = layout.frames[place.piece.frame];
  const model::FrameOwners::Range& range = collection_->owners().range_of(place.piece.frame);
  place.server = collection_->pool().server_of_owner(range.owner);
  place.number = collection_->records().first_frame(place.server) + range.number_of(place.piece.frame);
  return place;
}

std::uint64_t JointRank::order_at(std::size_t server) const {
  return static_cast<transport::shm::Port&>(*ports_[server]).pool().order_of(0);
}

std::uint32_t JointRank::frame_of(std::string_view name, std::uint32_t piece) {
  return place_of(name, piece).number;
}

void JointRank::write(std::string_view name, std::uint32_t piece, std::uint64_t seq) {
  assert_role(ingest_thread);
  const Place place = place_of(name, piece);
  transport::FramePool& frames = ports_[place.server]->frames();
  const auto view = frames.find(place.number, seq);
  ASSERT_TRUE(view) << name << "[" << piece << "] of " << seq << " is not there";
  frames.release(*view);
}

std::span<const std::byte> JointRank::piece_bytes(std::string_view name, std::uint32_t piece,
                                                  std::uint64_t seq) {
  assert_role(ingest_thread);
  const Place place = place_of(name, piece);
  const auto view = ports_[place.server]->frames().find(place.number, seq);
  if (!view) return {};
  return view->buffer.subspan(place.piece.frame_offset, place.piece.bytes);
}

}  // namespace afterbay::test
