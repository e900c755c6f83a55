// SPDX-License-Identifier: Apache-2.0
#include "client/reader.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/caller_terms.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {
namespace {

constexpr std::uint64_t most_records_ahead = 4;  ///< in one get of several records
constexpr std::uint64_t most_fetches = 2;        ///< records that are requested at a time

}  // namespace

Reader::Reader(SessionCore& core, std::vector<std::size_t> readers, model::InputSizes sizes,
               observe::Profile& profile, Host host)
    : core_(core),
      readers_(std::move(readers)),
      sizes_(sizes),
      host_(std::move(host)),
      input_memory_(core.servers()),
      observed_{profile.timer("open_input"), profile.timer("get"), profile.timer("prefetch"),
                profile.counter("bytes read")} {}

tl::unexpected<Error> Reader::report(Error error, const Input& input, std::string_view variable) {
  error.in_file(input.path).at_rank(core_.identity().session_rank);
  if (!variable.empty()) error.in_variable(std::string(variable));
  return core_.report_to_caller(std::move(error));
}

// ---- files

Result<std::shared_ptr<Input>> Reader::open_input(const std::string& path, const InputOptions& options) {
  const observe::Timed timed(observed_.open_input);
  AFTERBAY_TRY(core_.check_usable());
  auto input = std::make_shared<Input>();
  input->path = std::filesystem::path(path).lexically_normal().string();
  const auto failed = [&](Error error) { return report(std::move(error), *input, ""); };
  if (path.empty()) return failed(make_error(ErrorCode::invalid_argument, "the file's name is empty"));
  if (options.as_of == AsOf::epoch) {
    auto part = host_.part_as_of_epoch(input->path);
    if (!part) return failed(std::move(part).error());
    if (*part) input->path = **part;
  }
  if (options.as_of != AsOf::published && !input->path.ends_with(".part"))
    if (auto published = host_.wait_for_output(input->path); !published)
      return failed(std::move(published).error());
  input->id = next_input_++;
  inputs_.push_back(input);
  const std::size_t home = readers_[static_cast<std::size_t>(core_.identity().model_rank) * readers_.size() /
                                    static_cast<std::size_t>(core_.identity().model_size)];
  for (const std::size_t s : readers_) {
    AFTERBAY_TRY(core_.send_ahead(s, wire::OpenInput{input->id, input->path, s == home}));
  }
  AFTERBAY_TRY(core_.wait_until([&] { return input->answered; },
                                fmt::format("{} to be opened for input", input->path)));
  AFTERBAY_TRY(core_.wait_for_all("all ranks to have the file open"));
  if (!input->error) return input;
  const Error error = *input->error;
  AFTERBAY_TRY(close_input(*input));
  return failed(error);
}

Result<> Reader::close_input(Input& input) {
  if (std::exchange(input.closed, true)) return {};
  std::erase_if(inputs_, [&](const std::shared_ptr<Input>& other) { return other->id == input.id; });
  AFTERBAY_TRY(core_.check_usable());
  for (const std::size_t s : readers_) AFTERBAY_TRY(core_.send_ahead(s, wire::CloseInput{input.id}));
  return {};
}

Result<> Reader::close_all() {
  while (!inputs_.empty()) {
    const std::shared_ptr<Input> input = inputs_.back();
    AFTERBAY_TRY(close_input(*input));
  }
  return {};
}

// ---- answers of servers

void Reader::answer(wire::InputOpened message) {
  for (const auto& input : inputs_)
    if (input->id == message.input) {
      input->opened(std::move(message), sizes_);
      break;
    }
}

Result<> Reader::answer(std::size_t server, const wire::InputPiece& piece) {
  const auto found = fetches_.find(piece.request);
  if (found == fetches_.end()) {  // given up; servers keep it until it is taken
    if (piece.error || core_.link(server).packs()) return {};
    return core_.send_ahead(server, wire::InputTaken{piece.request, piece.piece});
  }
  Fetch& fetch = *found->second;
  --fetch.missing;
  if (piece.error) {
    if (!fetch.error) fetch.error = piece.error;
    return {};
  }
  const auto planned = std::ranges::lower_bound(fetch.plan->pieces, piece.piece, {}, &ReadPiece::piece);
  const transport::shm::Mapping& memory = input_memory_[server];
  const bool far = core_.link(server).packs();
  const transport::ReceivedData data = core_.link(server).take_data();
  if (planned == fetch.plan->pieces.end() || planned->piece != piece.piece ||
      (far ? data.bytes.size() != planned->packed_bytes : piece.offset >= memory.size()))
    return fail(core_.record_failure(make_error(
        ErrorCode::internal, "I/O server {} sent {} bytes of piece {}, which do not match the request",
        server, data.bytes.size(), piece.piece)));
  fetch.out_of_range += far ? planned->unpack(data.bytes.data(), fetch.to, fetch.plan->kernel)
                            : planned->scatter(memory.data() + piece.offset, fetch.to, fetch.plan->kernel);
  if (far) return {};
  return core_.send_ahead(server, wire::InputTaken{fetch.number, piece.piece});
}

void Reader::answer(wire::InputStrings message) {
  if (const auto fetch = strings_fetches_.find(message.request); fetch != strings_fetches_.end())
    fetch->second = std::move(message);
}

Result<> Reader::map_memory(std::size_t server, const wire::InputMemory& message) {
  AFTERBAY_TRY_ASSIGN(input_memory_[server], transport::shm::Mapping::open(message.address, message.bytes));
  return {};
}

// ---- reading

/// Sets the first record of `what` to 0 for variables without records.
Result<ReadPlan> Reader::plan_read(const Input& input, std::string_view variable, Selection& what,
                                   const Decomposition* part, Type type, const MemoryLayout& memory) {
  AFTERBAY_TRY(core_.check_usable());
  if (input.closed) return fail(ErrorCode::bad_state, "the file is closed on this rank: open it again");
  AFTERBAY_TRY_ASSIGN(const std::uint32_t index, input.variable(variable, false));
  AFTERBAY_TRY_ASSIGN(what.record, input.record_of(index, what.record, what.records));
  return make_read_plan(input, index, what, part, type, memory);
}

Result<const Decomposition*> Reader::named_by(const Selection& what) {
  if (what.decomposition.empty()) return nullptr;
  if (what.block)
    return fail(ErrorCode::invalid_argument,
                "a decomposition ('{}') and a block are requested: give one of them", what.decomposition);
  AFTERBAY_TRY(core_.check_usable());
  return host_.decomposition(what.decomposition);
}

/// Requests the pieces of a record from the servers that read them.
Result<> Reader::ask_for(const Input& input, const ReadPlan& plan, std::uint64_t record,
                         std::uint64_t request, bool ahead) {
  std::map<std::size_t, std::vector<const ReadPiece*>> by_server;
  for (const ReadPiece& piece : plan.pieces)
    by_server[reader_of(input, plan.variable, piece.piece)].push_back(&piece);
  for (const auto& [s, pieces] : by_server) {
    wire::GetInput message;
    for (const ReadPiece* const piece : pieces) message.pieces.push_back(piece->piece);
    message.request = request;
    message.input = input.id;
    message.variable = plan.variable;
    message.record = record;
    message.ahead = ahead;
    if (core_.link(s).packs()) {
      message.part = plan.part;
      AFTERBAY_TRY(describe_cells(s, plan, pieces));
    }
    AFTERBAY_TRY(core_.send_ahead(s, message));
  }
  return {};
}

/// Before a server packs this rank's part of a map for the first time.
Result<> Reader::describe_cells(std::size_t server, const ReadPlan& plan,
                                std::span<const ReadPiece* const> pieces) {
  if (plan.part.map < 0) return {};
  std::vector<const model::CellPoints*> cells;
  for (const ReadPiece* const piece : pieces) cells.push_back(piece->points);
  for (const wire::InputCells& message : described_.missing(server, static_cast<std::uint32_t>(plan.part.map),
                                                            plan.part.list, plan.cells, cells))
    AFTERBAY_TRY(core_.send_ahead(server, message));
  return {};
}

Result<> Reader::begin(const Input& input, Fetch& fetch) {
  fetch.number = ++last_fetch_;
  fetch.missing = fetch.plan->pieces.size();
  fetches_[fetch.number] = &fetch;
  return ask_for(input, *fetch.plan, fetch.record, fetch.number, false);
}

std::string Reader::Job::text() const {
  return fmt::format("record {} of variable {} of {}", said_index(what.record + taken),
                     input->schema.variables[plan.variable].name, input->path);
}

Result<> Reader::ask(Job& job) {
  for (; job.asked < job.what.records && job.asked < job.taken + most_fetches; ++job.asked) {
    Fetch& next = job.under_way.emplace_back();
    next.plan = &job.plan;
    next.record = job.what.record + job.asked;
    next.to = job.data + job.asked * job.plan.record_bytes;
    AFTERBAY_TRY(begin(*job.input, next));
  }
  job.ahead = std::max(job.ahead, job.asked);
  for (; job.ahead < job.what.records && job.ahead <= job.taken + most_records_ahead; ++job.ahead)
    AFTERBAY_TRY(ask_for(*job.input, job.plan, job.what.record + job.ahead, 0, true));
  return {};
}

void Reader::take_record(Job& job) {
  Fetch& fetch = job.under_way.front();
  if (fetch.error && job.result) job.result = fail(*fetch.error);
  if (!fetch.error) job.plan.copy_twins(fetch.to);
  job.out_of_range += fetch.out_of_range;
  fetches_.erase(fetch.number);
  job.under_way.pop_front();
  ++job.taken;
  if (job.result) observe::add(observed_.read_bytes, job.plan.file_bytes);
}

Result<bool> Reader::advance(Job& job) {
  for (;;) {
    AFTERBAY_TRY(core_.check_usable());
    // By the session's thread, while an endpoint reads: servers need not answer, and know no such
    // file.
    if (job.input->closed)
      return fail(ErrorCode::bad_state, "the file was closed on this rank while it was being read");
    if (job.result)
      if (auto asked = ask(job); !asked) job.result = std::move(asked);
    if (job.ended()) break;
    if (!job.can_advance()) return false;
    take_record(job);
  }
  if (!job.result) return fail(job.result.error());
  if (job.out_of_range == 0) return true;
  return fail(ErrorCode::wrong_type,
              "{} values of the file's type {} are out of range of {}; the rest was read", job.out_of_range,
              name_of(job.input->schema.variables[job.plan.variable].type), name_of(job.type));
}

void Reader::end(Job& job) {
  for (const Fetch& fetch : job.under_way) fetches_.erase(fetch.number);
  job.under_way.clear();
}

Result<std::unique_ptr<Reader::Job>> Reader::begin(const std::shared_ptr<Input>& input,
                                                   std::string_view variable, const Selection& selection,
                                                   const Decomposition* part, void* data, Type type,
                                                   const MemoryLayout& memory) {
  Selection what = selection;
  AFTERBAY_TRY_ASSIGN(ReadPlan plan, plan_read(*input, variable, what, part, type, memory));
  if (data == nullptr && !plan.pieces.empty())
    return fail(ErrorCode::invalid_argument, "the data pointer is null, but {} bytes are to be read",
                plan.file_bytes * what.records);
  return std::make_unique<Job>(input, std::move(plan), what, static_cast<std::byte*>(data), type);
}

Result<> Reader::get(const std::shared_ptr<Input>& input, std::string_view variable, const Selection& what,
                     void* data, Type type, const MemoryLayout& memory) {
  observe::Timed timed(observed_.get);
  const auto failed = [&](Error error) { return report(std::move(error), *input, variable); };
  auto part = named_by(what);
  if (!part) return failed(std::move(part).error());
  auto job = begin(input, variable, what, *part, data, type, memory);
  if (!job) return failed(std::move(job).error());
  Result<bool> done = advance(**job);
  while (done && !*done) {
    if (auto arrived = core_.wait_until([&] { return (*job)->can_advance(); }, (*job)->text()); !arrived)
      done = fail(std::move(arrived).error());
    else
      done = advance(**job);
  }
  end(**job);
  if (auto all = core_.wait_for_all("all ranks to finish reading"); !all && done)
    return failed(std::move(all).error());
  if (!done) return failed(std::move(done).error());
  timed.bytes((*job)->plan.file_bytes * (*job)->what.records);
  return {};
}

Result<> Reader::prefetch(Input& input, std::string_view variable, const Selection& selection) {
  const observe::Timed timed(observed_.prefetch);
  const auto failed = [&](Error error) { return report(std::move(error), input, variable); };
  Selection what = selection;
  const auto found = std::ranges::find(input.schema.variables, variable, &Variable::name);
  const Type type = found == input.schema.variables.end() ? Type::float64 : found->type;
  auto part = named_by(what);
  if (!part) return failed(std::move(part).error());
  auto plan = plan_read(input, variable, what, *part, type, {});
  if (!plan) return failed(std::move(plan).error());
  for (std::uint64_t r = 0; r < what.records; ++r)
    if (auto asked = ask_for(input, *plan, what.record + r, 0, true); !asked)
      return failed(std::move(asked).error());
  return {};
}

Result<std::vector<std::string>> Reader::get_strings(Input& input, std::string_view variable,
                                                     std::uint64_t record) {
  const observe::Timed timed(observed_.get);
  const auto failed = [&](Error error) { return report(std::move(error), input, variable); };
  const auto run = [&]() -> Result<wire::InputStrings> {
    AFTERBAY_TRY(core_.check_usable());
    if (input.closed) return fail(ErrorCode::bad_state, "the file is closed on this rank: open it again");
    AFTERBAY_TRY_ASSIGN(const std::uint32_t index, input.variable(variable, true));
    AFTERBAY_TRY_ASSIGN(record, input.record_of(index, record, 1));
    const std::uint64_t number = ++last_fetch_;
    const std::size_t server = reader_of(input, index, 0);
    auto& answer = strings_fetches_[number];
    AFTERBAY_TRY(core_.send_ahead(server, wire::GetInputStrings{number, input.id, index, record}));
    AFTERBAY_TRY(core_.wait_until([&] { return answer.has_value(); },
                                  fmt::format("the strings of variable {} of {}", variable, input.path)));
    AFTERBAY_TRY(core_.wait_for_all("all ranks to finish reading"));
    wire::InputStrings strings = std::move(*answer);
    strings_fetches_.erase(number);
    return strings;
  };
  auto strings = run();
  if (!strings) return failed(std::move(strings).error());
  if (strings->error) return failed(std::move(*strings->error));
  return std::move(strings->values);
}

}  // namespace afterbay::client
