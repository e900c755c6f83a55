// SPDX-License-Identifier: Apache-2.0
#include "storage/input/stored_file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/caller_terms.hpp"
#include "base/regular_file.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/cdf/header.hpp"
#include "storage/input/choose_input.hpp"

namespace afterbay::storage {
namespace {

/// Only regular files are opened: netCDF-C would open a directory as a Zarr store and a name with a
/// scheme as an address, and opening a pipe would wait for its writer.
Result<> check_regular(const std::string& path) {
  const RegularFile file(path);
  if (file.open()) return {};
  if (file.number() == ENOENT)
    return fail(
        make_error(ErrorCode::io, "cannot open {} for reading: there is no such file; check its name", path)
            .with_native(ENOENT)
            .in_file(path));
  if (file.number() == ENODEV)
    return fail(
        make_error(ErrorCode::format, "{} is not a file: a device, pipe or socket cannot be read", path)
            .in_file(path));
  return fail(system_error(file.number(), "open for reading", path));
}

std::string text_of(const model::Index& lengths) { return said_list({lengths.begin(), lengths.size}); }

std::string text_of(const model::Box& box) {
  return said_box({box.start.begin(), box.start.size}, {box.count.begin(), box.count.size});
}

}  // namespace

struct StoredFile::State {
  std::string path;
  InputSources sources;
  std::vector<InputVariable> variables;

  [[nodiscard]] const FoundFile& found() const noexcept { return sources.library->found(); }

  Result<> open(DirectIo direct_io, std::shared_ptr<Disk> disk, std::chrono::milliseconds deadline);
  Result<> open_library(std::chrono::milliseconds deadline);
  Result<> check(std::uint32_t variable, std::uint64_t record) const;
  Result<> check(std::uint32_t variable, const model::Box& box, std::size_t bytes) const;
  [[nodiscard]] Error located(Error error, std::uint32_t variable, std::uint64_t record) const;
};

Result<> StoredFile::State::check(std::uint32_t variable, std::uint64_t record) const {
  if (variable >= variables.size())
    return fail(ErrorCode::invalid_argument, "variable number {}, but the file has {} that can be read",
                variable, variables.size());
  if (variables[variable].record && record >= found().records)
    return fail(ErrorCode::invalid_argument, "it has {} records, counted from {}", found().records,
                said_index(0));
  return {};
}

Result<> StoredFile::State::check(std::uint32_t number, const model::Box& box, std::size_t bytes) const {
  const model::Index& shape = variables[number].shape;
  const Type type = found().schema.variables[number].type;
  if (type == Type::string)
    return fail(ErrorCode::wrong_type, "it holds strings, which are read as a whole (read_strings)");
  bool inside = box.start.size == shape.size && box.count.size == shape.size;
  for (std::size_t d = 0; inside && d < shape.size; ++d)
    inside = box.start[d] <= shape[d] && box.count[d] <= shape[d] - box.start[d];
  if (!inside)
    return fail(ErrorCode::invalid_argument, "the part {} does not lie within the lengths {}", text_of(box),
                text_of(shape));
  if (bytes != box.points() * size_of(type))
    return fail(ErrorCode::invalid_argument, "room for {} bytes, but {} values of {} bytes are read", bytes,
                box.points(), size_of(type));
  return {};
}

Error StoredFile::State::located(Error error, std::uint32_t variable, std::uint64_t record) const {
  std::string what = "reading ";
  if (variable < variables.size()) {
    const std::string& name = found().schema.variables[variable].name;
    if (variables[variable].record) what += fmt::format("record {} of ", said_index(record));
    what += "variable '" + name + "' of ";
    error.in_variable(name);
  }
  return std::move(error.in_file(path).add(what + path));
}

ReadCost& ReadCost::operator+=(const ReadCost& other) noexcept {
  read_ns += other.read_ns;
  decode_ns += other.decode_ns;
  library_ns += other.library_ns;
  bytes_in += other.bytes_in;
  bytes_out += other.bytes_out;
  direct_bytes += other.direct_bytes;
  return *this;
}

StoredFile::StoredFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoredFile::~StoredFile() = default;

Result<> StoredFile::State::open_library(std::chrono::milliseconds deadline) {
  sources.remote = nullptr;
  AFTERBAY_TRY_ASSIGN(const auto classic, check_cdf_header(path));
  if (classic) {
    AFTERBAY_TRY_ASSIGN(sources.library, LibraryFile::open(path));
    return {};
  }
  AFTERBAY_TRY_ASSIGN(auto remote, RemoteInput::open(path, deadline));
  sources.remote = remote.get();
  sources.library = std::move(remote);
  return {};
}

/// The name is opened twice, here and by netCDF-C: it must refer to the same file both times.
Result<> StoredFile::State::open(DirectIo direct_io, std::shared_ptr<Disk> disk,
                                 std::chrono::milliseconds deadline) {
  AFTERBAY_TRY(check_regular(path));
  constexpr int attempts = 16;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    sources.library.reset();
    AFTERBAY_TRY_ASSIGN(sources.bytes, InputBytes::open(path, direct_io, disk));
    AFTERBAY_TRY(open_library(deadline));
    if (!sources.bytes->named(path)) continue;
    AFTERBAY_TRY_ASSIGN(variables, choose_inputs(sources));
    return {};
  }
  return fail(ErrorCode::conflict, "{} is replaced by others as fast as it is opened: stop them", path);
}

Result<std::unique_ptr<StoredFile>> StoredFile::open(const std::string& path, DirectIo direct_io,
                                                     std::shared_ptr<Disk> disk,
                                                     std::chrono::milliseconds deadline) {
  auto state = std::make_unique<State>();
  state->path = path;
  if (auto opened = state->open(direct_io, std::move(disk), deadline); !opened)
    return fail(std::move(opened).error().in_file(path).add("opening " + path + " for reading"));
  return std::unique_ptr<StoredFile>(new StoredFile(std::move(state)));
}

const std::string& StoredFile::path() const noexcept { return state_->path; }
const Schema& StoredFile::schema() const noexcept { return state_->found().schema; }
Format StoredFile::format() const noexcept { return state_->found().format; }
std::uint64_t StoredFile::records() const noexcept { return state_->found().records; }

const std::vector<LeftOut>& StoredFile::left_out() const noexcept { return state_->found().left_out; }

std::optional<std::string> StoredFile::unreadable(std::string_view variable) const {
  if (schema().find_variable(variable) != nullptr) return std::nullopt;
  for (const LeftOut& left_out : state_->found().left_out)
    if (left_out.name == variable) return left_out.reason;
  for (const LeftOut& left_out : state_->found().left_out)
    if (left_out.name.substr(left_out.name.rfind('/') + 1) == variable) return left_out.reason;
  return std::nullopt;
}

Result<ReadCost> StoredFile::read(std::uint32_t variable, std::uint64_t record, const model::Box& box,
                                  std::span<std::byte> to) {
  ReadCost cost;
  const auto read_it = [&]() -> Result<> {
    AFTERBAY_TRY(state_->check(variable, record));
    AFTERBAY_TRY(state_->check(variable, box, to.size()));
    if (to.empty()) return {};
    return state_->variables[variable].input->read(record, box, to, cost);
  };
  if (auto done = read_it(); !done) return fail(state_->located(std::move(done).error(), variable, record));
  cost.bytes_out += to.size();
  return cost;
}

Result<std::vector<std::string>> StoredFile::read_strings(std::uint32_t variable, std::uint64_t record) {
  const auto read_them = [&]() -> Result<std::vector<std::string>> {
    AFTERBAY_TRY(state_->check(variable, record));
    if (schema().variables[variable].type != Type::string)
      return fail(ErrorCode::wrong_type, "it holds {}, not strings",
                  name_of(schema().variables[variable].type));
    return state_->sources.library->read_strings(variable, record);
  };
  auto strings = read_them();
  if (!strings) return fail(state_->located(std::move(strings).error(), variable, record));
  return strings;
}

model::Index StoredFile::grain(std::uint32_t variable) const {
  model::Index grain = state_->variables[variable].shape;
  const std::vector<std::uint64_t>& chunk = schema().variables[variable].chunk;
  const std::size_t first = state_->variables[variable].record ? 1 : 0;
  for (std::size_t d = 0; d < grain.size && first + d < chunk.size(); ++d)
    grain[d] = std::clamp<std::uint64_t>(chunk[first + d], 1, grain[d]);
  return grain;
}

std::string StoredFile::engine(std::uint32_t variable) const {
  if (state_->variables[variable].by_library) return "library";
  return state_->sources.bytes->direct() ? "direct" : "buffered";
}

std::string StoredFile::engine() const {
  for (std::uint32_t v = 0; v < state_->variables.size(); ++v)
    if (!state_->variables[v].by_library) return engine(v);
  return "library";
}

}  // namespace afterbay::storage
