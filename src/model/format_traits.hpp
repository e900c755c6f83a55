// SPDX-License-Identifier: Apache-2.0
// FormatTraits: the capabilities and the layout of a format. Each format's traits are in its folder
// (storage/FORMAT/traits.cpp); the rest of the library queries a capability, never a format by
// name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "afterbay/error.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/types.hpp"
#include "base/result.hpp"
#include "model/types.hpp"

namespace afterbay {

/// A set of the types of a schema.
struct TypeSet {
  std::uint32_t bits = 0;

  [[nodiscard]] constexpr bool has(Type type) const noexcept {
    return ((bits >> static_cast<unsigned>(type)) & 1u) != 0;
  }
  [[nodiscard]] constexpr TypeSet with(Type type) const noexcept {
    return {bits | 1u << static_cast<unsigned>(type)};
  }
  [[nodiscard]] constexpr TypeSet without(Type type) const noexcept {
    return {bits & ~(1u << static_cast<unsigned>(type))};
  }
};

inline constexpr TypeSet all_types = [] {
  TypeSet all;
  for (const Type type : model::every_type) all = all.with(type);
  return all;
}();

/// The treatment of a variable's filters.
enum class FilterRule : std::uint8_t {
  refused,  ///< `validate` refuses them
  ignored,  ///< values are stored unchanged
  applied   ///< chunks are encoded
};

/// The bytes of a file that is being completed.
class FileBytes {
 public:
  virtual ~FileBytes() = default;
  /// Bytes after the end of the file are 0.
  virtual Result<> read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
  virtual Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
};

struct MessageAccuracy;  // message_accuracy.hpp

/// A file that is a sequence of messages, one per field, record and slab. A slab is what a message
/// holds: the points of a field on its horizontal grid. Each piece of a field is one whole slab.
struct MessageTraits {
  /// The number of trailing dimensions of a slab; 0 for variables that are not written as messages,
  /// such as the time. Pure.
  unsigned (*slab_dimensions)(const Schema& schema, const Variable& variable) = nullptr;
  /// Whether the first message needs the values of a variable, which must be constant then; null:
  /// of all variables without slabs. Pure.
  bool (*needed_first)(const Schema& schema, const Variable& variable) = nullptr;
  /// A problem of a schema: its code, the variable (empty: none), and a sentence.
  using Add = std::function<void(ErrorCode code, const std::string& variable, const std::string& line)>;
  /// Adds what messages cannot hold. The schema is valid otherwise. Pure.
  void (*check)(const Schema& schema, const Add& add) = nullptr;
  /// Completes a file that consists of its front (MessageEncoder::front) and its messages, such as
  /// with an index, from nothing but these bytes: recovery calls it too. Returns the size of the
  /// file. Null: there is nothing to add. Safe with any bytes: fails with format if they are no
  /// messages of the format.
  Result<std::uint64_t> (*seal)(FileBytes& file, std::uint64_t end_bytes) = nullptr;
  /// How the format keeps a stated accuracy; never null.
  const MessageAccuracy* accuracy = nullptr;
};

inline constexpr std::array<std::string_view, 3> netcdf_endings{".nc", ".nc4", ".cdf"};

struct FormatTraits {
  std::string_view name = {};   ///< in the configuration, the API, messages and the journal
  std::string_view title = {};  ///< as in its specification
  /// How names of its files end. The first one is appended to names that end with none of any
  /// format.
  std::span<const std::string_view> endings = netcdf_endings;
  /// The first bytes of a file, if netCDF-C reads it (append, input, compare); empty: it does not.
  std::string_view magic = {};
  /// Artifacts are published under a name and listed in the journal; false: they are kept in
  /// memory, for tests.
  bool publishes = true;
  bool shared = true;  ///< whether several servers may write one artifact
  /// Offsets follow from the schema by arithmetic: the variables of a record are contiguous and a
  /// frame is a contiguous part of the file. Otherwise the format's index or library determines
  /// positions.
  bool arithmetic_places = false;
  bool big_endian = false;
  bool chunks = false;  ///< record variables and filtered ones are cut into chunks
  FilterRule filters = FilterRule::refused;
  TypeSet types = all_types;  ///< types of variables and attributes
  std::uint64_t most_dimension_length = (std::uint64_t{1} << 63) - 4;
  /// Limit for a record of one variable, or for a fixed variable. The last variable of a file may
  /// be larger.
  std::uint64_t most_variable_bytes = UINT64_MAX;
  std::uint64_t most_records = INT64_MAX;
  const MessageTraits* messages = nullptr;  ///< null: the format is not a sequence of messages
  std::span<const std::string_view> reserved_attributes = {};  ///< names that the format reserves
};

}  // namespace afterbay
