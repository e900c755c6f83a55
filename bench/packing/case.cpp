// SPDX-License-Identifier: Apache-2.0
#include "packing/case.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "common/timing.hpp"

namespace bench::packing {
namespace {

constexpr std::size_t least_passes = 3, most_passes = 200;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double copy_all(const Data& data, Pages<float>& buffer) {
  const double start = now_s();
  for (std::size_t copy = 0; copy < data.copies; ++copy) {
    std::memcpy(buffer.data(), data.chunk(copy).data(), data.chunk_bytes());
    asm volatile("" : : "r"(buffer.data()) : "memory");  // the copy is used
  }
  return now_s() - start;
}

/// The largest error over all points that are not missing. Throws if missing points differ.
double largest_error(const Data& data, std::span<const float> unpacked) {
  double largest = 0;
  for (std::size_t i = 0; i < unpacked.size(); ++i) {
    const float before = data.values[i];
    if (before == data.missing) {
      if (unpacked[i] != before)
        throw std::runtime_error("point " + std::to_string(i) + " is missing, but was unpacked to " +
                                 std::to_string(unpacked[i]));
      continue;
    }
    const double error = std::abs(static_cast<double>(unpacked[i]) - static_cast<double>(before));
    if (!(error <= largest)) largest = error;  // also if it is NaN
  }
  return largest;
}

}  // namespace

void DataOptions::add_to(CLI::App& app) {
  app.add_option("--data", file, "values, float32")->required()->check(CLI::ExistingFile);
  app.add_option("--levels", shape.levels)->check(CLI::PositiveNumber);
  app.add_option("--rows", shape.rows)->check(CLI::PositiveNumber)->required();
  app.add_option("--columns", shape.columns)->check(CLI::PositiveNumber)->required();
  app.add_option("--copies", shape.copies, "of the values in memory")->check(CLI::PositiveNumber);
  app.add_option("--missing", shape.missing, "value of missing points");
}

Data DataOptions::load() const {
  Data data = shape;
  data.values.resize(data.copies * data.chunk_values());
  std::ifstream input(file, std::ios::binary);
  input.read(reinterpret_cast<char*>(data.values.data()), static_cast<std::streamsize>(data.chunk_bytes()));
  if (static_cast<std::size_t>(input.gcount()) != data.chunk_bytes())
    throw std::runtime_error(file + " has " + std::to_string(input.gcount()) + " bytes, but " +
                             std::to_string(data.chunk_bytes()) + " are expected");
  for (std::size_t copy = 1; copy < data.copies; ++copy)
    std::copy_n(data.values.data(), data.chunk_values(), data.values.data() + copy * data.chunk_values());
  return data;
}

Packed ChunkPacker::pack(const Data& data) {
  Packed result;
  const double start = now_s();
  for (std::size_t copy = 0; copy < data.copies; ++copy) result.bytes += pack_chunk(data.chunk(copy));
  result.seconds = now_s() - start;
  return result;
}

double ChunkPacker::unpack(const Data& data, std::span<float> to) {
  const double start = now_s();
  for (std::size_t copy = 0; copy < data.copies; ++copy)
    unpack_chunk(to.subspan(copy * data.chunk_values(), data.chunk_values()));
  return now_s() - start;
}

void measure(const Data& data, double seconds, Packer& packer, Packer* other, nlohmann::json about) {
  Pages<float> unpacked(data.values.size()), buffer(data.chunk_values());
  const std::size_t packed_bytes = packer.pack(data).bytes;
  packer.unpack(data, unpacked);
  about["largest_error"] = largest_error(data, unpacked);
  if (other != nullptr) other->pack(data);
  copy_all(data, buffer);

  std::vector<double> ends, copies, others, unpacks, of_copy, of_other;
  const double start = now_s();
  while (ends.size() < most_passes && (ends.size() < least_passes || now_s() - start < seconds)) {
    copies.push_back(copy_all(data, buffer));
    ends.push_back(packer.pack(data).seconds);
    of_copy.push_back(copies.back() / ends.back());
    if (other != nullptr) {
      others.push_back(other->pack(data).seconds);
      of_other.push_back(ends.back() / others.back());
    }
    if (ends.size() <= least_passes) unpacks.push_back(packer.unpack(data, unpacked));
    if (seconds > 0 && now_s() - start > 2 * seconds) break;  // a slow codec
  }
  about["end_s"] = median(ends);
  about["copy_s"] = median(copies);
  about["of_copy"] = median(of_copy);
  about["unpack_s"] = median(unpacks);
  if (other != nullptr) {
    about["other_s"] = median(others);
    about["of_other"] = median(of_other);
  }
  about["bytes"] = data.bytes();
  about["packed_bytes"] = packed_bytes;
  about["passes"] = ends.size();
  std::printf("BENCH %s\n", about.dump().c_str());
}

int run_program(int argc, char** argv, const Program& program) {
  DataOptions options;
  double seconds = 0.5;
  std::string directory;
  CLI::App app("packs data in one thread: " + program.name);
  options.add_to(app);
  app.add_option("--seconds", seconds, "of measuring, about");
  app.add_option("--dir", directory, "directory for files: there are none");
  program.add(app);
  CLI11_PARSE(app, argc, argv);
  try {
    const Data data = options.load();
    std::unique_ptr<Packer> other;
    const std::unique_ptr<Packer> packer = program.make(data, other);
    measure(data, seconds, *packer, other.get(), {{"program", program.name}});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), error.what());
    return 1;
  }
  return 0;
}

std::vector<std::byte> shuffled(std::span<const float> values) {
  std::vector<std::byte> result(values.size_bytes());
  const auto* const from = reinterpret_cast<const std::byte*>(values.data());
  for (std::size_t byte = 0; byte < sizeof(float); ++byte)
    for (std::size_t i = 0; i < values.size(); ++i)
      result[byte * values.size() + i] = from[i * sizeof(float) + byte];
  return result;
}

}  // namespace bench::packing
