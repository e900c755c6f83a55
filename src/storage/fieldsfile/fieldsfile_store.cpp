// SPDX-License-Identifier: Apache-2.0
#include "storage/fieldsfile/fieldsfile_encoder.hpp"
#include "storage/messages/message_store.hpp"

namespace afterbay::storage {

std::unique_ptr<Store> make_fieldsfile_store() {
  return std::make_unique<MessageStore>(Format::fieldsfile, fieldsfile::FieldsFileEncoder::make_encoder);
}

}  // namespace afterbay::storage
