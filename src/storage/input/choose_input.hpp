// SPDX-License-Identifier: Apache-2.0
// How each variable of a file is read: by our own code where that can do it, else by the library.
#pragma once

#include <memory>
#include <vector>

#include "storage/input/chunk_memory.hpp"
#include "storage/input/input_bytes.hpp"
#include "storage/input/library_file.hpp"
#include "storage/input/variable_input.hpp"
#include "storage/reader/remote_file.hpp"

namespace afterbay::storage {

/// One variable of the schema, as it is read.
struct InputVariable {
  model::Index shape;   ///< without the record dimension
  bool record = false;  ///< has the record dimension
  bool by_library = true;
  std::unique_ptr<VariableInput> input;
};

/// What an open file is read with.
struct InputSources {
  std::unique_ptr<InputBytes> bytes;
  std::unique_ptr<InputLibrary> library;
  RemoteInput* remote = nullptr;  ///< `library`, if it is a reader process: for all but classic formats
  ChunkMemory memory{input_chunk_memory_bytes};
};

/// The variables of the schema, in its order. What our code does not know for certain is left to the
/// library. The sources outlive them. Takes the library lock. Fails with format when a header is damaged.
Result<std::vector<InputVariable>> choose_inputs(InputSources& sources);

}  // namespace afterbay::storage
