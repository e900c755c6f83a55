// SPDX-License-Identifier: Apache-2.0
#include "storage/reader/channel.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "storage/reader/protocol.hpp"

namespace afterbay::storage {
namespace {

/// Whether the socket is ready before the deadline.
bool await(int socket, short events, Deadline deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Deadline::clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{socket, events, 0};
    const auto wait_ms = static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000));
    const int count = ::poll(&ready, 1, wait_ms);
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return true;  // the transfer itself will fail
  }
}

/// Calls `move(position)`, as recv and send do, until `size` bytes have passed.
template <class Move>
Transfer transfer(int socket, short events, std::size_t size, Deadline deadline, Move move) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = move(done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      return Transfer::closed;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!await(socket, events, deadline)) return Transfer::timed_out;
    } else if (errno != EINTR) {
      return Transfer::closed;
    }
  }
  return Transfer::done;
}

}  // namespace

Transfer send_bytes(int socket, std::span<const std::byte> bytes, Deadline deadline) {
  return transfer(socket, POLLOUT, bytes.size(), deadline, [&](std::size_t done) {
    return ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

Transfer receive_bytes(int socket, std::span<std::byte> bytes, Deadline deadline) {
  return transfer(socket, POLLIN, bytes.size(), deadline, [&](std::size_t done) {
    return ::recv(socket, bytes.data() + done, bytes.size() - done, MSG_DONTWAIT);
  });
}

Transfer send_message(int socket, std::span<const std::byte> message, Deadline deadline) {
  const std::uint64_t length = message.size();
  if (length > most_message_bytes) return Transfer::too_long;
  const Transfer sent = send_bytes(socket, std::as_bytes(std::span(&length, 1)), deadline);
  return sent == Transfer::done ? send_bytes(socket, message, deadline) : sent;
}

Transfer receive_message(int socket, std::vector<std::byte>& message, Deadline deadline) {
  constexpr std::uint64_t step_bytes = std::uint64_t{4} << 20;
  message.clear();
  std::uint64_t length = 0;
  Transfer received = receive_bytes(socket, std::as_writable_bytes(std::span(&length, 1)), deadline);
  if (received != Transfer::done) return received;
  if (length > most_message_bytes) return Transfer::too_long;
  while (message.size() < length && received == Transfer::done) {
    const std::size_t before = message.size();
    message.resize(before + std::min(step_bytes, length - before));
    received = receive_bytes(socket, std::span(message).subspan(before), deadline);
  }
  return received;
}

}  // namespace afterbay::storage
