// SPDX-License-Identifier: Apache-2.0
#include "decomp/formats.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/regular_file.hpp"
#include "decomp/e3sm_file.hpp"
#include "decomp/map_file.hpp"
#include "decomp/part_file.hpp"
#include "decomp/pio_text.hpp"
#include "model/format.hpp"

namespace afterbay::decomp {
namespace {

constexpr std::array formats{MapFormat::pio, MapFormat::e3sm, MapFormat::afterbay};

class PioMapsReader : public MapsReader {
 public:
  explicit PioMapsReader(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] MapFormat format() const override { return MapFormat::pio; }
  [[nodiscard]] std::size_t maps() const override { return 1; }
  Result<std::string> name(std::size_t) const override {
    return std::filesystem::path(path_).stem().string();
  }
  Result<Decomposition> read(std::size_t) const override { return read_pio_text(path_); }

 private:
  std::string path_;
};

class E3smMapsReader : public MapsReader {
 public:
  explicit E3smMapsReader(E3smReader reader) : reader_(std::move(reader)) {}
  [[nodiscard]] MapFormat format() const override { return MapFormat::e3sm; }
  [[nodiscard]] std::size_t maps() const override { return reader_.maps(); }
  Result<std::string> name(std::size_t index) const override { return fmt::format("D{}", index + 1); }
  Result<Decomposition> read(std::size_t index) const override { return reader_.read(index); }

 private:
  E3smReader reader_;
};

class AfterbayMapsReader : public MapsReader {
 public:
  explicit AfterbayMapsReader(MapFileReader reader) : reader_(std::move(reader)) {}
  [[nodiscard]] MapFormat format() const override { return MapFormat::afterbay; }
  [[nodiscard]] std::size_t maps() const override { return reader_.maps(); }
  Result<std::string> name(std::size_t index) const override { return reader_.name(index); }
  Result<Decomposition> read(std::size_t index) const override { return reader_.read(index); }

 private:
  MapFileReader reader_;
};

/// Replaces the name of the part file in an error by that of the final file.
Result<> named_finally(Result<> result, const PartFile& part) {
  if (!result && (result.error().file.empty() || result.error().file == part.name()))
    result.error().file = part.path();
  return result;
}

class PioMapsWriter : public MapsWriter {
 public:
  explicit PioMapsWriter(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  Result<> add(const Decomposition& map) override {
    AFTERBAY_TRY_ASSIGN(auto part, PartFile::create(paths_.at(parts_.size())));
    parts_.push_back(std::move(part));
    return named_finally(write_pio_text(parts_.back()->name(), map), *parts_.back());
  }
  Result<std::vector<std::string>> finish() override {
    for (const auto& part : parts_) AFTERBAY_TRY(part->publish());
    return paths_;
  }

 private:
  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<PartFile>> parts_;
};

class E3smMapsWriter : public MapsWriter {
 public:
  explicit E3smMapsWriter(OutputRequest request) : request_(std::move(request)) {}

  Result<> add(const Decomposition& map) override {
    if (!part_) {
      AFTERBAY_TRY_ASSIGN(part_, PartFile::create(request_.path));
      auto writer = E3smWriter::create(part_->name(), request_.maps, map.ranks(), request_.command_line);
      if (!writer) return named_finally(fail(writer.error()), *part_);
      writer_.emplace(*std::move(writer));
    }
    return named_finally(writer_->add(map), *part_);
  }
  Result<std::vector<std::string>> finish() override {
    AFTERBAY_TRY(named_finally(writer_->close(), *part_));
    AFTERBAY_TRY(part_->publish());
    return std::vector{part_->path()};
  }

 private:
  OutputRequest request_;
  std::unique_ptr<PartFile> part_;
  std::optional<E3smWriter> writer_;
};

class AfterbayMapsWriter : public MapsWriter {
 public:
  AfterbayMapsWriter(std::string path, MapFileWriter writer)
      : path_(std::move(path)), writer_(std::move(writer)) {}

  Result<> add(const Decomposition& map) override { return writer_.add(map); }
  Result<std::vector<std::string>> finish() override {
    AFTERBAY_TRY_ASSIGN(const auto part, PartFile::create(path_));
    AFTERBAY_TRY(writer_.close_into(*part));
    AFTERBAY_TRY(part->publish());
    return std::vector{path_};
  }

 private:
  std::string path_;
  MapFileWriter writer_;
};

/// The first bytes of a file.
Result<std::string> beginning(const std::string& path) {
  const RegularFile file(path);
  if (file.number() == ENODEV)
    return fail(make_error(ErrorCode::invalid_argument,
                           "is a device, pipe or socket, and is read more than once: save it as a file first")
                    .in_file(path));
  std::array<char, 16> letters{};
  const ssize_t many = file.open() ? ::pread(file.descriptor(), letters.data(), letters.size(), 0) : -1;
  const int number = file.open() ? errno : file.number();
  if (many < 0)
    return fail(make_error(ErrorCode::io, "cannot be read: {}", std::strerror(number))
                    .in_file(path)
                    .with_native(number));
  return std::string(letters.data(), static_cast<std::size_t>(many));
}

bool begins_like_netcdf(std::string_view first) {
  return std::ranges::any_of(all_formats(), [first](afterbay::Format format) {
    const std::string_view magic = traits_of(format).magic;
    return !magic.empty() && first.starts_with(magic);
  });
}

}  // namespace

const char* name_of(MapFormat format) noexcept {
  switch (format) {
    case MapFormat::pio: return "pio";
    case MapFormat::e3sm: return "e3sm";
    case MapFormat::afterbay: return "afterbay";
  }
  return "unknown";
}

std::optional<MapFormat> format_of_name(const std::string& name) {
  const auto found =
      std::find_if(formats.begin(), formats.end(), [&](MapFormat f) { return name == name_of(f); });
  return found == formats.end() ? std::nullopt : std::optional(*found);
}

std::optional<MapFormat> format_of_path(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".dat" || ending == ".txt") return MapFormat::pio;
  if (ending == ".nc" || ending == ".nc4") return MapFormat::afterbay;
  return std::nullopt;
}

Result<std::unique_ptr<MapsReader>> MapsReader::open(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(const std::string first, beginning(path));
  if (!begins_like_netcdf(first)) return std::make_unique<PioMapsReader>(path);
  AFTERBAY_TRY_ASSIGN(NetcdfFile file, NetcdfFile::open(path));
  if (is_map_file(file)) {
    AFTERBAY_TRY_ASSIGN(MapFileReader reader, MapFileReader::open(std::move(file)));
    return std::make_unique<AfterbayMapsReader>(std::move(reader));
  }
  AFTERBAY_TRY_ASSIGN(const bool e3sm, is_e3sm_file(file));
  if (!e3sm)
    return malformed(file, "",
                     "is a netCDF file with neither the attribute format = \"afterbay decomposition\" nor "
                     "the dimensions of E3SM-IO's combined file (num_decomp, or num_procs in files of 2018)");
  AFTERBAY_TRY_ASSIGN(E3smReader reader, E3smReader::open(std::move(file)));
  return std::make_unique<E3smMapsReader>(std::move(reader));
}

std::vector<std::string> output_paths(const OutputRequest& request) {
  if (request.format != MapFormat::pio || request.maps == 1) return {request.path};
  const std::filesystem::path path(request.path);
  std::vector<std::string> paths;
  for (std::size_t i = 1; i <= request.maps; ++i) {
    const std::string name = fmt::format("{}.{}{}", path.stem().string(), i, path.extension().string());
    paths.push_back((path.parent_path() / name).string());
  }
  return paths;
}

Result<std::unique_ptr<MapsWriter>> MapsWriter::create(const OutputRequest& request) {
  for (const std::string& path : output_paths(request)) AFTERBAY_TRY(check_place(path));
  if (request.format == MapFormat::pio) return std::make_unique<PioMapsWriter>(output_paths(request));
  if (request.format == MapFormat::e3sm) return std::make_unique<E3smMapsWriter>(request);
  AFTERBAY_TRY_ASSIGN(MapFileWriter writer, MapFileWriter::create(request.path, request.maps));
  return std::make_unique<AfterbayMapsWriter>(request.path, std::move(writer));
}

}  // namespace afterbay::decomp
