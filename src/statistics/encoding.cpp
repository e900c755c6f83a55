// SPDX-License-Identifier: Apache-2.0
#include "statistics/encoding.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "base/crc64.hpp"

namespace afterbay::statistics {
namespace {

constexpr std::array<char, 8> magic{'A', 'B', 's', 't', 'a', 't', '\r', '\n'};
constexpr std::uint32_t version = 1;
constexpr std::uint32_t byte_order = 0x01020304;
constexpr std::uint32_t other_byte_order = 0x04030201;
constexpr std::size_t sum_bytes = sizeof(std::uint64_t);

/// All fields lie without gaps.
struct Head {
  std::array<char, 8> begin = magic;
  std::uint32_t order = byte_order;
  std::uint32_t version_number = version;
  StatisticKind kind{};
  Missing missing{};
  std::uint8_t weighted = 0;
  std::uint8_t sample = 0;
  Type type{};
  std::array<std::uint8_t, 3> reserved{};
  double threshold = 0;
  std::uint64_t missing_values = 0;  ///< checksum of them
  std::uint64_t points = 0;
  std::uint64_t steps = 0;
  double duration = 0;
  std::uint64_t has_reference = 0;
};
static_assert(sizeof(Head) == 72 && std::is_trivially_copyable_v<Head>);

std::size_t saved_bytes(const Layout& layout, std::size_t points, const Head& head) {
  const bool has_columns = head.steps != 0 || head.has_reference != 0;
  return sizeof(Head) + (has_columns ? layout.column_bytes(points) : 0) + sum_bytes;
}

Head head_of(const StateIdentity& identity, const IntervalProgress& progress) {
  Head head;
  head.kind = identity.statistic.kind;
  head.missing = identity.statistic.missing;
  head.weighted = identity.statistic.weighted ? 1 : 0;
  head.sample = identity.statistic.sample ? 1 : 0;
  head.type = identity.type;
  head.threshold = identity.statistic.threshold;
  head.missing_values = crc64(identity.missing.bytes);
  head.points = identity.points;
  head.steps = progress.steps;
  head.duration = progress.duration;
  head.has_reference = progress.has_reference;
  return head;
}

std::string text_of(const Head& head) {
  Statistic statistic{head.kind, head.missing, head.threshold, head.weighted != 0, head.sample != 0};
  return fmt::format("{}; {} points of type {}", statistics::text_of(statistic), head.points,
                     name_of(head.type));
}

/// What can be said without knowing what the state belongs to.
Result<Head> parse(std::span<const std::byte> saved) {
  Head head;
  if (saved.size() < sizeof head + sum_bytes)
    return fail(ErrorCode::format,
                "the saved state of a statistic is damaged: it has {} bytes, and at least {} are needed",
                saved.size(), sizeof head + sum_bytes);
  std::memcpy(&head, saved.data(), sizeof head);
  if (head.begin != magic)
    return fail(ErrorCode::format, "these {} bytes are not the saved state of a statistic", saved.size());
  if (head.order == other_byte_order)
    return fail(
        ErrorCode::format,
        "the state of a statistic was saved on a machine with another byte order: resume on such a machine");
  if (head.version_number != version)
    return fail(
        ErrorCode::format,
        "the state of a statistic was saved in version {}, and this program reads version {}: resume with "
        "the version of Afterbay that saved it",
        head.version_number, version);
  std::uint64_t sum = 0;
  std::memcpy(&sum, saved.data() + saved.size() - sum_bytes, sizeof sum);
  const std::uint64_t found = crc64(saved.first(saved.size() - sum_bytes));
  if (sum != found || head.order != byte_order)
    return fail(
        ErrorCode::format,
        "the saved state of a statistic is damaged: its checksum is {:016x}, and its {} bytes give {:016x}",
        sum, saved.size(), found);
  return head;
}

Result<> check_identity(const Head& saved, const Head& own) {
  const auto differs = [&](const std::string& what) {
    return fail(
        ErrorCode::conflict,
        "the saved state of a statistic belongs to something else ({}): resume with the description of "
        "the run that saved it, or begin the interval again",
        what);
  };
  const bool same = saved.kind == own.kind && saved.missing == own.missing &&
                    saved.weighted == own.weighted && saved.sample == own.sample && saved.type == own.type &&
                    saved.threshold == own.threshold && saved.points == own.points;
  if (!same) return differs(fmt::format("saved: {}; expected: {}", text_of(saved), text_of(own)));
  if (saved.missing_values != own.missing_values) return differs("the missing values of the field differ");
  return {};
}

/// Whether the values of a head can be those of an interval.
bool is_possible(const Head& head) {
  const bool lasts = head.steps == 0 ? head.duration == 0 : head.duration > 0;
  const bool may_refer = head.kind == StatisticKind::difference;
  return lasts && std::isfinite(head.duration) && head.steps <= most_steps &&
         head.has_reference <= (may_refer ? 1U : 0U) && head.reserved == decltype(head.reserved){};
}

bool are_possible(std::span<const std::byte> counts, std::uint64_t steps) {
  for (std::size_t at = 0; at < counts.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t count = 0;
    std::memcpy(&count, counts.data() + at, sizeof count);
    if (count > steps) return false;
  }
  return true;
}

}  // namespace

std::size_t most_saved_bytes(const Statistic& statistic, Type type, std::size_t points) noexcept {
  return sizeof(Head) + layout_of(statistic, type).column_bytes(points) + sum_bytes;
}

void encode(const StateIdentity& identity, const State& state, std::vector<std::byte>& to) {
  const std::size_t begin = to.size();
  const Head head = head_of(identity, state.progress());
  const std::size_t bytes = saved_bytes(state.layout(), identity.points, head);
  to.reserve(begin + bytes);
  const auto append = [&](const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    to.insert(to.end(), from, from + size);
  };
  append(&head, sizeof head);
  if (bytes > sizeof head + sum_bytes)
    for (std::uint32_t i = 0; i < state.layout().columns(); ++i)
      append(state.column(i).data, state.column(i).bytes);
  const std::uint64_t sum = crc64(std::span(to).subspan(begin));
  append(&sum, sizeof sum);
}

Result<> decode(const StateIdentity& identity, std::span<const std::byte> saved, const State& state) {
  AFTERBAY_TRY_ASSIGN(const Head head, parse(saved));
  AFTERBAY_TRY(check_identity(head, head_of(identity, {})));
  const Layout& layout = state.layout();
  const std::size_t bytes = saved_bytes(layout, identity.points, head);
  const bool has_columns = bytes > sizeof head + sum_bytes;
  bool possible = is_possible(head) && saved.size() == bytes;
  if (possible && has_columns && layout.counts) {
    const std::size_t size = identity.points * sizeof(std::uint32_t);
    possible = are_possible(saved.subspan(bytes - sum_bytes - size, size), head.steps);
  }
  if (!possible)
    return fail(ErrorCode::format,
                "the saved state of a statistic is damaged: {} bytes, {} steps with a duration of {} ({}) do "
                "not fit together",
                saved.size(), head.steps, head.duration, text_of(head));
  state.progress() = {head.steps, head.duration, head.has_reference};
  if (!has_columns) return {};
  std::size_t at = sizeof head;
  for (std::uint32_t i = 0; i < layout.columns(); ++i) {
    const State::Column column = state.column(i);
    if (column.bytes != 0) std::memcpy(column.data, saved.data() + at, column.bytes);
    at += column.bytes;
  }
  return {};
}

}  // namespace afterbay::statistics
