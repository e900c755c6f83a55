// SPDX-License-Identifier: Apache-2.0
// What a process and its reader process say to each other: one request, one answer. Each is
// preceded by its length (8 bytes); values follow their answer as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/input/hdf5_source.hpp"
#include "storage/reader/array_file.hpp"
#include "storage/structure/read_schema.hpp"
#include "wire/data_fields.hpp"
#include "wire/message_list.hpp"

namespace afterbay::storage {

template <class A>
void fields(A& a, LeftOut& v) {
  a(v.name, v.reason);
}
template <class A>
void fields(A& a, FoundFile& v) {
  a(v.schema, v.format, v.records, v.numbers, v.left_out);
}
template <class A>
void fields(A& a, ArrayDimension& v) {
  a(v.name, v.length, v.unlimited);
}
template <class A>
void fields(A& a, ArrayVariable& v) {
  a(v.name, v.id, v.type, v.dimensions, v.attributes, v.chunk);
  wire::filter_fields(a, v.filters);
}
template <class A>
void fields(A& a, ArrayContents& v) {
  a(v.format, v.dimensions, v.variables, v.attributes, v.groups, v.user_types, v.left_out);
}
template <class A>
void fields(A& a, ChunkAddress& v) {
  a(v.offset, v.bytes, v.skipped);
}

/// A DatasetStorage in types whose every value can be checked.
struct DescribedDataset {
  std::uint8_t kind = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint64_t> chunk;
  FilterChain filters;
  std::uint64_t element_bytes = 1;
  std::uint8_t swapped = 0;
  std::vector<std::byte> fill;
  template <class A>
  void fields(A& a) {
    a(kind, offset, lengths, chunk);
    wire::filter_fields(a, filters);
    a(element_bytes, swapped, fill);
  }
};

/// To a reader process; the handlers are in serve_reader.cpp.
using Requests =
    wire::MessageList<wire::first_to_reader, struct DescribeInput, struct DescribeSchema, struct ReadConstant,
                      struct FindChunks, struct ReadPart, struct ReadPartStrings, struct DescribeArrays,
                      struct ReadArray, struct ReadArrayStrings, struct CacheChunks, struct BeginTrial,
                      struct TryVariable, struct EndTrial>;
/// From it.
using Answers =
    wire::MessageList<wire::first_from_reader, struct Done, struct InputDescribed, struct ValuesRead,
                      struct ChunksFound, struct StringsRead, struct ArraysDescribed>;

// ---- requests

/// To read the variables that a Schema can hold. Answered by InputDescribed.
struct DescribeInput {
  static constexpr wire::Kind kind = Requests::kind<DescribeInput>();
  std::string path;
  template <class A>
  void fields(A& a) {
    a(path);
  }
};

/// The schema of a file that is to be extended. Answered by InputDescribed, without datasets.
struct DescribeSchema {
  static constexpr wire::Kind kind = Requests::kind<DescribeSchema>();
  std::string path;
  template <class A>
  void fields(A& a) {
    a(path);
  }
};

/// All values of a variable of any file. Answered by ValuesRead.
struct ReadConstant {
  static constexpr wire::Kind kind = Requests::kind<ReadConstant>();
  std::string path;
  std::string variable;
  template <class A>
  void fields(A& a) {
    a(path, variable);
  }
};

/// Answered by ChunksFound. After DescribeInput.
struct FindChunks {
  static constexpr wire::Kind kind = Requests::kind<FindChunks>();
  std::uint32_t variable = 0;
  std::vector<std::uint64_t> first_elements;  ///< one chunk after the other
  template <class A>
  void fields(A& a) {
    a(variable, first_elements);
  }
};

/// Answered by Done and the values. After DescribeInput.
struct ReadPart {
  static constexpr wire::Kind kind = Requests::kind<ReadPart>();
  std::uint32_t variable = 0;
  std::uint64_t record = 0;
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  std::uint64_t bytes = 0;
  template <class A>
  void fields(A& a) {
    a(variable, record, start, count, bytes);
  }
};

/// Answered by StringsRead. After DescribeInput.
struct ReadPartStrings {
  static constexpr wire::Kind kind = Requests::kind<ReadPartStrings>();
  std::uint32_t variable = 0;
  std::uint64_t record = 0;
  template <class A>
  void fields(A& a) {
    a(variable, record);
  }
};

/// Answered by ArraysDescribed.
struct DescribeArrays {
  static constexpr wire::Kind kind = Requests::kind<DescribeArrays>();
  std::string path;
  template <class A>
  void fields(A& a) {
    a(path);
  }
};

/// Answered by Done and the values. After DescribeArrays.
struct ReadArray {
  static constexpr wire::Kind kind = Requests::kind<ReadArray>();
  std::int32_t variable = 0;
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  std::uint64_t bytes = 0;
  template <class A>
  void fields(A& a) {
    a(variable, start, count, bytes);
  }
};

/// Answered by StringsRead. After DescribeArrays.
struct ReadArrayStrings {
  static constexpr wire::Kind kind = Requests::kind<ReadArrayStrings>();
  std::int32_t variable = 0;
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  template <class A>
  void fields(A& a) {
    a(variable, start, count);
  }
};

/// Answered by Done. After DescribeArrays.
struct CacheChunks {
  static constexpr wire::Kind kind = Requests::kind<CacheChunks>();
  std::int32_t variable = 0;
  std::uint64_t bytes = 0;
  template <class A>
  void fields(A& a) {
    a(variable, bytes);
  }
};

/// To add records to an HDF5 file in memory. Answered by Done.
struct BeginTrial {
  static constexpr wire::Kind kind = Requests::kind<BeginTrial>();
  std::string path;
  template <class A>
  void fields(A& a) {
    a(path);
  }
};

/// Answered by Done. After BeginTrial.
struct TryVariable {
  static constexpr wire::Kind kind = Requests::kind<TryVariable>();
  std::string name;
  template <class A>
  void fields(A& a) {
    a(name);
  }
};

/// Answered by Done. After BeginTrial.
struct EndTrial {
  static constexpr wire::Kind kind = Requests::kind<EndTrial>();
  std::uint8_t nothing = 0;
  template <class A>
  void fields(A& a) {
    a(nothing);
  }
};

// ---- answers

/// The first message of a reader process; also the answer to requests that only succeed or fail.
struct Done {
  static constexpr wire::Kind kind = Answers::kind<Done>();
  std::optional<Error> error;
  template <class A>
  void fields(A& a) {
    a(error);
  }
};

struct InputDescribed {
  static constexpr wire::Kind kind = Answers::kind<InputDescribed>();
  std::optional<Error> error;
  FoundFile found;
  std::vector<DescribedDataset> datasets;  ///< one per variable; none: the library reads all
  template <class A>
  void fields(A& a) {
    a(error, found, datasets);
  }
};

struct ValuesRead {
  static constexpr wire::Kind kind = Answers::kind<ValuesRead>();
  std::optional<Error> error;
  Values values;
  template <class A>
  void fields(A& a) {
    a(error, values);
  }
};

struct ChunksFound {
  static constexpr wire::Kind kind = Answers::kind<ChunksFound>();
  std::optional<Error> error;
  std::vector<ChunkAddress> addresses;
  template <class A>
  void fields(A& a) {
    a(error, addresses);
  }
};

struct StringsRead {
  static constexpr wire::Kind kind = Answers::kind<StringsRead>();
  std::optional<Error> error;
  std::vector<std::string> strings;
  template <class A>
  void fields(A& a) {
    a(error, strings);
  }
};

struct ArraysDescribed {
  static constexpr wire::Kind kind = Answers::kind<ArraysDescribed>();
  std::optional<Error> error;
  ArrayContents contents;
  template <class A>
  void fields(A& a) {
    a(error, contents);
  }
};

/// Longest message; a file whose description is longer is refused.
inline constexpr std::uint64_t most_message_bytes = std::uint64_t{1} << 30;
/// Most bytes of values in one request.
inline constexpr std::uint64_t most_values_bytes = std::uint64_t{32} << 20;

}  // namespace afterbay::storage
