// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/message_store.hpp"
#include "storage/pp/pp_encoder.hpp"

namespace afterbay::storage {

std::unique_ptr<Store> make_pp_store() {
  return std::make_unique<MessageStore>(Format::pp, pp::PpEncoder::make_encoder);
}

}  // namespace afterbay::storage
