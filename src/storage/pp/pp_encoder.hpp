// SPDX-License-Identifier: Apache-2.0
// PpEncoder: makes the records of PP files.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/thread_safety.hpp"
#include "storage/messages/message_encoder.hpp"
#include "storage/pp/definition.hpp"

namespace afterbay::storage::pp {

/// A message is a field: the record of its header and that of its values.
class PpEncoder : public MessageEncoder {
 public:
  static Result<std::unique_ptr<MessageEncoder>> make(const Schema& schema, const model::FileLayout& layout);

  /// Values that WGDOS cannot hold are stored unpacked.
  Result<Message> encode(const Slab& slab) override;
  Result<> stamp(std::span<std::byte> message, std::uint32_t variable, const MessageTime& time) override;

 private:
  struct Prototype {
    std::string name;
    std::string cell_methods;
    Type type = Type::float32;
    double fill = 0;
    bool over_time = false;
    std::vector<packing::PpHeader> headers;  ///< one per slab; empty: the variable is no field
    std::vector<std::uint32_t> extra;
    packing::PpEncoding encoding;
    std::vector<std::uint8_t> land;
  };

  static Result<Prototype> prototype_of(const Schema& schema, const Variable& variable);
  template <class T>
  Result<Message> encode_as(const Prototype& prototype, std::uint64_t slab, std::span<const T> values);
  std::vector<std::byte> take_buffer(std::size_t size_bytes);
  void give_back(std::vector<std::byte> buffer);

  std::vector<Prototype> prototypes_;  ///< one per variable
  std::optional<Calendar> calendar_;   ///< of the times of records
  std::optional<Date> reference_;      ///< the forecast's, if the schema has it
  Mutex mutex_;
  /// Into which fields are packed before their size is known: at most one per thread that encodes.
  std::vector<std::vector<std::byte>> buffers_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage::pp
