// SPDX-License-Identifier: Apache-2.0
#include "storage/input/dense_input.hpp"

#include "storage/fill.hpp"
#include "storage/input/rows.hpp"

namespace afterbay::storage {

Result<> DenseInput::read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                          ReadCost& cost) {
  std::uint64_t begin = 0;
  if (__builtin_mul_overflow(record, records_.record_bytes, &begin) ||
      __builtin_add_overflow(begin, records_.begin, &begin))
    return fail(ErrorCode::format, "record {} of {} bytes each: no file is that large, the header is damaged",
                record, records_.record_bytes);
  RunReader reader(file_, records_.elements, cost);
  const std::size_t element = records_.elements.bytes;
  AFTERBAY_TRY(
      for_each_row(box.count, {records_.shape, box.start}, {box.count, model::Index::filled(box.rank(), 0)},
                   [&](std::uint64_t from, std::uint64_t at, std::uint64_t elements) {
                     return reader.add(begin + from * element, to.data() + at * element, elements * element);
                   }));
  return reader.finish();
}

Result<> FilledInput::read(std::uint64_t, const model::Box&, std::span<std::byte> to, ReadCost&) {
  repeat(fill_, to);
  return {};
}

}  // namespace afterbay::storage
