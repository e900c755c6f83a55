// SPDX-License-Identifier: Apache-2.0
// FieldEncoder: makes the fields of files of the Unified Model, which PP files and fields files
// arrange differently.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/thread_safety.hpp"
#include "storage/messages/message_encoder.hpp"
#include "storage/messages/valid_values.hpp"
#include "storage/um/definition.hpp"

namespace afterbay::storage::um {

/// A message is a field: its header and its values. Everything that a header says but for times is
/// known when a file begins.
class FieldEncoder : public MessageEncoder {
 public:
  /// Values that WGDOS cannot hold are stored unpacked.
  Result<Message> encode(const Slab& slab) override;
  Result<> stamp(std::span<std::byte> message, std::uint32_t variable, const MessageTime& time) override;

 protected:
  struct Prototype {
    std::string name;
    std::string cell_methods;
    Type type = Type::float32;
    bool over_time = false;
    std::vector<packing::PpHeader> headers;  ///< one per slab; empty: the variable is not a field
    std::vector<std::uint32_t> extra;
    packing::PpEncoding encoding;
    std::vector<std::uint8_t> land;
    ValidValues valid;  ///< others become missing
  };

  /// Makes the prototypes. Fails with the variable's name.
  Result<> begin(const Schema& schema, const model::FileLayout& layout, const FileKind& kind);
  [[nodiscard]] std::vector<Prototype>& prototypes() noexcept { return prototypes_; }

 private:
  // The format: how a field becomes a message, and where its header is. `extra` are the words of
  // extra data.
  [[nodiscard]] virtual std::size_t most_bytes(const packing::PpHeader& header, std::size_t extra_words,
                                               packing::PpPacking packing) const = 0;
  virtual Result<packing::PpEncoded> make(const packing::PpHeader& header, std::span<const float> values,
                                          std::span<const std::uint32_t> extra,
                                          const packing::PpEncoding& encoding,
                                          std::span<std::byte> to) const = 0;
  virtual Result<packing::PpEncoded> make(const packing::PpHeader& header, std::span<const double> values,
                                          std::span<const std::uint32_t> extra,
                                          const packing::PpEncoding& encoding,
                                          std::span<std::byte> to) const = 0;
  [[nodiscard]] virtual packing::PpHeader read_header(std::span<const std::byte> message) const = 0;
  virtual void write_header(const packing::PpHeader& header, std::span<std::byte> message) const = 0;

  Result<Prototype> prototype_of(const Schema& schema, const Variable& variable) const;
  /// The packing of values that WGDOS cannot hold.
  [[nodiscard]] packing::PpPacking unpacked(Type type) const;
  template <class T>
  Result<Message> encode_as(const Prototype& prototype, std::uint64_t slab, std::span<const T> values);
  std::vector<std::byte> take_buffer(std::size_t size_bytes);
  void give_back(std::vector<std::byte> buffer);

  const FileKind* kind_ = nullptr;
  std::vector<Prototype> prototypes_;  ///< one per variable
  std::optional<Calendar> calendar_;   ///< calendar of the times of records
  std::optional<Date> reference_;      ///< the forecast's, if the schema has it
  Mutex mutex_;
  /// Into which fields are packed before their size is known: at most one per thread that encodes.
  std::vector<std::vector<std::byte>> buffers_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage::um
