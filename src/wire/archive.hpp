// SPDX-License-Identifier: Apache-2.0
// One definition of a message serves both directions: a message type has
// static constexpr Kind kind;   template <class A> void fields(A& a) { a(x, y, z); }
// (public data types: a free `fields(A&, T&)` in this namespace), and `encode` and `decode` both
// run these `fields`. Decoding checks every length: bytes from a peer never cause reads out of
// bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace afterbay::wire {

class OutputArchive {
 public:
  explicit OutputArchive(std::vector<std::byte>& out) : out_(out) {}

  template <class... Ts>
  void operator()(const Ts&... values) {
    (put(values), ...);
  }

 private:
  void raw(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), from, from + bytes);
  }
  void length(std::size_t n) { put(static_cast<std::uint64_t>(n)); }

  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      raw(&value, sizeof value);
    } else if constexpr (requires(T& t, OutputArchive& w) { t.fields(w); }) {
      const_cast<T&>(value).fields(*this);  // `fields` only reads when given an OutputArchive
    } else {
      fields(*this, const_cast<T&>(value));
    }
  }
  void put(const std::string& text) {
    length(text.size());
    raw(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& list) {
    length(list.size());
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
      if (!list.empty()) raw(list.data(), list.size() * sizeof(T));
    } else {
      for (const T& item : list) put(item);
    }
  }
  template <class T>
  void put(const std::optional<T>& maybe) {
    put(static_cast<std::uint8_t>(maybe.has_value()));
    if (maybe) put(*maybe);
  }

  std::vector<std::byte>& out_;
};

class InputArchive {
 public:
  explicit InputArchive(std::span<const std::byte> in) : in_(in) {}

  template <class... Ts>
  void operator()(Ts&... values) {
    (get(values), ...);
  }
  /// Whether all requested bytes were available, and no values were refused.
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  /// For `fields` that find values which cannot be.
  void refuse(std::string why) {
    ok_ = false;
    why_ = std::move(why);
  }
  /// Why values were refused; empty: none were.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return in_; }

 private:
  bool take(void* to, std::size_t bytes) {
    if (!ok_ || bytes > in_.size()) return ok_ = false;
    if (bytes != 0) std::memcpy(to, in_.data(), bytes);
    in_ = in_.subspan(bytes);
    return true;
  }
  /// The length of a list; refused if not even one byte per item would fit.
  std::size_t length(std::size_t item_bytes) {
    std::uint64_t n = 0;
    if (!take(&n, sizeof n)) return 0;
    if (n > in_.size() / item_bytes) ok_ = false;
    return ok_ ? static_cast<std::size_t>(n) : 0;
  }

  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {  // no other byte may lie in a bool
      std::uint8_t byte = 0;
      if (!take(&byte, sizeof byte)) return;
      if (byte > 1) ok_ = false;
      value = byte == 1;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      take(&value, sizeof value);
    } else if constexpr (requires(T& t, InputArchive& r) { t.fields(r); }) {
      value.fields(*this);
    } else {
      fields(*this, value);
    }
  }
  void get(std::string& text) {
    text.resize(length(1));
    take(text.data(), text.size());
  }
  template <class T>
  void get(std::vector<T>& list) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
      list.resize(length(sizeof(T)));
      take(list.data(), list.size() * sizeof(T));
    } else {
      list.clear();
      const std::size_t n = length(1);
      for (std::size_t i = 0; i < n && ok_; ++i) get(list.emplace_back());
    }
  }
  template <class T>
  void get(std::optional<T>& maybe) {
    std::uint8_t present = 0;
    get(present);
    if (present != 0) get(maybe.emplace());
  }

  std::span<const std::byte> in_;
  bool ok_ = true;
  std::string why_;
};

enum class Kind : std::uint32_t;

/// Encodes the kind, then the fields. Replaces the contents of `bytes` and reuses its memory.
template <class Message>
void encode(const Message& message, std::vector<std::byte>& bytes) {
  bytes.clear();
  OutputArchive archive(bytes);
  archive(Message::kind, message);
}

template <class Message>
std::vector<std::byte> encode(const Message& message) {
  std::vector<std::byte> bytes;
  bytes.reserve(64);
  encode(message, bytes);
  return bytes;
}

/// The kind of an encoded message, if there are enough bytes for one.
inline std::optional<Kind> kind_of(std::span<const std::byte> bytes) {
  Kind kind{};
  if (bytes.size() < sizeof kind) return std::nullopt;
  std::memcpy(&kind, bytes.data(), sizeof kind);
  return kind;
}

template <class Message>
Result<Message> decode(std::span<const std::byte> bytes) {
  Message message;
  Kind kind{};
  InputArchive archive(bytes);
  archive(kind, message);
  if (!archive.ok() || kind != Message::kind)
    return fail(ErrorCode::internal, "a message of kind {} and {} bytes cannot be decoded as kind {}{}{}",
                static_cast<std::uint32_t>(kind), bytes.size(), static_cast<std::uint32_t>(Message::kind),
                archive.why().empty() ? "" : ": ", archive.why());
  return message;
}

}  // namespace afterbay::wire
