// SPDX-License-Identifier: Apache-2.0
// MessageStore: files that are sequences of messages, in any format that has a MessageEncoder.
#pragma once

#include <memory>
#include <utility>

#include "model/format.hpp"
#include "storage/messages/message_encoder.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// Reasons and rules: design/0091-messages.md. A file has one server, because a message contains
/// the time of its record, which ranks put as a variable of its own. Nothing can be appended to its
/// files, and nobody can read them while they are written.
class MessageStore : public Store {
 public:
  MessageStore(Format format, MakeMessageEncoder make) : format_(format), make_(std::move(make)) {}
  Result<std::unique_ptr<File>> create(const FileRequest& request) override;

 private:
  Format format_;
  MakeMessageEncoder make_;
};

}  // namespace afterbay::storage
