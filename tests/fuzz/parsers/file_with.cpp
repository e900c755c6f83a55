// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <stdexcept>

#include "parsers.hpp"

namespace afterbay::test {

std::filesystem::path file_with(Bytes bytes, const char* name) {
  std::filesystem::path path = name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
  return path;
}

}  // namespace afterbay::test
