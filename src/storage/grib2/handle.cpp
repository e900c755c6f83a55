// SPDX-License-Identifier: Apache-2.0
#ifdef AFTERBAY_HAS_ECCODES
#include "storage/grib2/handle.hpp"

#include <array>

#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

Error eccodes_error(int status, const std::string& what) {
  return make_error(ErrorCode::invalid_argument, "{}: ecCodes says \"{}\"", what,
                    codes_get_error_message(status))
      .with_native(status);
}

Result<> check(int status, const char* key, const std::string& value) {
  if (status == CODES_SUCCESS) return {};
  return fail(eccodes_error(status, fmt::format("the key '{}' cannot be {}", key, value)));
}

}  // namespace

Result<Handle> Handle::sample() {
  if (codes_handle* const handle = codes_grib_handle_new_from_samples(nullptr, "GRIB2"))
    return Handle(handle);
  return fail(ErrorCode::resources,
              "ecCodes does not find its samples of GRIB messages: install its data files (Debian's package "
              "libeccodes-data), or let ECCODES_SAMPLES_PATH and ECCODES_DEFINITION_PATH name them");
}

Result<Handle> Handle::copy_of(std::span<const std::byte> message) {
  if (codes_handle* const handle =
          codes_handle_new_from_message_copy(nullptr, message.data(), message.size()))
    return Handle(handle);
  return fail(ErrorCode::internal, "ecCodes does not read a GRIB message that it has made");
}

Result<Handle> Handle::in(std::span<std::byte> message) {
  if (codes_handle* const handle = codes_handle_new_from_message(nullptr, message.data(), message.size()))
    return Handle(handle);
  return fail(ErrorCode::internal, "ecCodes does not read a GRIB message that it has made");
}

Result<> Handle::set(const char* key, long value) {
  return check(codes_set_long(handle_.get(), key, value), key, std::to_string(value));
}

Result<> Handle::set(const char* key, double value) {
  return check(codes_set_double(handle_.get(), key, value), key, fmt::format("{}", value));
}

Result<> Handle::set(const char* key, const std::string& text) {
  std::size_t length = text.size();
  return check(codes_set_string(handle_.get(), key, text.c_str(), &length), key, "'" + text + "'");
}

Result<> Handle::set(const char* key, std::span<const double> values) {
  return check(codes_set_double_array(handle_.get(), key, values.data(), values.size()), key,
               fmt::format("an array of {} numbers", values.size()));
}

Result<> Handle::set(const char* key, std::span<const long> values) {
  return check(codes_set_long_array(handle_.get(), key, values.data(), values.size()), key,
               fmt::format("an array of {} numbers", values.size()));
}

Result<> Handle::set(const std::string& key, const Values& value) {
  if (value.type == Type::text) return set(key.c_str(), std::string(value.text()));
  const std::vector<double> numbers = cf::numbers_of(value);
  if (numbers.size() != 1)
    return fail(ErrorCode::invalid_argument,
                "the attribute GRIB_{} has {} values: it must be one number or a text", key, value.count());
  if (value.type == Type::float32 || value.type == Type::float64) return set(key.c_str(), numbers[0]);
  return set(key.c_str(), static_cast<long>(numbers[0]));
}

Result<> Handle::set_missing(const char* key) {
  return check(codes_set_missing(handle_.get(), key), key, "missing");
}

Result<long> Handle::number(const char* key) const {
  long value = 0;
  if (const int status = codes_get_long(handle_.get(), key, &value); status != CODES_SUCCESS)
    return fail(eccodes_error(status, fmt::format("the key '{}' cannot be read", key)));
  return value;
}

Result<double> Handle::real(const char* key) const {
  double value = 0;
  if (const int status = codes_get_double(handle_.get(), key, &value); status != CODES_SUCCESS)
    return fail(eccodes_error(status, fmt::format("the key '{}' cannot be read", key)));
  return value;
}

Result<std::string> Handle::text(const char* key) const {
  std::array<char, 256> text{};
  std::size_t length = text.size();
  if (const int status = codes_get_string(handle_.get(), key, text.data(), &length); status != CODES_SUCCESS)
    return fail(eccodes_error(status, fmt::format("the key '{}' cannot be read", key)));
  return std::string(text.data());
}

Result<> Handle::read_values(std::span<double> to) const {
  std::size_t count = to.size();
  const int status = codes_get_double_array(handle_.get(), "values", to.data(), &count);
  if (status != CODES_SUCCESS) return fail(eccodes_error(status, "the values cannot be decoded"));
  if (count == to.size()) return {};
  return fail(ErrorCode::internal, "a message of {} points is decoded as {} values", to.size(), count);
}

Result<std::span<const std::byte>> Handle::message() const {
  const void* bytes = nullptr;
  std::size_t size = 0;
  if (const int status = codes_get_message(handle_.get(), &bytes, &size); status != CODES_SUCCESS)
    return fail(eccodes_error(status, "a message cannot be finished"));
  return std::span(static_cast<const std::byte*>(bytes), size);
}

}  // namespace afterbay::storage::grib2
#endif
