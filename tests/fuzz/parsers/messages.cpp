// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "mutator.hpp"
#include "parsers.hpp"
#include "storage/reader/protocol.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::wire {

/// An archive that gives each field a value, so that an encoded message has something in all its
/// parts. In this namespace, where the free functions `fields` are found.
class Filler {
 public:
  template <class... Ts>
  void operator()(Ts&... values) {
    (fill(values), ...);
  }

 private:
  template <class T>
  void fill(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      value = static_cast<T>(1);
    else if constexpr (requires(T& t, Filler& filler) { t.fields(filler); })
      value.fields(*this);
    else
      fields(*this, value);
  }
  void fill(std::byte& value) { value = std::byte{1}; }
  void fill(std::string& text) { text = "name"; }
  template <class T>
  void fill(std::vector<T>& list) {
    list.resize(2);
    for (T& item : list) fill(item);
  }
  /// Other chains are refused when they are decoded.
  void fill(FilterChain& chain) { chain = {{1, {1}}}; }
  template <class T>
  void fill(std::optional<T>& maybe) {
    fill(maybe.emplace());
  }
};

}  // namespace afterbay::wire

namespace afterbay::test {
namespace {

/// As the receiver does, by the kind that the bytes begin with; each kind also decodes the bytes of
/// the others.
template <std::uint32_t First, class... Messages>
void decode_all(wire::MessageList<First, Messages...>, Bytes bytes) {
  const auto decode = [&]<class Message>(std::type_identity<Message>) {
    if (auto message = wire::decode<Message>(bytes)) static_cast<void>(wire::encode(*message));
  };
  (decode(std::type_identity<Messages>()), ...);
}

template <std::uint32_t First, class... Messages>
void write_all(wire::MessageList<First, Messages...>, const std::filesystem::path& directory) {
  const auto write = [&]<class Message>(std::type_identity<Message>) {
    Message message;
    wire::Filler()(message);
    const std::vector<std::byte> bytes = wire::encode(message);
    write_bytes(directory / std::to_string(static_cast<std::uint32_t>(Message::kind)),
                {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  (write(std::type_identity<Messages>()), ...);
}

}  // namespace

void parse_messages(Bytes bytes) {
  decode_all(wire::FromModel(), bytes);
  decode_all(wire::ToModel(), bytes);
  decode_all(wire::BetweenServers(), bytes);
  decode_all(storage::Requests(), bytes);
  decode_all(storage::Answers(), bytes);
}

void write_messages(const std::filesystem::path& directory) {
  write_all(wire::FromModel(), directory);
  write_all(wire::ToModel(), directory);
  write_all(wire::BetweenServers(), directory);
  write_all(storage::Requests(), directory);
  write_all(storage::Answers(), directory);
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_messages);
