// SPDX-License-Identifier: Apache-2.0
// The program of a compression library alone: it encodes chunks into memory that is reused. With
// --shuffle, bytes are shuffled before the clock starts.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "packing/case.hpp"

namespace bench::packing {

/// A way of compression. Functions throw std::runtime_error.
class Library {
 public:
  virtual ~Library() = default;
  /// The largest encoded size.
  [[nodiscard]] virtual std::size_t most_bytes(std::size_t bytes) const = 0;
  /// Returns the number of bytes.
  virtual std::size_t encode(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  virtual void decode(std::span<const std::byte> from, std::span<std::byte> to) = 0;
};

/// main() of the program; `make` gets the level (--level).
int run_library(int argc, char** argv, const std::string& name,
                const std::function<std::unique_ptr<Library>(int level)>& make);

/// Throws if `holds` is false.
void require(bool holds, const char* what);

}  // namespace bench::packing
