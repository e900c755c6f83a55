// SPDX-License-Identifier: Apache-2.0
#include "storage/grib2/message_index.hpp"

#ifdef AFTERBAY_HAS_ECCODES
#include <eccodes.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#endif

namespace afterbay::storage::grib2 {

#ifdef AFTERBAY_HAS_ECCODES
namespace {

struct Close {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
struct Delete {
  void operator()(codes_handle* handle) const noexcept { codes_handle_delete(handle); }
  void operator()(codes_keys_iterator* keys) const noexcept { codes_keys_iterator_delete(keys); }
};

std::string text_of(codes_handle& message, const char* key) {
  std::array<char, 256> text{};
  std::size_t size = text.size();
  if (codes_get_string(&message, key, text.data(), &size) != CODES_SUCCESS) return {};
  return text.data();
}

IndexedMessage indexed(codes_handle& message) {
  IndexedMessage made;
  off_t offset = 0;
  codes_get_message_offset(&message, &offset);
  const void* bytes = nullptr;
  codes_get_message(&message, &bytes, &made.size_bytes);
  made.offset_bytes = static_cast<std::uint64_t>(offset);
  const std::unique_ptr<codes_keys_iterator, Delete> keys(codes_keys_iterator_new(&message, 0, "mars"));
  while (keys && codes_keys_iterator_next(keys.get()) == 1) {
    const std::string key = codes_keys_iterator_get_name(keys.get());
    std::string value = text_of(message, key.c_str());
    if (key == "param")
      if (std::string name = text_of(message, "shortName"); !name.empty() && name != "unknown")
        value = std::move(name);
    if (!value.empty()) made.keys.emplace_back(key, std::move(value));
  }
  return made;
}

}  // namespace

Result<> index_messages(const std::string& path, const std::function<void(const IndexedMessage&)>& add) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "re"));
  if (!file)
    return fail(make_error(ErrorCode::io, "cannot open {}: {}", path, std::generic_category().message(errno))
                    .in_file(path));
  std::uint64_t messages = 0;
  std::uint64_t end = 0;
  while (true) {
    int status = CODES_SUCCESS;
    const std::unique_ptr<codes_handle, Delete> message(
        codes_handle_new_from_file(nullptr, file.get(), PRODUCT_GRIB, &status));
    if (status != CODES_SUCCESS || std::ferror(file.get()) != 0)
      return fail(
          make_error(ErrorCode::format,
                     "{}: there is no complete GRIB message after the {} before byte {}: ecCodes says "
                     "\"{}\". The file is damaged, or still being written",
                     path, messages, end, codes_get_error_message(status))
              .in_file(path));
    if (!message) break;
    const IndexedMessage made = indexed(*message);
    end = made.offset_bytes + made.size_bytes;
    ++messages;
    add(made);
  }
  if (messages == 0) return fail(make_error(ErrorCode::format, "{} has no GRIB message", path).in_file(path));
  return {};
}
#else
Result<> index_messages(const std::string&, const std::function<void(const IndexedMessage&)>&) {
  return fail(ErrorCode::invalid_argument,
              "this build of Afterbay has no ecCodes, which reads GRIB: install it (Debian's package "
              "libeccodes-dev) and build again");
}
#endif

}  // namespace afterbay::storage::grib2
