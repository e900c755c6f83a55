// SPDX-License-Identifier: Apache-2.0
// Chooses how each variable of a file is read: by our own code if possible, otherwise by the
// library.
#pragma once

#include <memory>
#include <vector>

#include "storage/input/chunk_memory.hpp"
#include "storage/input/input_bytes.hpp"
#include "storage/input/library_file.hpp"
#include "storage/input/variable_input.hpp"
#include "storage/reader/remote_file.hpp"

namespace afterbay::storage {

/// A variable of the schema, as it is read.
struct InputVariable {
  model::Index shape;   ///< without the record dimension
  bool record = false;  ///< whether it has the record dimension
  bool by_library = true;
  std::unique_ptr<VariableInput> input;
};

/// The sources from which an open file is read.
struct InputSources {
  std::unique_ptr<InputBytes> bytes;
  std::unique_ptr<InputLibrary> library;
  /// `library`, if it is a reader process: for all but the classic formats.
  RemoteInput* remote = nullptr;
  ChunkMemory memory{input_chunk_memory_bytes};
};

/// The variables of the schema, in its order. Variables that our code cannot certainly read are
/// left to the library. The sources must outlive them. Takes the library lock. Fails with format if
/// a header is damaged.
Result<std::vector<InputVariable>> choose_inputs(InputSources& sources);

}  // namespace afterbay::storage
