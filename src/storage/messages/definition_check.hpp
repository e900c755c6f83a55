// SPDX-License-Identifier: Apache-2.0
// DefinitionCheck: what all formats of messages refuse in a schema, before the first file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/format_traits.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage {

/// A format derives from it and adds what its messages cannot hold. Errors are sentences whose
/// subject is the variable.
class DefinitionCheck {
 public:
  /// The format's words for messages.
  struct Names {
    std::string_view header;   ///< what contains the time and other words: "GRIB2 message"
    std::string_view message;  ///< what holds a field: "GRIB2 message", "PP record"
  };

  DefinitionCheck(const Schema& schema, const MessageTraits::Add& add, Names names)
      : schema_(schema), add_(add), names_(names) {}
  DefinitionCheck(const DefinitionCheck&) = delete;
  DefinitionCheck& operator=(const DefinitionCheck&) = delete;

  /// Adds all problems.
  void run();

 protected:
  ~DefinitionCheck() = default;

  /// Checks the whole file, after its variables.
  virtual void file() {}
  /// Checks a time whose units and calendar are valid; the calendar is that of the records.
  virtual void calendar(const Variable& time, const cf::TimeAxis& axis) = 0;
  /// Whether a coordinate that changes from record to record can be left out.
  [[nodiscard]] virtual bool can_change(const Variable& coordinate) const = 0;
  /// A type that messages cannot hold: what to say; empty: they can.
  [[nodiscard]] virtual std::string refused_type(Type type) const = 0;
  /// Names of attributes of fields that messages hold, or that only describe a field.
  [[nodiscard]] virtual std::vector<std::string> attributes() const = 0;
  /// Attributes of fields that are known by the beginning of their name.
  [[nodiscard]] virtual bool is_known(std::string_view attribute) const = 0;
  /// At the end of a message on an unknown attribute: what works.
  [[nodiscard]] virtual std::string_view advice() const { return "remove it"; }
  /// Everything else of a field.
  virtual void describe(const Variable& field) = 0;

  template <class... Args>
  void problem(const Variable& variable, ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
    add(code, variable.name,
        fmt::format("variable '{}' {}", variable.name, fmt::format(format, std::forward<Args>(args)...)));
  }
  template <class T>
  void take_error(const Variable& variable, const Result<T>& result) {
    if (!result) problem(variable, result.error().code, "{}", result.error().message);
  }
  void file_problem(ErrorCode code, const std::string& line) { add(code, {}, line); }
  /// Whether something was added.
  [[nodiscard]] bool has_problems() const noexcept { return has_problems_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }

 private:
  void add(ErrorCode code, const std::string& variable, const std::string& line) {
    has_problems_ = true;
    add_(code, variable, line);
  }
  void times();
  void other_times(bool records);
  void axis(const Variable& time);
  void bounds(const Variable& variable);
  void coordinate(const Variable& variable);
  void written(const Variable& variable);
  [[nodiscard]] bool lies_on_grid(const Variable& variable) const;
  void field(const Variable& variable);
  void degrees(const Variable& variable);
  void coordinates(const Variable& variable);
  void check_attributes(const Variable& variable);

  const Schema& schema_;
  const MessageTraits::Add& add_;
  Names names_;
  bool has_problems_ = false;
};

/// Attributes that every format of messages knows: they become words or keys of messages, or only
/// describe the field in words. What others mean would be lost.
std::vector<std::string> common_attributes();

}  // namespace afterbay::storage
