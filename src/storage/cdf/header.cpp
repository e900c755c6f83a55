// SPDX-License-Identifier: Apache-2.0
#include "storage/cdf/header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <limits>
#include <optional>

#include "base/regular_file.hpp"
#include "model/largest_error.hpp"

namespace afterbay::storage {
namespace {

constexpr std::uint32_t tag_dimension = 10;
constexpr std::uint32_t tag_variable = 11;
constexpr std::uint32_t tag_attribute = 12;

constexpr std::uint64_t too_many = std::numeric_limits<std::uint64_t>::max();

// Sums of numbers from a file that may be damaged: sums beyond 64 bits become `too_many`.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? too_many : result;
}
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? too_many : result;
}
std::uint64_t padded(std::uint64_t bytes) { return bytes > too_many - 3 ? too_many : (bytes + 3) / 4 * 4; }

/// NC_MAX_NAME and NC_MAX_VAR_DIMS of netCDF-C.
constexpr std::uint64_t most_name_bytes = 256;
constexpr std::uint64_t most_variable_dimensions = 1024;

/// Bytes per element of a type, by its number in the file; 0 for unknown types.
std::uint64_t element_bytes(std::uint32_t type) {
  constexpr std::uint64_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return type < std::size(sizes) ? sizes[type] : 0;
}

/// Reads big-endian items sequentially. After an error all reads return 0 and the error is kept.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t size_bytes) {
    if (!has(size_bytes)) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size_bytes; ++i)
      value = value << 8 | std::to_integer<std::uint64_t>(bytes_[at_++]);
    return value;
  }
  std::uint32_t tag() { return static_cast<std::uint32_t>(number(4)); }
  /// A count: 4 bytes in CDF-2, 8 in CDF-5.
  std::uint64_t count() { return number(wide_ ? 8 : 4); }
  std::string name() {
    const std::uint64_t length = count();
    if (!has(length) || !has(padded(length))) return {};
    // Otherwise zeros would be read as an endless list of items.
    if (length == 0) damaged("an empty name");
    // netCDF-C copies names of any length into buffers of this size.
    if (length > most_name_bytes) damaged(fmt::format("a name of {} bytes", length));
    std::string text(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += padded(length);
    return text;
  }
  void skip(std::uint64_t size_bytes) {
    if (has(size_bytes)) at_ += size_bytes;
  }
  [[nodiscard]] std::uint64_t position() const { return at_; }
  void wide(bool is_wide) { wide_ = is_wide; }
  void damaged(std::string what) {
    if (!problem_)
      problem_ = make_error(ErrorCode::format, "damaged header of a classic netCDF file: {}", what);
  }
  [[nodiscard]] bool good() const { return !problem_; }
  [[nodiscard]] Error problem() const { return *problem_; }

 private:
  bool has(std::uint64_t size_bytes) {
    if (!problem_ && size_bytes > bytes_.size() - at_)
      problem_ = make_error(ErrorCode::would_block, "the header is longer than {} bytes", bytes_.size());
    return !problem_;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool wide_ = false;
  std::optional<Error> problem_;
};

/// The number of items in a list; absent lists have tag 0 and count 0.
std::uint64_t list(Cursor& cursor, std::uint32_t expected) {
  const std::uint32_t tag = cursor.tag();
  const std::uint64_t count = cursor.count();
  if (tag != expected && (tag != 0 || count != 0))
    cursor.damaged(fmt::format("list tag {} instead of {}", tag, expected));
  return count;
}

/// Returns the offset of the number in the attribute for the largest error; 0: there is none.
std::uint64_t skip_attributes(Cursor& cursor) {
  constexpr std::uint32_t type_double = 6;
  std::uint64_t largest_error_at = 0;
  const std::uint64_t count = list(cursor, tag_attribute);
  for (std::uint64_t i = 0; i < count && cursor.good(); ++i) {
    const std::string name = cursor.name();
    const std::uint32_t type = cursor.tag();
    const std::uint64_t size = element_bytes(type);
    const std::uint64_t elements = cursor.count();
    if (name == model::largest_error_attribute && type == type_double && elements == 1)
      largest_error_at = cursor.position();
    if (size == 0)
      cursor.damaged("an attribute of unknown type");
    else if (product(elements, size) == too_many)
      cursor.damaged("an attribute of impossible size");
    else
      cursor.skip(padded(elements * size));
  }
  return largest_error_at;
}

CdfVariable read_variable(Cursor& cursor, const std::vector<std::uint64_t>& lengths, int version) {
  CdfVariable variable;
  variable.name = cursor.name();
  const std::uint64_t rank = cursor.count();
  if (rank > most_variable_dimensions)
    cursor.damaged(fmt::format("variable '{}' has {} dimensions", variable.name, rank));
  std::uint64_t points = 1;
  for (std::uint64_t d = 0; d < rank && cursor.good(); ++d) {
    const std::uint64_t dimension = cursor.count();
    if (dimension >= lengths.size())
      cursor.damaged("variable '" + variable.name + "' uses a dimension that does not exist");
    else if (lengths[dimension] == 0)
      variable.record = true;
    else if (__builtin_mul_overflow(points, lengths[dimension], &points))
      cursor.damaged("variable '" + variable.name + "' has more than 2^64 points");
  }
  variable.largest_error_at = skip_attributes(cursor);
  const std::uint64_t element = element_bytes(cursor.tag());
  if (element == 0) cursor.damaged("variable '" + variable.name + "' is of unknown type");
  variable.slab_bytes = product(points, element);
  if (variable.slab_bytes == too_many)
    cursor.damaged("variable '" + variable.name + "' has more than 2^64 bytes");
  cursor.count();  // vsize: redundant, and too small for large variables
  variable.begin = cursor.number(version == 1 ? 4 : 8);
  return variable;
}

}  // namespace

const CdfVariable* CdfHeader::find(std::string_view name) const noexcept {
  for (const CdfVariable& variable : variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

std::uint64_t CdfHeader::first_byte_of_data() const noexcept {
  std::uint64_t first = too_many;
  for (const CdfVariable& variable : variables) first = std::min(first, variable.begin);
  return variables.empty() ? 0 : first;
}

std::uint64_t CdfHeader::file_bytes(std::uint64_t record_count, std::uint64_t header_bytes) const noexcept {
  std::uint64_t end = header_bytes;
  std::uint64_t first_record = too_many;
  for (const CdfVariable& variable : variables) {
    if (variable.record)
      first_record = std::min(first_record, variable.begin);
    else
      end = std::max(end, sum(variable.begin, padded(variable.slab_bytes)));
  }
  if (record_bytes != 0) end = std::max(end, sum(first_record, product(record_count, record_bytes)));
  return end;
}

std::uint64_t CdfHeader::end_of_values() const noexcept {
  std::uint64_t end = 0;
  for (const CdfVariable& variable : variables) {
    if (variable.record && records == 0) continue;
    const std::uint64_t before = variable.record ? product(records - 1, record_bytes) : 0;
    end = std::max(end, sum(sum(variable.begin, before), variable.slab_bytes));
  }
  return end;
}

Result<CdfHeader> parse_cdf_header(std::span<const std::byte> bytes) {
  Cursor cursor(bytes);
  CdfHeader header;
  const std::uint64_t magic = cursor.number(4);
  header.version = static_cast<int>(magic & 0xff);
  if (!cursor.good()) return fail(cursor.problem());
  if (magic >> 8 != 0x434446 || (header.version != 1 && header.version != 2 && header.version != 5))
    return fail(ErrorCode::format, "not a classic netCDF file: it begins with {:#010x}", magic);
  cursor.wide(header.version == 5);
  header.records = cursor.count();
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t left = list(cursor, tag_dimension); left > 0 && cursor.good(); --left) {
    cursor.name();
    lengths.push_back(cursor.count());
  }
  skip_attributes(cursor);
  for (std::uint64_t left = list(cursor, tag_variable); left > 0 && cursor.good(); --left)
    header.variables.push_back(read_variable(cursor, lengths, header.version));
  if (!cursor.good()) return fail(cursor.problem());
  std::size_t record_variables = 0;
  std::uint64_t unpadded = 0;
  for (const CdfVariable& variable : header.variables)
    if (variable.record) {
      ++record_variables;
      unpadded = variable.slab_bytes;
      header.record_bytes = sum(header.record_bytes, padded(variable.slab_bytes));
    }
  // A single record variable is not padded.
  if (record_variables == 1) header.record_bytes = unpadded;
  return header;
}

Result<CdfHeader> read_cdf_header(BlockWriter& file) {
  constexpr std::uint64_t first_bytes = 64u << 10;
  constexpr std::uint64_t most_bytes = 256u << 20;
  AFTERBAY_TRY_ASSIGN(const std::uint64_t file_bytes, file.size_bytes());
  for (std::uint64_t size_bytes = first_bytes;; size_bytes *= 4) {
    std::vector<std::byte> bytes(std::min(size_bytes, file_bytes));
    AFTERBAY_TRY(file.read(0, bytes));
    auto header = parse_cdf_header(bytes);
    if (header || header.error().code != ErrorCode::would_block) return header;
    if (bytes.size() == file_bytes)
      return fail(ErrorCode::format, "the file ends inside its header ({} bytes): it is damaged", file_bytes);
    if (size_bytes >= most_bytes)
      return fail(ErrorCode::format, "its header would have more than {} bytes: it is damaged", size_bytes);
  }
}

Result<std::optional<CdfHeader>> check_cdf_header(const std::string& path) {
  const auto disk = Disk::real();
  const RegularFile file(path);
  // The libraries would wait for the writer of a pipe.
  if (file.number() == ENODEV || file.number() == EISDIR)
    return fail(make_error(ErrorCode::io, "cannot read {}: {}", path, file.problem())
                    .with_native(file.number())
                    .in_file(path));
  std::array<std::byte, 3> magic{};
  if (!file.open() || disk->read(file.descriptor(), magic.data(), magic.size(), 0) != std::ssize(magic) ||
      std::string_view(reinterpret_cast<const char*>(magic.data()), magic.size()) != "CDF")
    return std::nullopt;
  AFTERBAY_TRY_ASSIGN(const auto bytes, BlockWriter::open(file.descriptor(), path, DirectIo::off, disk));
  auto header = read_cdf_header(*bytes);
  if (!header) return fail(std::move(header).error().in_file(path));
  return *std::move(header);
}

std::vector<std::byte> encode_number(double value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  std::vector<std::byte> bytes(sizeof bits);
  for (std::size_t i = bytes.size(); i-- > 0; bits >>= 8) bytes[i] = static_cast<std::byte>(bits & 0xff);
  return bytes;
}

double decode_number(std::span<const std::byte> bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof bits; ++i) bits = bits << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return std::bit_cast<double>(bits);
}

std::vector<std::byte> encode_record_count(int version, std::uint64_t records) {
  std::vector<std::byte> bytes(version == 5 ? 8 : 4);
  for (std::size_t i = bytes.size(); i-- > 0; records >>= 8)
    bytes[i] = static_cast<std::byte>(records & 0xff);
  return bytes;
}

}  // namespace afterbay::storage
