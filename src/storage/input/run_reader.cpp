// SPDX-License-Identifier: Apache-2.0
#include "storage/input/run_reader.hpp"

#include <algorithm>

#include "model/layout.hpp"
#include "storage/stopwatch.hpp"

namespace afterbay::storage {
namespace {

/// Size of one read from the device; larger reads are no faster, and this amount fits into a
/// processor's caches.
constexpr std::uint64_t most_block_bytes = 4u << 20;
/// Reading across a gap of this size takes less time than another read from the device.
constexpr std::uint64_t most_gap_bytes = 64u << 10;
constexpr std::size_t most_runs = std::size_t{1} << 16;

}  // namespace

bool RunReader::joins(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  const std::uint64_t end = runs_.back().offset + runs_.back().bytes;
  return offset >= end && offset - end <= most_gap_bytes && runs_.size() < most_runs &&
         offset + bytes - runs_.front().offset <= most_block_bytes;
}

Result<> RunReader::add(std::uint64_t offset, std::byte* to, std::uint64_t bytes) {
  if (!runs_.empty() && !joins(offset, bytes)) AFTERBAY_TRY(finish());
  while (bytes > most_block_bytes) {  // later parts begin on page boundaries, as far as elements do
    const std::uint64_t page = (offset + most_block_bytes) / model::page_bytes * model::page_bytes;
    const std::uint64_t part = (page - offset) / elements_.bytes * elements_.bytes;
    AFTERBAY_TRY(read_one({offset, to, part}));
    offset += part;
    to += part;
    bytes -= part;
  }
  if (!runs_.empty() && runs_.back().offset + runs_.back().bytes == offset &&
      runs_.back().to + runs_.back().bytes == to)
    runs_.back().bytes += bytes;
  else
    runs_.push_back({offset, to, bytes});
  return {};
}

/// Reads all runs that were added so far.
Result<> RunReader::finish() {
  if (runs_.empty()) return {};
  if (runs_.size() == 1) {
    AFTERBAY_TRY(read_one(runs_.front()));
    runs_.clear();
    return {};
  }
  const std::uint64_t begin = runs_.front().offset;
  const std::uint64_t end = runs_.back().offset + runs_.back().bytes;
  AFTERBAY_TRY_ASSIGN(const std::span<std::byte> block, file_.load(begin, end - begin, buffer_, cost_));
  const Stopwatch watch(cost_.decode_ns);
  const auto stride = static_cast<std::ptrdiff_t>(elements_.bytes);
  for (const Run& run : runs_)
    kernel_.row(run.to, block.data() + (run.offset - begin), run.bytes / elements_.bytes, stride, stride);
  runs_.clear();
  return {};
}

Result<> RunReader::read_one(const Run& run) {
  const bool congruent =
      reinterpret_cast<std::uintptr_t>(run.to) % model::page_bytes == run.offset % model::page_bytes;
  if (!elements_.swapped && (congruent || !file_.direct()))
    return file_.read(run.offset, {run.to, run.bytes}, cost_);
  AFTERBAY_TRY_ASSIGN(const std::span<std::byte> block, file_.load(run.offset, run.bytes, buffer_, cost_));
  const Stopwatch watch(cost_.decode_ns);
  const auto stride = static_cast<std::ptrdiff_t>(elements_.bytes);
  kernel_.row(run.to, block.data(), run.bytes / elements_.bytes, stride, stride);
  return {};
}

}  // namespace afterbay::storage
