// SPDX-License-Identifier: Apache-2.0
// HeaderCheck: what headers of the Unified Model cannot hold, in PP files and fields files.
#pragma once

#include "storage/messages/definition_check.hpp"
#include "storage/um/definition.hpp"

namespace afterbay::storage::um {

class HeaderCheck : public DefinitionCheck {
 public:
  HeaderCheck(const Schema& schema, const MessageTraits::Add& add, const FileKind& kind);

 protected:
  ~HeaderCheck() = default;

 private:
  void calendar(const Variable& time, const cf::TimeAxis& axis) override;
  [[nodiscard]] bool can_change(const Variable& coordinate) const override;
  [[nodiscard]] std::string refused_type(Type type) const override;
  [[nodiscard]] std::vector<std::string> attributes() const override;
  [[nodiscard]] bool is_known(std::string_view attribute) const override;
  void describe(const Variable& field) override;

  void whole_seconds(const Variable& time, const cf::TimeAxis& axis);
  [[nodiscard]] bool is_forecast_period(const Variable& variable) const;
  void missing_values(const Variable& variable);
  void headers(const Variable& variable);
  [[nodiscard]] bool has_intervals(const Variable& variable) const;

  const FileKind& kind_;
};

}  // namespace afterbay::storage::um
