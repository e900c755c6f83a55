// SPDX-License-Identifier: Apache-2.0
// Sources of configurations for tests.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "config/config.hpp"

namespace afterbay::config {

using Variables = std::map<std::string, std::string>;

inline Sources no_environment() {
  Sources sources;
  sources.environment.emplace();
  return sources;
}

/// A YAML file that exists as long as the object.
class YamlFile {
 public:
  explicit YamlFile(const std::string& text) {
    static std::atomic<int> number{0};
    path_ = (std::filesystem::temp_directory_path() /
             ("afterbay_config_" + std::to_string(getpid()) + "_" + std::to_string(number++) + ".yaml"))
                .string();
    std::ofstream(path_) << text;
  }
  YamlFile(const YamlFile&) = delete;
  YamlFile& operator=(const YamlFile&) = delete;
  ~YamlFile() { std::remove(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Sources sources() const {
    Sources sources = no_environment();
    sources.config_file = path_;
    return sources;
  }

 private:
  std::string path_;
};

}  // namespace afterbay::config
