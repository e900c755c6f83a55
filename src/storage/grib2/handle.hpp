// SPDX-License-Identifier: Apache-2.0
// Handle: a GRIB message of ecCodes with one owner, and its keys.
#pragma once

#include <eccodes.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"

namespace afterbay::storage::grib2 {

/// Errors have the code invalid_argument, the key, its value, and the text of ecCodes. Threads may
/// use different objects at the same time.
class Handle {
 public:
  /// A message of GRIB edition 2 with the values of ecCodes' sample. Fails with resources if
  /// ecCodes does not find its files.
  static Result<Handle> sample();
  /// A copy of a message.
  static Result<Handle> copy_of(std::span<const std::byte> message);
  /// The message itself: keys of fixed size are changed in `message`, which must outlive it.
  static Result<Handle> in(std::span<std::byte> message);

  Result<> set(const char* key, long value);
  Result<> set(const char* key, int value) { return set(key, static_cast<long>(value)); }
  Result<> set(const char* key, double value);
  Result<> set(const char* key, const std::string& text);
  Result<> set(const char* key, std::span<const double> values);
  Result<> set(const char* key, std::span<const long> values);
  /// By the type of the value, which must be one number or a text.
  Result<> set(const std::string& key, const Values& value);
  Result<> set_missing(const char* key);
  [[nodiscard]] Result<long> number(const char* key) const;
  [[nodiscard]] Result<double> real(const char* key) const;
  [[nodiscard]] Result<std::string> text(const char* key) const;
  /// Decodes all values, missing ones as the key missingValue; `to` has their number.
  [[nodiscard]] Result<> read_values(std::span<double> to) const;
  /// Valid until the handle is changed or destroyed.
  [[nodiscard]] Result<std::span<const std::byte>> message() const;

 private:
  struct Delete {
    void operator()(codes_handle* handle) const noexcept { codes_handle_delete(handle); }
  };
  explicit Handle(codes_handle* handle) : handle_(handle) {}
  std::unique_ptr<codes_handle, Delete> handle_;
};

}  // namespace afterbay::storage::grib2
