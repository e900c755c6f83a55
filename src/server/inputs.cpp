// SPDX-License-Identifier: Apache-2.0
#include "server/inputs.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/units.hpp"
#include "model/decomposition.hpp"

namespace afterbay::server {
namespace {

// Limits for replies with data that are in transit to one rank: enough that the server reads, and
// the rank copies, while others travel.
constexpr std::uint64_t most_bytes_of_rank = std::uint64_t{12} << 20;
constexpr std::size_t most_replies_of_rank = 16;
// Parts that consist of longer runs are sent out of the memory for input, shorter ones are packed.
constexpr std::size_t most_runs = 256;
constexpr std::uint64_t least_run_bytes = std::uint64_t{16} << 10;
constexpr std::uint64_t small_copy_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t most_reply_bytes = std::uint64_t{1} << 30;

/// Moves the rows of a dense box apart, in place and beginning with the last one, so that they have
/// the strides of `stored`.
void spread(std::byte* data, const model::Index& count, const model::Index& stored, std::size_t element) {
  const std::size_t rank = count.size;
  std::size_t whole = rank;  // the dimensions from this one on are complete
  while (whole > 0 && count[whole - 1] == stored[whole - 1]) --whole;
  if (whole <= 1) return;  // only the slowest dimension is shorter: the rows are already in place
  std::uint64_t row = element;
  for (std::size_t d = whole - 1; d < rank; ++d) row *= count[d];
  std::uint64_t rows = 1;
  for (std::size_t d = 0; d + 1 < whole; ++d) rows *= count[d];
  for (std::uint64_t r = rows; r-- > 0;) {
    std::uint64_t rest = r;
    std::uint64_t at = 0;
    std::uint64_t stride = element;
    for (std::size_t d = rank; d-- > whole - 1;) stride *= stored[d];
    for (std::size_t d = whole - 1; d-- > 0;) {
      at += rest % count[d] * stride;
      rest /= count[d];
      stride *= stored[d];
    }
    std::memmove(data + at, data + r * row, row);
  }
}

Error at_file(Error error, const std::string& path) { return error.in_file(path); }

}  // namespace

Inputs::Inputs(Host host)
    : host_(std::move(host)),
      sizes_(host_.config.memory.input_sizes()),
      room_(host_.config.memory.input_bytes),
      has_memory_(host_.catalog.ranks(), false),
      replies_({host_.config.memory.input_bytes / 2, most_bytes_of_rank, most_replies_of_rank}),
      packed_(host_.config.memory.input_bytes / 2) {
  observed_.open = host_.profile.worker_timer("open_input");
  observed_.read = host_.profile.worker_timer("read");
  observed_.decode = host_.profile.timer("decode", observed_.read);
  observed_.library = host_.profile.timer("library", observed_.read);
  observed_.disk = host_.profile.timer("disk", observed_.read);
  observed_.bytes = host_.profile.counter("read bytes");
  observed_.pieces = host_.profile.counter("pieces read");
  observed_.replied = host_.profile.counter("bytes sent to readers");
  observed_.peak_replies =
      host_.profile.counter("peak bytes in transit to readers", observe::CounterKind::peak);
}

// ---- files

Result<> Inputs::open(std::size_t peer, const wire::OpenInput& message) {
  auto [at, is_new] = files_.try_emplace(message.input);
  File& file = at->second;
  if (is_new) {
    file.id = message.input;
    file.path = message.path;
    file.users.resize(host_.catalog.ranks(), false);
  } else if (file.path != message.path) {
    return fail(make_error(ErrorCode::conflict,
                           "model rank {} opens '{}' for input where another rank opens '{}': every rank "
                           "must open the same files in the same order",
                           peer, message.path, file.path)
                    .in_file(message.path)
                    .at_rank(host_.catalog.session_rank(peer)));
  }
  file.users[peer] = true;
  if (message.answer) {
    if (file.opening)
      file.to_answer.push_back(peer);
    else
      answer_open(file, peer);
  }
  if (!is_new) return {};
  host_.workers.submit_first([this, id = message.input, path = message.path, timer = observed_.open,
                              direct = host_.config.writing.direct_io, deadline = host_.config.deadline] {
    observe::Timed timed(timer);
    auto result = std::make_shared<Result<std::unique_ptr<storage::StoredFile>>>(
        storage::StoredFile::open(path, direct, nullptr, deadline));
    timed.stop();
    host_.back([this, id, result]() AFTERBAY_REQUIRES(ingest_thread) { opened(id, std::move(*result)); });
  });
  return {};
}

void Inputs::opened(std::uint64_t id, Result<std::unique_ptr<storage::StoredFile>> result) {
  File& file = files_.at(id);
  file.opening = false;
  if (result)
    file.file = std::move(*result);
  else
    file.error = at_file(std::move(result).error(), file.path);
  if (file.file)
    for (const Variable& variable : file.file->schema().variables)
      file.cuts.emplace_back(file.file->schema(), variable, sizes_);
  for (const std::size_t peer : file.to_answer) answer_open(file, peer);
  file.to_answer.clear();
  close_if_unused(id);
}

void Inputs::answer_open(const File& file, std::size_t peer) {
  wire::InputOpened answer;
  answer.input = file.id;
  answer.error = file.error;
  if (file.file) {
    answer.schema = file.file->schema();
    answer.records = file.file->records();
    for (const auto& [name, reason] : file.file->left_out()) {
      answer.unreadable.push_back(name);
      answer.reasons.push_back(reason);
    }
  }
  host_.port.send(peer, wire::encode(answer));
}

Result<> Inputs::close(std::size_t peer, const wire::CloseInput& message) {
  const auto at = files_.find(message.input);
  if (at == files_.end()) return {};
  at->second.users[peer] = false;
  close_if_unused(message.input);
  return {};
}

void Inputs::forget(std::size_t peer) {
  for (auto it = out_.begin(); it != out_.end();) {
    if (it->first.peer != peer) {
      ++it;
      continue;
    }
    if (const auto entry = entries_.find(it->second); entry != entries_.end()) --entry->second.pins;
    it = out_.erase(it);
  }
  replies_.forget(peer, [this](const Reply& reply) {
    assert_role(ingest_thread);
    --entries_.at(reply.key).pins;
  });
  for (auto& [key, entry] : entries_)
    std::erase_if(entry.waiters, [peer](const Waiter& waiter) { return waiter.peer == peer; });
  std::vector<std::uint64_t> ids;
  for (auto& [id, file] : files_) {
    file.users[peer] = false;
    std::erase(file.to_answer, peer);
    ids.push_back(id);
  }
  for (const std::uint64_t id : ids) close_if_unused(id);
}

void Inputs::close_if_unused(std::uint64_t id) {
  const File& file = files_.at(id);
  if (file.opening || file.reading > 0 || std::ranges::find(file.users, true) != file.users.end()) return;
  for (auto it = entries_.lower_bound(Key{id, 0, 0, 0}); it != entries_.end() && it->first.input == id;) {
    // A rank is copying: this is called again when it has finished.
    if (it->second.pins > 0) return;
    if (it->second.state == Entry::State::ready) room_.give_back(it->second.offset, it->second.bytes);
    it = entries_.erase(it);
  }
  files_.erase(id);
}

// ---- pieces

Result<> Inputs::get(std::size_t peer, wire::GetInput message) {
  const auto at = files_.find(message.input);
  if (at == files_.end())
    return fail(ErrorCode::internal, "model rank {} reads from file number {}, which is not open", peer,
                message.input);
  std::shared_ptr<const wire::InputPart> part;
  if (message.part) part = std::make_shared<const wire::InputPart>(std::move(*message.part));
  for (const std::uint64_t piece : message.pieces) {
    const Key key{message.input, message.variable, message.record, piece};
    auto [found, is_new] = entries_.try_emplace(key);
    Entry& entry = found->second;
    entry.used = ++uses_;
    if (!message.ahead) {
      const Waiter waiter{peer, message.request, part};
      if (entry.state == Entry::State::ready) {
        tell(key, entry, waiter);
        continue;
      }
      const bool first_demand = entry.waiters.empty();
      entry.waiters.push_back(waiter);
      if (entry.state == Entry::State::waiting && first_demand) demanded_.push_back(key);
    } else if (is_new) {
      ahead_.push_back(key);
    }
  }
  return {};
}

bool Inputs::advance() {
  bool did = false;
  while (const auto reply = replies_.next()) {
    tell_far(reply->second);
    did = true;
  }
  for (std::deque<Key>* const queue : {&demanded_, &ahead_}) {
    while (!queue->empty()) {
      const auto entry = entries_.find(queue->front());
      const bool stands = entry != entries_.end() && entry->second.state == Entry::State::waiting;
      if (stands && !start_reading(entry->first, entry->second)) break;
      queue->pop_front();
      did = true;
    }
    if (!queue->empty()) break;  // demanded pieces come before pieces that are read ahead
  }
  return did;
}

/// Returns false if there is no room now, or if the file is not open yet.
bool Inputs::start_reading(const Key& key, Entry& entry) {
  File& file = files_.at(key.input);
  if (file.opening) return false;
  if (file.error) {
    failed(Key(key), *file.error);
    return true;
  }
  const auto& variables = file.file->schema().variables;
  if (key.variable >= variables.size() || key.piece >= file.cuts[key.variable].pieces()) {
    failed(Key(key), make_error(ErrorCode::internal, "there is no piece {} of variable number {}", key.piece,
                                key.variable)
                         .in_file(file.path));
    return true;
  }
  if (auto lent = lend_memory(); !lent) {
    failed(Key(key), std::move(lent).error());
    return true;
  }
  entry.bytes = file.cuts[key.variable].bytes();
  const auto offset = make_room(entry.bytes, !entry.waiters.empty());
  if (!offset) return false;
  if (auto allocated = allocate(*offset + entry.bytes); !allocated) {
    room_.give_back(*offset, entry.bytes);
    failed(Key(key), std::move(allocated).error());
    return true;
  }
  entry.offset = *offset;
  read(key, entry, file);
  return true;
}

/// At first use, because most sessions only write.
Result<> Inputs::lend_memory() {
  if (memory_) return {};
  auto made = transport::shm::Mapping::create(host_.config.memory.input_bytes);
  if (!made) return fail(std::move(made).error().add("allocating the memory for input (memory.input)"));
  memory_ = std::make_shared<transport::shm::SharedMemory>(std::move(*made));
  return {};
}

Result<> Inputs::allocate(std::uint64_t bytes) {
  if (bytes <= allocated_bytes_) return {};
  auto done = memory_->mapping.allocate({{allocated_bytes_, bytes - allocated_bytes_}});
  if (!done) return fail(std::move(done).error().add("allocating the memory for input (memory.input)"));
  allocated_bytes_ = bytes;
  return {};
}

/// Frees pieces that are not in use until there is room: first pieces that all ranks have taken,
/// then those that some have taken; pieces that no rank has taken yet only for demanded ones. Among
/// equals, the least recently used.
std::optional<std::uint64_t> Inputs::make_room(std::uint64_t bytes, bool demanded) {
  const auto kind_of = [&](const Entry& entry) {
    return entry.taken >= host_.catalog.ranks() ? 0 : entry.taken > 0 ? 1 : 2;
  };
  const auto rank_of = [&](const Entry& entry) { return std::pair(kind_of(entry), entry.used); };
  for (;;) {
    if (const auto offset = room_.take(bytes)) return offset;
    auto victim = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      const Entry& entry = it->second;
      if (entry.state != Entry::State::ready || entry.pins > 0) continue;
      if (!demanded && kind_of(entry) == 2) continue;
      if (victim == entries_.end() || rank_of(entry) < rank_of(victim->second)) victim = it;
    }
    if (victim == entries_.end()) return std::nullopt;
    room_.give_back(victim->second.offset, victim->second.bytes);
    entries_.erase(victim);
  }
}

void Inputs::read(const Key& key, Entry& entry, File& file) {
  entry.state = Entry::State::reading;
  ++file.reading;
  std::byte* const to = memory_->mapping.data() + entry.offset;
  host_.workers.submit_first([this, key, to, &file = *file.file, cut = &file.cuts[key.variable]] {
    observe::Timed timed(observed_.read);
    const model::Box box = cut->piece(key.piece);
    const std::span<std::byte> dense(to, box.points() * cut->element_bytes());
    auto cost = file.read(key.variable, key.record, box, dense);
    spread(to, box.count, cut->part(), cut->element_bytes());
    timed.bytes(dense.size());
    timed.stop();
    host_.back([this, key, cost = std::move(cost)]()
                   AFTERBAY_REQUIRES(ingest_thread) mutable { ready(key, std::move(cost)); });
  });
}

void Inputs::ready(const Key& key, Result<storage::ReadCost> cost) {
  File& file = files_.at(key.input);
  --file.reading;
  Entry& entry = entries_.at(key);
  entry.state = Entry::State::ready;
  if (!cost) {
    failed(key, at_file(std::move(cost).error(), file.path)
                    .in_variable(file.file->schema().variables[key.variable].name));
  } else {
    const std::uint64_t now = now_ns();
    const auto add = [now](observe::Timer* timer, std::uint64_t spent_ns, std::uint64_t bytes) {
      if (timer != nullptr && spent_ns > 0) timer->add(now - spent_ns, now, bytes);
    };
    add(observed_.disk, cost->read_ns, cost->bytes_in);
    add(observed_.decode, cost->decode_ns, cost->bytes_out);
    add(observed_.library, cost->library_ns, 0);
    observe::add(observed_.bytes, cost->bytes_in);
    observe::add(observed_.pieces, 1);
    for (const Waiter& waiter : std::exchange(entry.waiters, {})) tell(key, entry, waiter);
  }
  close_if_unused(key.input);
}

/// Sends the error to all ranks that wait for the piece.
void Inputs::failed(const Key& key, const Error& error) {
  const auto at = entries_.find(key);
  for (const Waiter& waiter : at->second.waiters) {
    wire::InputPiece message;
    message.request = waiter.request;
    message.piece = key.piece;
    message.error = error;
    host_.port.send(waiter.peer, wire::encode(message));
  }
  if (at->second.state == Entry::State::ready) room_.give_back(at->second.offset, at->second.bytes);
  entries_.erase(at);
}

void Inputs::tell(const Key& key, Entry& entry, const Waiter& waiter) {
  ++entry.pins;
  if (waiter.part) {
    replies_.add(waiter.peer, {key, waiter});
    return;
  }
  if (!has_memory_[waiter.peer]) {
    has_memory_[waiter.peer] = true;
    host_.port.send(waiter.peer,
                    wire::encode(wire::InputMemory{memory_->door.address(), memory_->mapping.size()}));
  }
  out_[{waiter.peer, waiter.request, key.piece}] = key;
  wire::InputPiece message;
  message.request = waiter.request;
  message.piece = key.piece;
  message.offset = entry.offset;
  host_.port.send(waiter.peer, wire::encode(message));
}

Result<> Inputs::taken(std::size_t peer, const wire::InputTaken& message) {
  const auto told = out_.find({peer, message.request, message.piece});
  if (told == out_.end()) return {};
  Entry& entry = entries_.at(told->second);
  --entry.pins;
  ++entry.taken;
  const std::uint64_t input = told->second.input;
  out_.erase(told);
  close_if_unused(input);
  return {};
}

void Inputs::unpin(const Key& key) {
  Entry& entry = entries_.at(key);
  --entry.pins;
  ++entry.taken;
  close_if_unused(key.input);
}

void Inputs::tell_far(const Reply& reply) {
  const std::size_t peer = reply.waiter.peer;
  wire::InputPiece message;
  message.request = reply.waiter.request;
  message.piece = reply.key.piece;
  auto part = far_part(reply);
  if (!part) {
    message.error = std::move(part).error();
    host_.port.send(peer, wire::encode(message));
    unpin(reply.key);
    return;
  }
  const std::uint64_t bytes = part->bytes;
  const bool is_copy = part->is_copy;
  replies_.began(peer, bytes);
  observe::add(observed_.replied, bytes);
  observe::peak(observed_.peak_replies, replies_.bytes_in_transit());
  part->data.sent = [this, key = reply.key, peer, bytes, is_copy] {
    assert_role(ingest_thread);
    replies_.sent(peer, bytes);
    if (!is_copy) unpin(key);
  };
  host_.port.send_data(peer, wire::encode(message), std::move(part->data));
  if (is_copy) unpin(reply.key);
}

Result<Inputs::FarPart> Inputs::far_part(const Reply& reply) {
  const File& file = files_.at(reply.key.input);
  AFTERBAY_TRY_ASSIGN(FarPart part,
                      reply.waiter.part->map < 0 ? part_of_box(reply, file) : part_of_map(reply, file));
  if (part.bytes > most_reply_bytes)
    return fail(make_error(ErrorCode::resources,
                           "a part of {} is to be sent to model rank {} at once, more than {}: the file's "
                           "chunks are too large; lower memory.input",
                           print_bytes(part.bytes), reply.waiter.peer, print_bytes(most_reply_bytes))
                    .in_file(file.path));
  return part;
}

Inputs::FarPart Inputs::copy_of(std::uint64_t bytes, std::byte*& to) {
  std::shared_ptr<std::byte> buffer;
  if (bytes > small_copy_bytes) buffer = packed_.take(bytes);
  if (!buffer) {  // what is in transit is bounded in any case
    const std::shared_ptr<std::byte[]> memory(new std::byte[bytes]);
    buffer = {memory, memory.get()};
  }
  to = buffer.get();
  FarPart part;
  part.data.parts.emplace_back(to, bytes);
  part.data.keeper = std::move(buffer);
  part.bytes = bytes;
  part.is_copy = true;
  return part;
}

Result<Inputs::FarPart> Inputs::part_of_box(const Reply& reply, const File& file) {
  const Variable& variable = file.file->schema().variables[reply.key.variable];
  const model::InputCut& cut = file.cuts[reply.key.variable];
  const std::byte* const from = memory_->mapping.data() + entries_.at(reply.key).offset;
  const wire::InputPart& wanted = *reply.waiter.part;
  if (wanted.start.size() != cut.shape().size || wanted.count.size() != cut.shape().size)
    return fail(ErrorCode::internal, "model rank {} reads a box of {} dimensions of variable '{}'",
                reply.waiter.peer, wanted.start.size(), variable.name);
  const model::Box mine{model::Index(wanted.start), model::Index(wanted.count)};
  const model::Move in = model::scatter(mine, cut.piece(reply.key.piece), cut.part(), cut.element_bytes());
  FarPart part;
  part.bytes = in.points * cut.element_bytes();
  std::uint64_t shortest = part.bytes;
  model::visit_dense_ranges(in, cut.element_bytes(), 1, 0, [&](std::uint64_t at, std::uint64_t bytes) {
    if (part.data.parts.size() <= most_runs) part.data.parts.emplace_back(from + at, bytes);
    shortest = std::min(shortest, bytes);
  });
  const std::size_t runs = part.data.parts.size();
  if (runs == 1 || (runs <= most_runs && shortest >= least_run_bytes)) {
    part.data.keeper = memory_;
    return part;
  }
  std::byte* to = nullptr;
  part = copy_of(part.bytes, to);
  model::execute(model::reversed(in), from, to, model::copy_kernel(cut.element_bytes(), false));
  return part;
}

Result<Inputs::FarPart> Inputs::part_of_map(const Reply& reply, const File& file) {
  const Variable& variable = file.file->schema().variables[reply.key.variable];
  const model::InputCut& cut = file.cuts[reply.key.variable];
  const model::Box box = cut.piece(reply.key.piece);
  const std::size_t peer = reply.waiter.peer;
  const auto found = host_.catalog.map(static_cast<std::uint32_t>(reply.waiter.part->map));
  if (!found) return fail(ErrorCode::internal, "model rank {} reads by an unknown map", peer);
  AFTERBAY_TRY_ASSIGN(
      const model::MapDimensions mapped,
      model::dimensions_of_map(file.file->schema(), variable, found->name, found->map.global()));
  const model::Index lengths = model::part_of(cut.part(), mapped);
  const std::uint64_t cell =
      model::MapCut(found->map.global(), lengths).cell_of(model::part_of(box.start, mapped));
  const auto* points = cells_.find(peer, static_cast<std::uint32_t>(reply.waiter.part->map),
                                   reply.waiter.part->list, lengths, cell);
  if (points == nullptr)
    return fail(ErrorCode::internal,
                "model rank {} reads cell {} of map '{}', whose points it has not described", peer, cell,
                found->name);
  std::byte* to = nullptr;
  const model::CellPoints outwards = model::reversed(*points);
  const model::MapMove move =
      model::reversed(model::scatter(*points, {box, cut.part(), mapped}, cut.element_bytes()), outwards);
  FarPart part = copy_of(move.values * cut.element_bytes(), to);
  model::execute(move, memory_->mapping.data() + entries_.at(reply.key).offset, to,
                 model::copy_kernel(cut.element_bytes(), false));
  return part;
}

// ---- strings

Result<> Inputs::strings(std::size_t peer, const wire::GetInputStrings& message) {
  const auto at = files_.find(message.input);
  if (at == files_.end() || !at->second.file ||
      message.variable >= at->second.file->schema().variables.size())
    return fail(ErrorCode::internal, "model rank {} reads strings from file number {}, which is not open",
                peer, message.input);
  File& file = at->second;
  ++file.reading;
  host_.workers.submit_first([this, peer, message, &from = *file.file] {
    observe::Timed timed(observed_.read);
    auto answer = std::make_shared<wire::InputStrings>();
    answer->request = message.request;
    if (auto values = from.read_strings(message.variable, message.record))
      answer->values = std::move(*values);
    else
      answer->error = std::move(values).error().in_variable(from.schema().variables[message.variable].name);
    timed.stop();
    host_.back([this, peer, answer, input = message.input]() AFTERBAY_REQUIRES(ingest_thread) {
      File& read = files_.at(input);
      --read.reading;
      if (answer->error) answer->error->in_file(read.path);
      host_.port.send(peer, wire::encode(*answer));
      close_if_unused(input);
    });
  });
  return {};
}

}  // namespace afterbay::server
