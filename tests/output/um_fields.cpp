// SPDX-License-Identifier: Apache-2.0
// Writes and reads PP files for um_readers_test.py, by the functions of src/packing:
//
//   um_fields encode VALUES FILE KEY=VALUE...   appends a field; VALUES: float32 or float64
//   um_fields repack FILE NEW-FILE PACKING ACCURACY   reads every field and writes it anew
//   um_fields unpack FILE VALUES   writes all values as float32; missing ones are -1e30
//   um_fields codes   prints the table of names and STASH codes
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "packing/pp_describe.hpp"
#include "packing/pp_record.hpp"

namespace {

using namespace afterbay;
using namespace afterbay::packing;
using Keys = std::map<std::string, std::string>;

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

template <class T>
T value_of(Result<T> result) {
  if (!result) stop(result.error().text());
  return *std::move(result);
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

void append(const std::string& path, const void* bytes, std::size_t count) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  if (!file.flush()) stop("cannot write " + path);
}

template <class T>
std::vector<T> values_of(const std::string& path) {
  const std::vector<std::byte> bytes = bytes_of(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

std::string text(const Keys& keys, const char* name, const char* otherwise = "") {
  const auto found = keys.find(name);
  return found == keys.end() ? otherwise : found->second;
}

double number(const Keys& keys, const char* name, double otherwise = 0) {
  const std::string given = text(keys, name);
  return given.empty() ? otherwise : std::stod(given);
}

/// Numbers with blanks between them, or FIRST:STEP:COUNT.
std::vector<double> numbers(const Keys& keys, const char* name) {
  std::istringstream stream(text(keys, name));
  double first = 0;
  double step = 0;
  std::size_t count = 0;
  char colons[2] = {};
  if (stream >> first >> colons[0] >> step >> colons[1] >> count && colons[0] == ':') {
    std::vector<double> points;
    for (std::size_t i = 0; i < count; ++i) points.push_back(first + static_cast<double>(i) * step);
    return points;
  }
  stream = std::istringstream(text(keys, name));
  return {std::istream_iterator<double>(stream), {}};
}

std::optional<PpInterval> interval(const Keys& keys, const char* name) {
  const std::vector<double> both = numbers(keys, name);
  if (both.empty()) return std::nullopt;
  return PpInterval{both.at(0), both.at(1)};
}

std::optional<Date> date(const Calendar& calendar, const Keys& keys, const char* name) {
  const std::string given = text(keys, name);
  if (given.empty()) return std::nullopt;
  return calendar.parse(given);
}

PpLevel level_of(const Keys& keys) {
  static const std::map<std::string, PpLevelKind> kinds{{"surface", PpLevelKind::surface},
                                                        {"mean_sea_level", PpLevelKind::mean_sea_level},
                                                        {"hybrid_height", PpLevelKind::hybrid_height},
                                                        {"hybrid_pressure", PpLevelKind::hybrid_pressure},
                                                        {"soil", PpLevelKind::soil}};
  const auto found = kinds.find(text(keys, "level", "surface"));
  PpLevel level;
  if (found == kinds.end()) {
    level = value_of(level_of_cf(text(keys, "level"), text(keys, "level_units"), number(keys, "level_value"),
                                 interval(keys, "level_bounds")));
  } else {
    level.kind = found->second;
    level.value = number(keys, "level_value");
    level.bounds = interval(keys, "level_bounds");
    level.coefficient = number(keys, "coefficient");
    level.coefficient_bounds = interval(keys, "coefficient_bounds");
  }
  level.number = static_cast<int>(number(keys, "level_number"));
  return level;
}

PpDescription description_of(const Keys& keys) {
  PpDescription description;
  description.variable = text(keys, "variable", "field");
  description.standard_name = text(keys, "name");
  description.units = text(keys, "units");
  description.cell_methods = text(keys, "cell_methods");
  description.type = static_cast<PpType>(static_cast<int>(number(keys, "type", 1)));
  description.grid.latitudes = numbers(keys, "latitudes");
  description.grid.longitudes = numbers(keys, "longitudes");
  description.grid.pole_latitude = number(keys, "pole_latitude", 90);
  description.grid.pole_longitude = number(keys, "pole_longitude");
  description.level = level_of(keys);
  description.time.calendar = Calendar(text(keys, "calendar", "standard"));
  description.time.begin = *date(description.time.calendar, keys, "begin");
  description.time.end = date(description.time.calendar, keys, "end");
  description.time.reference = date(description.time.calendar, keys, "reference");
  if (keys.contains("stash")) description.stash = value_of(parse_stash(keys.at("stash")));
  if (keys.contains("field_code")) description.field_code = static_cast<int>(number(keys, "field_code"));
  description.ensemble_member = static_cast<int>(number(keys, "member"));
  return description;
}

template <class T>
void encode(const std::string& values_path, const std::string& path, const Keys& keys) {
  const PpDescribed described = value_of(describe_pp(description_of(keys)));
  const std::vector<T> values = values_of<T>(values_path);
  const std::vector<std::uint8_t> mask = values_of<std::uint8_t>(text(keys, "mask"));
  const PpEncoding encoding{.packing = static_cast<PpPacking>(static_cast<int>(number(keys, "packing"))),
                            .accuracy = static_cast<int>(number(keys, "accuracy")),
                            .missing = number(keys, "missing", um_missing),
                            .verify = true,
                            .land_mask = mask,
                            .drops_others = true};
  const FieldShape shape{static_cast<std::size_t>(described.header[PpInteger::lbrow]),
                         static_cast<std::size_t>(described.header[PpInteger::lbnpt])};
  std::vector<std::byte> to(most_pp_bytes(shape, described.extra.size(), encoding.packing));
  const PpEncoded encoded =
      value_of(encode_pp(described.header, std::span<const T>(values), described.extra, encoding, to));
  append(path, to.data(), encoded.bytes);
  std::printf("%zu %.17g\n", encoded.bytes, encoded.largest_error);
}

template <class Use>
void each_field(const std::string& path, Use use) {
  const std::vector<std::byte> file = bytes_of(path);
  for (std::size_t begin = 0; begin < file.size();) {
    const PpField field = value_of(read_pp(file, begin));
    std::vector<float> values(field.shape().rows * field.shape().columns);
    const auto decoded = decode_pp(field, values, -1e30);
    if (!decoded) stop(decoded.error().text());
    use(field, values);
    begin = field.end;
  }
}

void repack(const std::string& path, const std::string& new_path, int packing, int accuracy) {
  each_field(path, [&](const PpField& field, const std::vector<float>& values) {
    std::vector<std::uint32_t> extra;
    for (std::size_t at = 0; at < field.extra.size(); at += 4) {
      std::uint32_t word = 0;
      for (std::size_t i = 0; i < 4; ++i)
        word = word << 8 | std::to_integer<std::uint32_t>(field.extra[at + i]);
      extra.push_back(word);
    }
    const PpEncoding encoding{
        .packing = static_cast<PpPacking>(packing), .accuracy = accuracy, .missing = -1e30, .land_mask = {}};
    std::vector<std::byte> to(most_pp_bytes(field.shape(), extra.size(), encoding.packing));
    const PpEncoded encoded =
        value_of(encode_pp(field.header, std::span<const float>(values), extra, encoding, to));
    append(new_path, to.data(), encoded.bytes);
  });
}

void run(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words[0];
  if (command == "encode" && words.size() >= 3) {
    Keys keys;
    for (std::size_t i = 3; i < words.size(); ++i) {
      const std::size_t sign = words[i].find('=');
      keys[words[i].substr(0, sign)] = words[i].substr(sign + 1);
    }
    text(keys, "float") == "64" ? encode<double>(words[1], words[2], keys)
                                : encode<float>(words[1], words[2], keys);
  } else if (command == "repack" && words.size() == 5) {
    repack(words[1], words[2], std::stoi(words[3]), std::stoi(words[4]));
  } else if (command == "unpack" && words.size() == 3) {
    each_field(words[1], [&](const PpField&, const std::vector<float>& values) {
      append(words[2], values.data(), values.size() * sizeof(float));
    });
  } else if (command == "codes") {
    for (const PpCode& code : pp_codes())
      std::printf("%s;%s;m%02ds%02di%03d\n", std::string(code.standard_name).c_str(),
                  std::string(code.units).c_str(), code.stash.model, code.stash.section, code.stash.item);
  } else {
    stop("usage: um_fields encode|repack|unpack|codes ...");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "um_fields: %s\n", error.what());
    return 2;
  }
}
