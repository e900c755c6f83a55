// SPDX-License-Identifier: Apache-2.0
#include "storage/record_reach.hpp"

#include <algorithm>
#include <string>

#include "base/caller_terms.hpp"

namespace afterbay::storage {
namespace {

/// Bytes per record of all variables, without additions by formats.
std::uint64_t record_bytes(const Schema& schema, const model::FileLayout& layout) {
  if (layout.record_bytes > 0) return layout.record_bytes;
  std::uint64_t bytes = 0;
  for (std::size_t v = 0; v < layout.variables.size(); ++v)
    if (layout.variables[v].record && schema.variables[v].type != Type::string)
      bytes += layout.variables[v].shape.product() * size_of(schema.variables[v].type);
  return bytes;
}

/// "12 records of 4096 bytes, 0.0 GiB"; computed in floating point, because the product may exceed
/// all integers.
std::string need(std::uint64_t records, std::uint64_t bytes) {
  return fmt::format("{} records of {} bytes, {:.1f} GiB in all", records, bytes,
                     static_cast<double>(records) * static_cast<double>(bytes) / (1u << 30));
}

}  // namespace

Result<> check_reach(const Schema& schema, const model::FileLayout& layout, std::uint32_t variable,
                     std::uint64_t record, std::uint64_t records, const FreeBytes& free_bytes) {
  if (!layout.variables[variable].record || record <= records) return {};
  const std::string& name = schema.variables[variable].name;
  const std::uint64_t first = static_cast<std::uint64_t>(said_index(0));
  // Unsigned: the put record may exceed all signed numbers.
  const std::uint64_t said = record + first;
  const std::uint64_t left_out = record - records;
  const std::uint64_t bytes = record_bytes(schema, layout);
  const std::string needed = need(std::max(record, record + 1), bytes);
  if (left_out > most_records_left_out)
    return fail(
        make_error(
            ErrorCode::invalid_argument,
            "record {} of variable '{}' lies {} records beyond the last one (the file has {}): the file "
            "would need {}; give the number of the record, counted from {}, not its date or time",
            said, name, left_out, records, needed, first)
            .in_variable(name));
  if (!free_bytes) return {};
  const auto room = free_bytes();
  if (!room || (left_out + 1) <= *room / std::max<std::uint64_t>(1, bytes)) return {};
  return fail(
      make_error(ErrorCode::no_space,
                 "record {} of variable '{}' lies {} records beyond the last one (the file has {}): the "
                 "file would need {}, which the {} bytes that are free do not hold; give the number of "
                 "the record, counted from {}, or free space on this file system",
                 said, name, left_out, records, needed, *room, first)
          .in_variable(name));
}

}  // namespace afterbay::storage
