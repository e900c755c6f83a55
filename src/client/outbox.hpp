// SPDX-License-Identifier: Apache-2.0
// Outbox: messages to servers that any thread of a rank adds, in order, and one thread at a time
// sends. Adding takes no lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "transport/link.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

class Outbox {
 public:
  /// The frame has been completed.
  struct Ready {
    transport::FrameSlot slot;
  };
  using Content = std::variant<wire::BeginRecord, wire::Put, Ready, wire::EndRecords>;
  struct Message {
    std::size_t server = 0;
    Content content;
  };

  Outbox() = default;
  ~Outbox() { (void)take(); }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Any thread. What happened before it happens before the message is taken.
  void add(std::size_t server, Content content) {
    auto* const node = new Node{{server, std::move(content)}, last_.load(std::memory_order_relaxed)};
    while (!last_.compare_exchange_weak(node->before, node, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] bool empty() const noexcept { return last_.load(std::memory_order_acquire) == nullptr; }
  /// All messages, in the order in which they were added. Any thread; the order among several calls
  /// is that of the calls.
  [[nodiscard]] std::vector<Message> take() {
    std::vector<Message> messages;
    std::unique_ptr<Node> node(last_.exchange(nullptr, std::memory_order_acquire));
    while (node) {
      messages.push_back(std::move(node->message));
      node.reset(node->before);
    }
    std::reverse(messages.begin(), messages.end());
    return messages;
  }

 private:
  struct Node {
    Message message;
    Node* before;
  };
  std::atomic<Node*> last_{nullptr};
};

}  // namespace afterbay::client
