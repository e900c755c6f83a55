// SPDX-License-Identifier: Apache-2.0
#include "replay_input.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "codec/codec.hpp"
#include "decomp/memory.hpp"

namespace afterbay::app {
namespace {

/// Nothing: the number is too large to be represented.
std::optional<std::uint64_t> bytes_of(std::span<const std::uint64_t> count, std::size_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t length : count)
    if (__builtin_mul_overflow(bytes, length, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

Result<NetcdfReader> NetcdfReader::open(const std::string& path) {
  auto opened = storage::ArrayFile::open(path);
  if (!opened) return fail(std::move(opened).error().in_file(path));
  NetcdfReader file(path, *std::move(opened));
  AFTERBAY_TRY(file.refuse_what_is_not_atomic());
  AFTERBAY_TRY(file.refuse_absurd_lengths());
  return file;
}

Result<> NetcdfReader::refuse_what_is_not_atomic() const {
  std::vector<std::string> found;
  if (!contents().groups.empty())
    found.push_back(fmt::format("groups '{}'", fmt::join(contents().groups, "', '")));
  if (!contents().user_types.empty())
    found.push_back(fmt::format("user-defined types '{}'", fmt::join(contents().user_types, "', '")));
  if (found.empty() && !contents().left_out.empty())
    found.push_back(fmt::format("{}, whose types are not atomic types of netCDF-4",
                                fmt::join(contents().left_out, ", ")));
  if (found.empty()) return {};
  return fail(
      make_error(ErrorCode::format,
                 "{}: it has {}: only files without groups and with atomic types can be used; take the part "
                 "that you need out with other tools first (for example nccopy -g)",
                 path_, fmt::join(found, " and "))
          .in_file(path_));
}

/// Rejects damaged lengths, which would take years to replay or compare. A value may take almost no
/// space: codecs compress very well, and values that were never written are not in the file; but
/// each record leaves some trace.
Result<> NetcdfReader::refuse_absurd_lengths() const {
  const std::uint64_t most_expansion = codec::most_expansion();
  std::error_code ignored;
  const std::uint64_t size = std::filesystem::file_size(path_, ignored);
  const auto damaged = [&](std::string_view what, const std::string& name) {
    return fail(make_error(ErrorCode::format,
                           "{}: {} '{}' is longer than a file of {} bytes can make it: it is damaged", path_,
                           what, name, size)
                    .in_file(path_));
  };
  for (const InputDimension& dimension : contents().dimensions)
    if (dimension.unlimited && !ignored && dimension.length / most_expansion > size)
      return damaged("dimension", dimension.name);
  for (const InputVariable& variable : contents().variables) {
    const auto bytes = bytes_of(contents().shape(variable), std::max<std::size_t>(size_of(variable.type), 1));
    if (!bytes || *bytes > std::uint64_t{1} << 62) return damaged("variable", variable.name);
  }
  return {};
}

Result<> NetcdfReader::read(const InputVariable& variable, std::span<const std::uint64_t> start,
                            std::span<const std::uint64_t> count, std::span<std::byte> values) const {
  return file_->read(variable.id, start, count, values);
}

Result<std::vector<std::string>> NetcdfReader::read_strings(const InputVariable& variable,
                                                            std::span<const std::uint64_t> start,
                                                            std::span<const std::uint64_t> count) const {
  return file_->read_strings(variable.id, start, count);
}

Result<Values> NetcdfReader::read_all(const InputVariable& variable) const {
  const std::vector<std::uint64_t> shape = contents().shape(variable);
  const std::vector<std::uint64_t> start(shape.size(), 0);
  const bool strings = variable.type == Type::string;
  const auto bytes = bytes_of(shape, strings ? sizeof(std::string) : size_of(variable.type));
  Result<> fits = decomp::check_memory(
      bytes ? static_cast<double>(*bytes) : std::numeric_limits<double>::infinity(), "the values");
  if (!fits) return fail(std::move(fits).error().in_file(path_).in_variable(variable.name));
  Values values;
  values.type = variable.type;
  if (strings) {
    AFTERBAY_TRY_ASSIGN(values.strings, read_strings(variable, start, shape));
    return values;
  }
  values.bytes.resize(*bytes);
  AFTERBAY_TRY(read(variable, start, shape, values.bytes));
  return values;
}

void NetcdfReader::cache_chunks(const InputVariable& variable, std::uint64_t bytes) const {
  if (!variable.chunk.empty()) file_->cache_chunks(variable.id, bytes);
}

}  // namespace afterbay::app
