// SPDX-License-Identifier: Apache-2.0
#include "codec_samples.hpp"

#include <algorithm>

#include "compare_values.hpp"

namespace afterbay::app {
namespace {

constexpr std::uint64_t most_chunk_bytes = std::uint64_t{4} << 20;  ///< where the file has no chunks

struct Box {
  std::vector<std::uint64_t> start, count;
  [[nodiscard]] std::uint64_t points() const {
    std::uint64_t all = 1;
    for (const std::uint64_t length : count) all *= length;
    return all;
  }
};

bool has_records(const Contents& contents, const InputVariable& variable) {
  return !variable.dimensions.empty() && contents.dimensions[variable.dimensions.front()].unlimited &&
         contents.dimensions[variable.dimensions.front()].length > 0 && variable.type != Type::text &&
         variable.type != Type::string;
}

/// The chunks in the first records, cut off at the ends of dimensions.
std::vector<Box> boxes_of(const InputVariable& variable, std::vector<std::uint64_t> shape) {
  std::vector<Box> boxes;
  if (variable.chunk.empty()) {
    std::vector<std::uint64_t> record = shape;
    record.front() = 1;
    for (std::uint64_t r = 0; r < shape.front(); ++r)
      for (SlabWalk walk(record, most_chunk_bytes / size_of(variable.type)); !walk.done(); walk.next()) {
        boxes.push_back({walk.start(), walk.count()});
        boxes.back().start.front() = r;
      }
    return boxes;
  }
  std::vector<std::uint64_t> chunks;
  for (std::size_t d = 0; d < shape.size(); ++d)
    chunks.push_back((shape[d] + variable.chunk[d] - 1) / variable.chunk[d]);
  for (SlabWalk walk(chunks, 1); !walk.done(); walk.next()) {
    Box& box = boxes.emplace_back();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      box.start.push_back(walk.start()[d] * variable.chunk[d]);
      box.count.push_back(std::min(variable.chunk[d], shape[d] - box.start[d]));
    }
  }
  return boxes;
}

}  // namespace

Result<std::vector<ChunkSample>> sample_chunks(const NetcdfReader& file, std::uint64_t records,
                                               std::uint64_t most_bytes) {
  const Contents& contents = file.contents();
  std::uint64_t record_bytes = 0;
  for (const InputVariable& variable : contents.variables) {
    if (!has_records(contents, variable)) continue;
    std::uint64_t bytes = size_of(variable.type);
    const std::vector<std::uint64_t> shape = contents.shape(variable);
    for (std::size_t d = 1; d < shape.size(); ++d) bytes *= shape[d];
    record_bytes += bytes;
  }
  std::vector<ChunkSample> samples;
  for (const InputVariable& variable : contents.variables) {
    if (!has_records(contents, variable)) continue;
    std::vector<std::uint64_t> shape = contents.shape(variable);
    shape.front() = std::min(shape.front(), records);
    const std::vector<Box> boxes = boxes_of(variable, shape);
    std::uint64_t all_points = 0;
    for (const Box& box : boxes) all_points += box.points();
    if (all_points == 0) continue;
    const std::size_t element = size_of(variable.type);
    const double bytes_of_record =
        static_cast<double>(all_points * element) / static_cast<double>(shape.front());
    const double share = bytes_of_record / static_cast<double>(record_bytes);
    const double wanted = std::max(
        1.0, share * static_cast<double>(most_bytes) / static_cast<double>(boxes.front().points() * element));
    const auto step =
        std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(boxes.size()) / wanted));
    ChunkSample& sample = samples.emplace_back();
    sample.element_bytes = element;
    double taken = 0;
    for (std::size_t b = 0; b < boxes.size(); b += step) {
      std::vector<std::byte>& chunk = sample.chunks.emplace_back(boxes[b].points() * element);
      AFTERBAY_TRY(file.read(variable, boxes[b].start, boxes[b].count, chunk));
      taken += static_cast<double>(chunk.size());
    }
    sample.per_record = bytes_of_record / taken;
  }
  if (samples.empty())
    return fail(make_error(ErrorCode::invalid_argument,
                           "{} has no records of numbers: use a file that the model has written", file.path())
                    .in_file(file.path()));
  return samples;
}

Result<codec::Trial> try_filters(const codec::FilterLevels& filters, std::span<const ChunkSample> samples) {
  codec::Trial trial;
  trial.filters = filters;
  AFTERBAY_TRY_ASSIGN(const FilterChain chain, codec::chain_of(filters));
  for (const ChunkSample& sample : samples) {
    AFTERBAY_TRY_ASSIGN(const codec::ChunkCodec codec, codec::ChunkCodec::make(chain, sample.element_bytes));
    for (const std::vector<std::byte>& chunk : sample.chunks) {
      AFTERBAY_TRY_ASSIGN(const codec::ChunkTrial it, codec::try_chunk(codec, chunk));
      trial.bytes += it.bytes * sample.per_record;
      trial.seconds += it.seconds * sample.per_record;
    }
  }
  return trial;
}

}  // namespace afterbay::app
