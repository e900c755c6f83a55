// SPDX-License-Identifier: Apache-2.0
#include "storage/reader/remote_file.hpp"

#include <algorithm>

#include "storage/cdf/header.hpp"
#include "storage/reader/check_description.hpp"
#include "storage/reader/extended_file.hpp"

namespace afterbay::storage {
namespace {

std::vector<std::uint64_t> list_of(std::span<const std::uint64_t> values) {
  return {values.begin(), values.end()};
}

std::uint64_t product_of(std::span<const std::uint64_t> count) {
  std::uint64_t product = 1;
  for (const std::uint64_t length : count) product *= length;
  return product;
}

/// Calls `read(start, count, values)` for parts of a box of at most most_values_bytes each, in C
/// order.
template <class Read>
Result<> read_in_parts(std::vector<std::uint64_t> start, std::vector<std::uint64_t> count,
                       std::size_t element_bytes, std::span<std::byte> values, const Read& read) {
  const auto wide = std::find_if(count.begin(), count.end(), [](std::uint64_t n) { return n > 1; });
  if (values.empty()) return {};
  if (values.size() <= most_values_bytes || wide == count.end()) return read(start, count, values);
  const auto d = static_cast<std::size_t>(wide - count.begin());
  const std::uint64_t row_bytes = product_of(std::span(count).subspan(d + 1)) * element_bytes;
  const std::uint64_t rows = std::max<std::uint64_t>(1, most_values_bytes / row_bytes);
  const std::uint64_t all = count[d];
  for (std::uint64_t done = 0; done < all; done += rows, start[d] += rows) {
    count[d] = std::min(rows, all - done);
    AFTERBAY_TRY(read_in_parts(start, count, element_bytes,
                               values.subspan(done * row_bytes, count[d] * row_bytes), read));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<RemoteInput>> RemoteInput::open(const std::string& path,
                                                       std::chrono::milliseconds deadline) {
  AFTERBAY_TRY_ASSIGN(auto process, ReaderProcess::start(path, deadline));
  std::unique_ptr<RemoteInput> input(new RemoteInput(std::move(process)));
  AFTERBAY_TRY_ASSIGN(InputDescribed answer, input->process_->ask<InputDescribed>(DescribeInput{path}));
  if (const auto mistake = mistake_in(answer.found))
    return fail(input->process_->give_up(input->process_->damaged(*mistake)));
  input->datasets_ = checked_datasets(answer.datasets, answer.found);
  input->found_ = std::move(answer.found);
  return input;
}

Result<> RemoteInput::read(std::uint32_t variable, std::uint64_t record, const model::Box& box,
                           std::span<std::byte> to) {
  const auto read_part = [&](const std::vector<std::uint64_t>& start, const std::vector<std::uint64_t>& count,
                             std::span<std::byte> values) {
    return process_->ask_values(ReadPart{variable, record, start, count, values.size()}, values);
  };
  return read_in_parts(list_of({box.start.begin(), box.start.size}),
                       list_of({box.count.begin(), box.count.size}),
                       size_of(found_.schema.variables[variable].type), to, read_part);
}

Result<std::vector<std::string>> RemoteInput::read_strings(std::uint32_t variable, std::uint64_t record) {
  AFTERBAY_TRY_ASSIGN(StringsRead answer, process_->ask<StringsRead>(ReadPartStrings{variable, record}));
  std::uint64_t expected = 1;
  for (const std::string& name : found_.schema.variables[variable].dimensions) {
    const Dimension* dimension = found_.schema.find_dimension(name);
    expected *= dimension->is_unlimited() ? 1 : dimension->length;
  }
  if (answer.strings.size() != expected)
    return fail(process_->give_up(process_->damaged("some of its strings are missing")));
  return std::move(answer.strings);
}

Result<std::vector<ChunkAddress>> RemoteInput::find(std::uint32_t variable,
                                                    std::span<const model::Index> first_elements) {
  FindChunks request{variable, {}};
  for (const model::Index& first : first_elements)
    request.first_elements.insert(request.first_elements.end(), first.begin(), first.end());
  AFTERBAY_TRY_ASSIGN(ChunksFound answer, process_->ask<ChunksFound>(request));
  if (answer.addresses.size() != first_elements.size())
    return fail(process_->give_up(process_->damaged("some of its chunks are missing")));
  return std::move(answer.addresses);
}

Result<std::unique_ptr<ArrayFile>> RemoteArrayFile::open(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(auto process, ReaderProcess::start(path, default_reader_deadline));
  std::unique_ptr<RemoteArrayFile> file(new RemoteArrayFile(std::move(process)));
  AFTERBAY_TRY_ASSIGN(ArraysDescribed answer, file->process_->ask<ArraysDescribed>(DescribeArrays{path}));
  if (const auto mistake = mistake_in(answer.contents))
    return fail(file->process_->give_up(file->process_->damaged(*mistake)));
  file->contents_ = std::move(answer.contents);
  return file;
}

Result<> RemoteArrayFile::read(int variable, std::span<const std::uint64_t> start,
                               std::span<const std::uint64_t> count, std::span<std::byte> values) {
  if (values.empty()) return {};
  const std::uint64_t points = product_of(count);
  const std::size_t element_bytes = points == 0 ? 1 : values.size() / points;
  return read_in_parts(list_of(start), list_of(count), element_bytes, values,
                       [&](const std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& lengths,
                           std::span<std::byte> part) {
                         return process_->ask_values(ReadArray{variable, from, lengths, part.size()}, part);
                       });
}

Result<std::vector<std::string>> RemoteArrayFile::read_strings(int variable,
                                                               std::span<const std::uint64_t> start,
                                                               std::span<const std::uint64_t> count) {
  if (product_of(count) == 0) return std::vector<std::string>{};
  AFTERBAY_TRY_ASSIGN(StringsRead answer,
                      process_->ask<StringsRead>(ReadArrayStrings{variable, list_of(start), list_of(count)}));
  if (answer.strings.size() != product_of(count))
    return fail(process_->give_up(process_->damaged("some of its strings are missing")));
  return std::move(answer.strings);
}

void RemoteArrayFile::cache_chunks(int variable, std::uint64_t bytes) {
  static_cast<void>(process_->ask<Done>(CacheChunks{variable, bytes}));
}

Result<std::unique_ptr<ExtendedFile>> ExtendedFile::open(const std::string& path) {
  std::unique_ptr<ExtendedFile> file(new ExtendedFile(path));
  AFTERBAY_TRY_ASSIGN(const auto classic, check_cdf_header(path));
  if (classic) {
    AFTERBAY_TRY_ASSIGN(file->found_, read_schema(path));
    return file;
  }
  AFTERBAY_TRY_ASSIGN(file->process_, ReaderProcess::start(path, default_reader_deadline));
  AFTERBAY_TRY_ASSIGN(InputDescribed answer, file->process_->ask<InputDescribed>(DescribeSchema{path}));
  if (const auto mistake = mistake_in(answer.found))
    return fail(file->process_->give_up(file->process_->damaged(*mistake)));
  file->found_ = std::move(answer.found);
  return file;
}

Result<Values> ExtendedFile::values(const std::string& variable) {
  if (process_ == nullptr) return read_values(path_, variable);
  AFTERBAY_TRY_ASSIGN(ValuesRead answer, process_->ask<ValuesRead>(ReadConstant{path_, variable}));
  return std::move(answer.values);
}

Result<> ExtendedFile::try_to_extend() {
  if (process_ == nullptr) return {};
  AFTERBAY_TRY(process_->ask<Done>(BeginTrial{path_}));
  for (const Variable& variable : found_.schema.variables)
    if (auto done = process_->ask<Done>(TryVariable{variable.name}); !done)
      return fail(std::move(done).error().in_variable(variable.name));
  AFTERBAY_TRY(process_->ask<Done>(EndTrial{}));
  return {};
}

}  // namespace afterbay::storage
