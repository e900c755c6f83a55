// SPDX-License-Identifier: Apache-2.0
#include "storage/input/chunked_input.hpp"

#include <algorithm>
#include <utility>

#include "storage/fill.hpp"
#include "storage/input/pool_workspace.hpp"
#include "storage/stopwatch.hpp"

namespace afterbay::storage {

ChunkedInput::ChunkedInput(const ChunkSources& sources, std::uint32_t variable, DatasetStorage storage,
                           bool record, std::vector<std::byte> fill)
    : sources_(sources),
      variable_(variable),
      storage_(std::move(storage)),
      record_(record),
      beyond_(std::move(fill)),
      chunk_bytes_(storage_.chunk.product() * storage_.elements.bytes) {
  for (std::size_t d = 0; d < storage_.chunk.size; ++d)
    chunks_.push_back((storage_.lengths[d] + storage_.chunk[d] - 1) / storage_.chunk[d]);
}

/// The parts of `wanted` in C order of the chunks. `wanted` lies within the variable's own lengths
/// and is not empty.
std::vector<ChunkedInput::Part> ChunkedInput::parts_of(const model::Box& wanted,
                                                       const model::Index& target_start) const {
  const std::size_t rank = wanted.rank();
  model::Index first_chunk = wanted.start;
  model::Index last_chunk = wanted.start;
  for (std::size_t d = 0; d < rank; ++d) {
    first_chunk[d] = wanted.start[d] / storage_.chunk[d];
    last_chunk[d] = (wanted.start[d] + wanted.count[d] - 1) / storage_.chunk[d];
  }
  std::vector<Part> parts;
  for (model::Index chunk = first_chunk;;) {
    Part part{0, chunk, chunk, chunk, chunk};
    for (std::size_t d = 0; d < rank; ++d) {
      part.number = part.number * chunks_[d] + chunk[d];
      part.first[d] = chunk[d] * storage_.chunk[d];
      const std::uint64_t low = std::max(part.first[d], wanted.start[d]);
      const std::uint64_t high =
          std::min(part.first[d] + storage_.chunk[d], wanted.start[d] + wanted.count[d]);
      part.count[d] = high - low;
      part.in_chunk[d] = low - part.first[d];
      part.in_target[d] = low - target_start[d];
    }
    parts.push_back(part);
    std::size_t d = rank;
    for (; d > 0; --d) {
      if (++chunk[d - 1] <= last_chunk[d - 1]) break;
      chunk[d - 1] = first_chunk[d - 1];
    }
    if (d == 0) return parts;
  }
}

Result<std::vector<ChunkAddress>> ChunkedInput::addresses_of(std::span<const Part> parts, ReadCost& cost) {
  std::vector<ChunkAddress> addresses(parts.size());
  std::vector<std::size_t> unknown;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (const auto known = known_.find(parts[i].number); known != known_.end())
        addresses[i] = known->second;
      else
        unknown.push_back(i);
  }
  if (unknown.empty()) return addresses;
  const Stopwatch watch(cost.library_ns);
  std::vector<Part> wanted;
  for (const std::size_t i : unknown) wanted.push_back(parts[i]);
  const std::vector<Part> neighbours = rest_of_record(parts);
  wanted.insert(wanted.end(), neighbours.begin(), neighbours.end());
  std::vector<model::Index> first_elements;
  for (const Part& part : wanted) first_elements.push_back(part.first);
  AFTERBAY_TRY_ASSIGN(const std::vector<ChunkAddress> found,
                      sources_.finder->find(variable_, first_elements));
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < wanted.size(); ++i) known_.emplace(wanted[i].number, found[i]);
  for (std::size_t i = 0; i < unknown.size(); ++i) addresses[unknown[i]] = found[i];
  return addresses;
}

/// Other chunks of the same record, or of the fixed variable, with unknown positions: they will be
/// requested next, and each search would wait for the library lock again. Empty if there are many.
std::vector<ChunkedInput::Part> ChunkedInput::rest_of_record(std::span<const Part> parts) {
  constexpr std::uint64_t most_neighbours = 128;
  model::Box record{model::Index::filled(chunks_.size, 0), storage_.lengths};
  std::uint64_t count = chunks_.product();
  if (record_) {
    record.start[0] = parts.front().first[0];
    record.count[0] = 1;
    count /= chunks_[0];
  }
  if (count > most_neighbours) return {};
  std::vector<Part> rest = parts_of(record, record.start);
  const MutexLock lock(mutex_);
  std::erase_if(rest, [&](const Part& one) AFTERBAY_NO_THREAD_SAFETY_ANALYSIS {
    return known_.contains(one.number) || std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
             return part.number == one.number;
           });
  });
  return rest;
}

Result<> ChunkedInput::read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                            ReadCost& cost) {
  model::Box wanted;
  if (record_) {
    wanted.start.push_back(record);
    wanted.count.push_back(1);
  }
  for (std::size_t d = 0; d < box.rank(); ++d) {
    wanted.start.push_back(box.start[d]);
    wanted.count.push_back(box.count[d]);
  }
  const model::Box own{model::Index::filled(wanted.rank(), 0), storage_.lengths};
  const model::Box inside = intersect(wanted, own);
  if (!(inside == wanted)) repeat(beyond_, to);
  if (inside.empty()) return {};
  const std::vector<Part> parts = parts_of(inside, wanted.start);
  AFTERBAY_TRY_ASSIGN(const std::vector<ChunkAddress> addresses, addresses_of(parts, cost));
  RunReader reader(*sources_.file, storage_.elements, cost);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (addresses[i].bytes == 0)
      fill_part(parts[i], wanted.count, to.data());
    else if (!storage_.codec.active())
      AFTERBAY_TRY(read_plain(parts[i], addresses[i], wanted.count, to.data(), reader));
    else
      AFTERBAY_TRY(read_filtered(parts[i], addresses[i], wanted.count, to.data(), cost));
  }
  return reader.finish();
}

void ChunkedInput::fill_part(const Part& part, const model::Index& target, std::byte* to) {
  const std::size_t element = storage_.elements.bytes;
  static_cast<void>(for_each_row(part.count, {target, part.in_target}, {target, part.in_target},
                                 [&](std::uint64_t at, std::uint64_t, std::uint64_t elements) -> Result<> {
                                   repeat(storage_.fill, {to + at * element, elements * element});
                                   return {};
                                 }));
}

Result<> ChunkedInput::read_plain(const Part& part, const ChunkAddress& address, const model::Index& target,
                                  std::byte* to, RunReader& reader) {
  if (address.bytes != chunk_bytes_)
    return fail(ErrorCode::format, "a chunk has {} bytes, but {} are expected: the file is damaged",
                address.bytes, chunk_bytes_);
  const std::size_t element = storage_.elements.bytes;
  return for_each_row(part.count, {storage_.chunk, part.in_chunk}, {target, part.in_target},
                      [&](std::uint64_t from, std::uint64_t at, std::uint64_t elements) {
                        return reader.add(address.offset + from * element, to + at * element,
                                          elements * element);
                      });
}

bool ChunkedInput::whole(const Part& part) const noexcept {
  for (std::size_t d = 0; d < part.count.size; ++d)
    if (part.count[d] != std::min(storage_.chunk[d], storage_.lengths[d] - part.first[d])) return false;
  return true;
}

/// Keeps a chunk of which further values will be requested.
Result<> ChunkedInput::read_filtered(const Part& part, const ChunkAddress& address,
                                     const model::Index& target, std::byte* to, ReadCost& cost) {
  const bool in_place = part.count == storage_.chunk && part.count == target && !storage_.elements.swapped;
  if (in_place) return decode(address, {to, chunk_bytes_}, cost);
  BufferPool::Loan own;
  std::shared_ptr<KeptChunk> kept;
  std::span<const std::byte> chunk;
  const auto into = [&](BufferPool::Loan& buffer) -> Result<> {
    buffer = sources_.file->pool().borrow(chunk_bytes_);
    return decode(address, buffer.bytes().first(chunk_bytes_), cost);
  };
  if (whole(part)) {
    AFTERBAY_TRY(into(own));
    chunk = own.bytes();
  } else {
    kept = sources_.memory->chunk(variable_, part.number, chunk_bytes_);
    AFTERBAY_TRY_ASSIGN(chunk, kept->get(into));
  }
  const Stopwatch watch(cost.decode_ns);
  const model::Kernel kernel = storage_.elements.kernel();
  const auto stride = static_cast<std::ptrdiff_t>(storage_.elements.bytes);
  const std::size_t element = storage_.elements.bytes;
  return for_each_row(part.count, {storage_.chunk, part.in_chunk}, {target, part.in_target},
                      [&](std::uint64_t from, std::uint64_t at, std::uint64_t elements) -> Result<> {
                        kernel.row(to + at * element, chunk.data() + from * element, elements, stride,
                                   stride);
                        return {};
                      });
}

Result<> ChunkedInput::decode(const ChunkAddress& address, std::span<std::byte> chunk, ReadCost& cost) {
  // No memory is allocated for an impossible chunk of a damaged file: no codec expands by more.
  const std::uint64_t most_expansion = codec::most_expansion();
  constexpr std::uint64_t least_bytes = std::uint64_t{1} << 16;
  if (chunk_bytes_ > least_bytes && chunk_bytes_ / most_expansion > address.bytes)
    return fail(ErrorCode::format,
                "a chunk of {} bytes cannot hold the {} bytes that are expected: the file is damaged",
                address.bytes, chunk_bytes_);
  BufferPool::Loan buffer;
  AFTERBAY_TRY_ASSIGN(const std::span<std::byte> stored,
                      sources_.file->load(address.offset, address.bytes, buffer, cost));
  const Stopwatch watch(cost.decode_ns);
  PoolWorkspace workspace(sources_.file->pool());
  return storage_.codec.decode(stored, address.skipped, chunk, workspace);
}

}  // namespace afterbay::storage
