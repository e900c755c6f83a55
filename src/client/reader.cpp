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

void Reader::answer(std::size_t server, wire::InputPiece message) {
  if (const auto fetch = fetches_.find(message.request); fetch != fetches_.end())
    fetch->second->arrived.emplace_back(server, std::move(message));
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
Result<ReadPlan> Reader::plan_read(const Input& input, std::string_view variable, Selection& what, Type type,
                                   const MemoryLayout& memory) {
  AFTERBAY_TRY(core_.check_usable());
  if (input.closed) return fail(ErrorCode::bad_state, "the file is closed on this rank: open it again");
  AFTERBAY_TRY_ASSIGN(const std::uint32_t index, input.variable(variable, false));
  AFTERBAY_TRY_ASSIGN(what.record, input.record_of(index, what.record, what.records));
  if (what.decomposition.empty()) return make_read_plan(input, index, what, nullptr, type, memory);
  if (what.block)
    return fail(ErrorCode::invalid_argument,
                "a decomposition ('{}') and a block are requested: give one of them", what.decomposition);
  AFTERBAY_TRY_ASSIGN(const Decomposition* const known, host_.decomposition(what.decomposition));
  return make_read_plan(input, index, what, known, type, memory);
}

/// Requests the pieces that it reads from every server.
Result<> Reader::ask_for(const Input& input, const ReadPlan& plan, std::uint64_t record,
                         std::uint64_t request, bool ahead) {
  for (const std::size_t s : readers_) {
    wire::GetInput message;
    for (const ReadPiece& piece : plan.pieces)
      if (reader_of(input, plan.variable, piece.piece) == s) message.pieces.push_back(piece.piece);
    if (message.pieces.empty()) continue;
    message.request = request;
    message.input = input.id;
    message.variable = plan.variable;
    message.record = record;
    message.ahead = ahead;
    if (core_.link(s).packs()) message.part = plan.part;
    AFTERBAY_TRY(core_.send_ahead(s, message));
  }
  return {};
}

/// Copies this rank's part out of the pieces that have arrived.
Result<> Reader::take(const ReadPlan& plan, Fetch& fetch, std::byte* data) {
  while (!fetch.arrived.empty()) {
    const auto [server, piece] = std::move(fetch.arrived.front());
    fetch.arrived.pop_front();
    --fetch.missing;
    if (piece.error) {
      if (!fetch.error) fetch.error = piece.error;
      continue;
    }
    const auto planned = std::ranges::lower_bound(plan.pieces, piece.piece, {}, &ReadPiece::piece);
    const transport::shm::Mapping& memory = input_memory_[server];
    const bool far = core_.link(server).packs();
    if (planned == plan.pieces.end() || planned->piece != piece.piece ||
        (far ? piece.data.size() != planned->packed_bytes : piece.offset >= memory.size()))
      return fail(core_.record_failure(make_error(
          ErrorCode::internal, "I/O server {} sent {} bytes of piece {}, which do not match the request",
          server, piece.data.size(), piece.piece)));
    fetch.out_of_range += far ? planned->unpack(piece.data.data(), data, plan.kernel)
                              : planned->scatter(memory.data() + piece.offset, data, plan.kernel);
    if (far) continue;
    AFTERBAY_TRY(core_.send_ahead(server, wire::InputTaken{fetch.number, piece.piece}));
  }
  return {};
}

Result<> Reader::fetch(const Input& input, const ReadPlan& plan, std::uint64_t record, std::byte* data,
                       std::uint64_t& out_of_range) {
  Fetch fetch;
  fetch.number = ++last_fetch_;
  fetch.missing = plan.pieces.size();
  fetches_[fetch.number] = &fetch;
  const auto run = [&]() -> Result<> {
    AFTERBAY_TRY(ask_for(input, plan, record, fetch.number, false));
    Result<> taken;
    AFTERBAY_TRY(core_.wait_until(
        [&] {
          if (taken) taken = take(plan, fetch, data);
          return !taken || fetch.missing == 0;
        },
        fmt::format("record {} of variable {} of {}", said_index(record),
                    input.schema.variables[plan.variable].name, input.path)));
    return taken;
  };
  auto result = run();
  fetches_.erase(fetch.number);
  AFTERBAY_TRY(result);
  if (fetch.error) return fail(*fetch.error);
  plan.copy_twins(data);
  out_of_range += fetch.out_of_range;
  return {};
}

Result<> Reader::get(Input& input, std::string_view variable, const Selection& selection, void* data,
                     Type type, const MemoryLayout& memory) {
  observe::Timed timed(observed_.get);
  const auto failed = [&](Error error) { return report(std::move(error), input, variable); };
  Selection what = selection;
  auto plan = plan_read(input, variable, what, type, memory);
  if (!plan) return failed(std::move(plan).error());
  if (data == nullptr && !plan->pieces.empty())
    return failed(make_error(ErrorCode::invalid_argument,
                             "the data pointer is null, but {} bytes are to be read",
                             plan->file_bytes * what.records));
  std::uint64_t out_of_range = 0;
  std::uint64_t ahead = 1;
  for (std::uint64_t r = 0; r < what.records; ++r) {
    for (; ahead < what.records && ahead <= r + most_records_ahead; ++ahead)
      if (auto asked = ask_for(input, *plan, what.record + ahead, 0, true); !asked)
        return failed(std::move(asked).error());
    auto* const to = static_cast<std::byte*>(data) + r * plan->record_bytes;
    if (auto got = fetch(input, *plan, what.record + r, to, out_of_range); !got) {
      (void)core_.wait_for_all("all ranks to finish reading");
      return failed(std::move(got).error());
    }
    observe::add(observed_.read_bytes, plan->file_bytes);
    timed.bytes(plan->file_bytes);
  }
  if (auto all = core_.wait_for_all("all ranks to finish reading"); !all)
    return failed(std::move(all).error());
  if (out_of_range > 0)
    return failed(make_error(
        ErrorCode::wrong_type, "{} values of the file's type {} are out of range of {}; the rest was read",
        out_of_range, name_of(input.schema.variables[plan->variable].type), name_of(type)));
  return {};
}

Result<> Reader::prefetch(Input& input, std::string_view variable, const Selection& selection) {
  const observe::Timed timed(observed_.prefetch);
  const auto failed = [&](Error error) { return report(std::move(error), input, variable); };
  Selection what = selection;
  const auto found = std::ranges::find(input.schema.variables, variable, &Variable::name);
  const Type type = found == input.schema.variables.end() ? Type::float64 : found->type;
  auto plan = plan_read(input, variable, what, type, {});
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
