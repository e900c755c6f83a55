// SPDX-License-Identifier: Apache-2.0
#include "server/inputs.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "model/decomposition.hpp"

namespace afterbay::server {
namespace {

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
      has_memory_(host_.catalog.ranks(), false) {
  observed_.open = host_.profile.worker_timer("open_input");
  observed_.read = host_.profile.worker_timer("read");
  observed_.decode = host_.profile.timer("decode", observed_.read);
  observed_.library = host_.profile.timer("library", observed_.read);
  observed_.disk = host_.profile.timer("disk", observed_.read);
  observed_.bytes = host_.profile.counter("read bytes");
  observed_.pieces = host_.profile.counter("pieces read");
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
                              direct = host_.config.direct_io, deadline = host_.config.deadline] {
    observe::Timed timed(timer);
    auto result = std::make_shared<Result<std::unique_ptr<storage::InputFile>>>(
        storage::InputFile::open(path, direct, nullptr, deadline));
    timed.stop();
    host_.back([this, id, result]() AFTERBAY_REQUIRES(ingest_thread) { opened(id, std::move(*result)); });
  });
  return {};
}

void Inputs::opened(std::uint64_t id, Result<std::unique_ptr<storage::InputFile>> result) {
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
  std::erase_if(replies_, [&](const Reply& reply) AFTERBAY_REQUIRES(ingest_thread) {
    if (reply.waiter.peer != peer) return false;
    --entries_.at(reply.key).pins;
    return true;
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
  while (!replies_.empty() && !host_.port.sending()) {
    const Reply reply = std::move(replies_.front());
    replies_.pop_front();
    tell_far(reply);
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
  memory_ = std::move(*made);
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
    replies_.push_back({key, waiter});
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

/// One at a time: the amount of data that waits to be sent has no other bound.
void Inputs::tell_far(const Reply& reply) {
  Entry& entry = entries_.at(reply.key);
  wire::InputPiece message;
  message.request = reply.waiter.request;
  message.piece = reply.key.piece;
  if (auto data = packed(reply.key, entry, reply.waiter))
    message.data = std::move(*data);
  else
    message.error = std::move(data).error();
  host_.port.send(reply.waiter.peer, wire::encode(message));
  --entry.pins;
  ++entry.taken;
  close_if_unused(reply.key.input);
}

Result<std::vector<std::byte>> Inputs::packed(const Key& key, const Entry& entry, const Waiter& waiter) {
  const File& file = files_.at(key.input);
  const Variable& variable = file.file->schema().variables[key.variable];
  const model::InputCut& cut = file.cuts[key.variable];
  const model::Box box = cut.piece(key.piece);
  const std::byte* const from = memory_->mapping.data() + entry.offset;
  const model::Kernel copy = model::copy_kernel(cut.element_bytes(), false);
  const wire::InputPart& part = *waiter.part;
  std::vector<std::byte> data;
  if (part.map < 0) {
    if (part.start.size() != cut.shape().size || part.count.size() != cut.shape().size)
      return fail(ErrorCode::internal, "model rank {} reads a box of {} dimensions of variable '{}'",
                  waiter.peer, part.start.size(), variable.name);
    const model::Box mine{model::Index(part.start), model::Index(part.count)};
    const model::Move move = model::reversed(model::scatter(mine, box, cut.part(), cut.element_bytes()));
    data.resize(move.points * cut.element_bytes());
    model::execute(move, from, data.data(), copy);
    return data;
  }
  const auto found = host_.catalog.map(static_cast<std::uint32_t>(part.map));
  if (!found) return fail(ErrorCode::internal, "model rank {} reads by an unknown map", waiter.peer);
  AFTERBAY_TRY_ASSIGN(const model::MapPlace place,
                      model::place_of(file.file->schema(), variable, found->name, found->map.global()));
  auto& cells = found->map.cut(model::part_of(cut.part(), place));
  const auto* points =
      found->map.read_points_of(cells, waiter.peer, cells.cells.cell_of(model::part_of(box.start, place)));
  if (points == nullptr) return data;
  const model::CellPoints outwards = model::reversed(*points);
  const model::MapMove move =
      model::reversed(model::scatter(*points, {box, cut.part(), place}, cut.element_bytes()), outwards);
  data.resize(move.values * cut.element_bytes());
  model::execute(move, from, data.data(), copy);
  return data;
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
