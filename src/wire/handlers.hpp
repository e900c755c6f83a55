// SPDX-License-Identifier: Apache-2.0
// Handlers: a table with one handler per message of a direction. A table that lacks a message, or
// has one twice, does not compile.
//   constexpr auto handlers = wire::handlers<wire::ToModel>(
//       wire::on<wire::Bye>([](Session& session, std::size_t server, wire::Bye) { ... }),
//       ...);
//   handlers(bytes, session, server);
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "wire/archive.hpp"
#include "wire/message_list.hpp"

namespace afterbay::wire {

/// When a message is still handled.
enum class Counts {
  while_consistent,  ///< not after model ranks contradicted each other
  always,
};

template <class M, Counts C, class Function>
struct Handler {
  using Message = M;
  static constexpr Counts counts = C;
  Function function;
};

/// `function(context..., Message)` returns Result<> or nothing.
template <class Message, Counts C = Counts::while_consistent, class Function>
constexpr Handler<Message, C, Function> on(Function function) {
  return {std::move(function)};
}

template <class List, class... Rows>
class Handlers {
 public:
  constexpr explicit Handlers(Rows... rows) : rows_(std::move(rows)...) {
    // If there are as many rows as messages, all different and all in the list, every message has
    // its row.
    static_assert(sizeof...(Rows) == List::count, "each message of a direction has one handler");
    static_assert(((List::template kind<typename Rows::Message>() == Rows::Message::kind) && ...));
    static_assert((is_alone<typename Rows::Message>() && ...), "a message has two handlers");
  }

  /// Decodes the message and calls its handler. Error: unknown kind, bytes that cannot be decoded,
  /// or the error that the handler returns.
  template <class... Context>
  Result<> operator()(std::span<const std::byte> bytes, Context&&... context) const {
    const Kind kind = kind_of(bytes).value_or(Kind{0});
    Result<> result;
    const bool found = std::apply(
        [&](const auto&... row) { return ((handle(row, kind, bytes, result, context...)) || ...); }, rows_);
    if (!found)
      return fail(ErrorCode::internal, "a message of unknown kind {}", static_cast<std::uint32_t>(kind));
    return result;
  }

  /// Unknown kinds: while_consistent.
  static constexpr Counts counts(Kind kind) {
    Counts found = Counts::while_consistent;
    ((Rows::Message::kind == kind ? void(found = Rows::counts) : void()), ...);
    return found;
  }

 private:
  template <class Message>
  static constexpr bool is_alone() {
    return (0U + ... + std::is_same_v<Message, typename Rows::Message>) == 1;
  }

  template <class Row, class... Context>
  static bool handle(const Row& row, Kind kind, std::span<const std::byte> bytes, Result<>& result,
                     Context&... context) {
    using Message = typename Row::Message;
    if (kind != Message::kind) return false;
    // Handlers run in the caller's thread and may require its role, which this table cannot name.
    result = [&]() AFTERBAY_NO_THREAD_SAFETY_ANALYSIS -> Result<> {
      AFTERBAY_TRY_ASSIGN(Message message, decode<Message>(bytes));
      if constexpr (std::is_void_v<decltype(row.function(context..., std::move(message)))>) {
        row.function(context..., std::move(message));
        return {};
      } else {
        return row.function(context..., std::move(message));
      }
    }();
    return true;
  }

  std::tuple<Rows...> rows_;
};

template <class List, class... Rows>
constexpr Handlers<List, Rows...> handlers(Rows... rows) {
  return Handlers<List, Rows...>(std::move(rows)...);
}

}  // namespace afterbay::wire
