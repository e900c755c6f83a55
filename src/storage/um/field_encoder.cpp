// SPDX-License-Identifier: Apache-2.0
#include "storage/um/field_encoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/caller_terms.hpp"
#include "model/fill_value.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::um {
namespace {

using packing::PpHeader;
using packing::PpPacking;

template <class T>
std::vector<double> widened(std::span<const std::byte> from) {
  std::vector<double> numbers(from.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, from.data() + i * sizeof value, sizeof value);
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

std::vector<double> widened(Type type, std::span<const std::byte> from) {
  switch (type) {
    case Type::int8: return widened<std::int8_t>(from);
    case Type::int16: return widened<std::int16_t>(from);
    case Type::uint8: return widened<std::uint8_t>(from);
    case Type::uint16: return widened<std::uint16_t>(from);
    case Type::uint32: return widened<std::uint32_t>(from);
    default: return widened<std::int32_t>(from);
  }
}

/// The values as numbers; `copy` holds them if they are not aligned.
template <class T>
std::span<const T> typed(std::span<const std::byte> values, std::vector<T>& copy) {
  const std::size_t count = values.size() / sizeof(T);
  if (reinterpret_cast<std::uintptr_t>(values.data()) % alignof(T) == 0)
    return {reinterpret_cast<const T*>(values.data()), count};
  copy.resize(count);
  std::memcpy(copy.data(), values.data(), count * sizeof(T));
  return copy;
}

/// The values, of which those that are not valid are missing; `copy` then holds them.
template <class T>
std::span<const T> only_valid(std::span<const T> values, const ValidValues& valid, double missing,
                              std::vector<T>& copy) {
  if (!valid.limited()) return values;
  if (values.data() != copy.data()) copy.assign(values.begin(), values.end());
  for (T& value : copy)
    if (!valid.has(static_cast<double>(value))) value = static_cast<T>(missing);
  return copy;
}

/// Errors of values that WGDOS rounds to multiples of 2^n.
double allowed_error(int accuracy) { return std::ldexp(0.5, accuracy); }

/// Values that neither WGDOS nor 32-bit reals keep to an accuracy. `error`: of the latter.
tl::unexpected<Error> cannot_keep(int accuracy, double error, const std::string& why) {
  const int possible = std::ilogb(error) + (allowed_error(std::ilogb(error) + 1) < error ? 2 : 1);
  return fail(ErrorCode::invalid_argument,
              "the values cannot be kept to {:.3g}, which the accuracy 2^{} allows: 32-bit reals have errors "
              "of up to "
              "{:.3g}, and WGDOS refuses them ({}); 2^{} is possible (PP_accuracy = {}, or absolute_error "
              "{:.3g}), or "
              "a fields file or netCDF, which hold float64",
              allowed_error(accuracy), accuracy, error, why, possible, possible, allowed_error(possible));
}

}  // namespace

Result<> FieldEncoder::begin(const Schema& schema, const model::FileLayout& layout, const FileKind& kind) {
  kind_ = &kind;
  AFTERBAY_TRY_ASSIGN(reference_, reference_of(schema));
  AFTERBAY_TRY_ASSIGN(calendar_, calendar_of(schema));
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const Variable& variable = schema.variables[v];
    if (layout.stored[v].slab.size == 0) {
      prototypes_.emplace_back();
      continue;
    }
    auto prototype = prototype_of(schema, variable);
    if (!prototype)
      return fail(std::move(prototype)
                      .error()
                      .in_variable(variable.name)
                      .add(fmt::format("while preparing PP headers of variable '{}'", variable.name)));
    prototypes_.push_back(*std::move(prototype));
  }
  return {};
}

Result<FieldEncoder::Prototype> FieldEncoder::prototype_of(const Schema& schema,
                                                           const Variable& variable) const {
  AFTERBAY_TRY_ASSIGN(const Field field, field_of(schema, variable, *kind_));
  Prototype made;
  made.name = variable.name;
  made.cell_methods = field.description.cell_methods;
  made.type = variable.type;
  const std::vector<double> fill = cf::numbers_of(model::missing_fill_of(variable));
  made.over_time = field.over_time;
  made.encoding.packing = field.storage.method;
  made.encoding.accuracy = field.storage.accuracy;
  // Integers are never NaN.
  made.encoding.missing = fill.empty() ? std::numeric_limits<double>::quiet_NaN() : fill.front();
  made.encoding.drops_others = field.storage.drops_others;
  made.valid = ValidValues(variable);
  if (!field.storage.mask.empty()) {
    AFTERBAY_TRY_ASSIGN(made.land, mask_of(schema, variable, field.storage.mask));
  }
  for (std::size_t slab = 0; slab < field.places.size(); ++slab) {
    AFTERBAY_TRY_ASSIGN(packing::PpDescribed described, describe_slab(field, slab));
    made.headers.push_back(described.header);
    made.extra = std::move(described.extra);
  }
  return made;
}

Result<Message> FieldEncoder::encode(const Slab& slab) {
  const Prototype& prototype = prototypes_[slab.variable];
  const auto valid = [&](auto values, auto& copy) {
    return only_valid(values, prototype.valid, prototype.encoding.missing, copy);
  };
  const auto made = [&]() -> Result<Message> {
    if (prototype.type == Type::float32) {
      std::vector<float> copy;
      return encode_as(prototype, slab.number, valid(typed<float>(slab.values, copy), copy));
    }
    std::vector<double> numbers;
    if (prototype.type == Type::float64)
      return encode_as(prototype, slab.number, valid(typed<double>(slab.values, numbers), numbers));
    numbers = widened(prototype.type, slab.values);
    return encode_as(prototype, slab.number, valid(std::span<const double>(numbers), numbers));
  };
  auto message = made();
  if (!message)
    message.error()
        .in_variable(prototype.name)
        .add(fmt::format("while encoding record {} of variable '{}'", said_index(slab.record),
                         prototype.name));
  return message;
}

template <class T>
Result<Message> FieldEncoder::encode_as(const Prototype& prototype, std::uint64_t slab,
                                        std::span<const T> values) {
  const PpHeader& header = prototype.headers[slab];
  packing::PpEncoding encoding = prototype.encoding;
  encoding.land_mask = prototype.land;
  const bool packs = encoding.packing == PpPacking::wgdos;
  const PpPacking otherwise = packs ? unpacked(prototype.type) : encoding.packing;
  std::vector<std::byte> buffer =
      take_buffer(std::max(most_bytes(header, prototype.extra.size(), encoding.packing),
                           most_bytes(header, prototype.extra.size(), otherwise)));
  const auto make_as = [&](PpPacking packing) {
    encoding.packing = packing;
    return make(header, values, prototype.extra, encoding, buffer);
  };
  auto encoded = make_as(encoding.packing);
  Message message;
  // Anything but values that WGDOS cannot hold fails again.
  if (!encoded && encoded.error().code == ErrorCode::invalid_argument && packs) {
    const std::string why = encoded.error().message;
    encoded = make_as(otherwise);
    message.unpacked = true;
    if (encoded && encoded->largest_error > allowed_error(encoding.accuracy))
      encoded = cannot_keep(encoding.accuracy, encoded->largest_error, why);
  } else if (encoded && packs && encoded->constant && encoded->largest_error > 0) {
    // Constant fields survive, as far as words of the file can hold their value.
    const double of_packing = encoded->largest_error;
    encoded = make_as(otherwise);
    message.unpacked = encoded && encoded->largest_error < of_packing;
    if (!message.unpacked) encoded = make_as(PpPacking::wgdos);
  }
  const bool rounds =
      prototype.type == Type::float64 && (!kind_->wide || encoding.packing == PpPacking::bits32);
  if (encoded && (packs || rounds)) message.largest_error = encoded->largest_error;
  if (encoded)
    message.bytes.assign(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(encoded->bytes));
  give_back(std::move(buffer));
  if (!encoded) return fail(std::move(encoded).error());
  return message;
}

PpPacking FieldEncoder::unpacked(Type type) const {
  return kind_->wide && type == Type::float32 ? PpPacking::bits32 : PpPacking::none;
}

std::vector<std::byte> FieldEncoder::take_buffer(std::size_t size_bytes) {
  std::vector<std::byte> buffer;
  {
    const MutexLock lock(mutex_);
    if (!buffers_.empty()) {
      buffer = std::move(buffers_.back());
      buffers_.pop_back();
    }
  }
  if (buffer.size() < size_bytes) buffer.resize(size_bytes);
  return buffer;
}

void FieldEncoder::give_back(std::vector<std::byte> buffer) {
  const MutexLock lock(mutex_);
  buffers_.push_back(std::move(buffer));
}

Result<> FieldEncoder::stamp(std::span<std::byte> message, std::uint32_t variable, const MessageTime& time) {
  const Prototype& prototype = prototypes_[variable];
  PpHeader header = read_header(message);
  packing::PpTime entered;
  if (calendar_) entered.calendar = *calendar_;
  entered.begin = time.date;
  if (prototype.over_time && time.interval) {
    entered.begin = time.begin;
    entered.end = time.end;
  }
  entered.reference = time.reference ? time.reference : reference_;
  AFTERBAY_TRY(packing::describe_pp_time(prototype.name, prototype.cell_methods, entered, header));
  write_header(header, message);
  return {};
}

}  // namespace afterbay::storage::um
