// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clocale>
#include <string>

namespace afterbay::expression {

/// While it lives, numbers have decimal commas in this process, if the system has such a locale.
class ForeignLocale {
 public:
  ForeignLocale() : before_(std::setlocale(LC_ALL, nullptr)) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"})
      is_set_ = is_set_ || std::setlocale(LC_ALL, name) != nullptr;
  }
  ~ForeignLocale() { std::setlocale(LC_ALL, before_.c_str()); }
  ForeignLocale(const ForeignLocale&) = delete;
  ForeignLocale& operator=(const ForeignLocale&) = delete;
  [[nodiscard]] bool is_set() const noexcept { return is_set_; }

 private:
  std::string before_;
  bool is_set_ = false;
};

}  // namespace afterbay::expression
