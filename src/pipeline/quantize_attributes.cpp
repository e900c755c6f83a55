// SPDX-License-Identifier: Apache-2.0
// Sources: netCDF-C 4.9, netcdf.h (NC_QUANTIZE_..._ATT_NAME); CF Conventions 1.12, section 8.4,
// "Lossy Compression via Quantization".
#include <algorithm>
#include <string>
#include <string_view>

#include "model/largest_error.hpp"
#include "pipeline/quantize.hpp"

namespace afterbay::pipeline {
namespace {

struct MethodNames {
  Quantization::Method method;
  std::string_view cf;         ///< value of `algorithm`
  std::string_view netcdf;     ///< attribute
  std::string_view cf_number;  ///< attribute
};

constexpr MethodNames method_names[] = {
    {Quantization::Method::bitround, "bitround", "_QuantizeBitRoundNumberOfSignificantBits",
     "quantization_nsb"},
    {Quantization::Method::granular_bitround, "granular_bitround",
     "_QuantizeGranularBitRoundNumberOfSignificantDigits", "quantization_nsd"},
    {Quantization::Method::bitgroom, "bitgroom", "_QuantizeBitGroomNumberOfSignificantDigits",
     "quantization_nsd"}};

std::string describing_variable(const MethodNames& names) {
  return "quantization_info_" + std::string(names.cf);
}

void describe_method(Schema& schema, const MethodNames& names) {
  const std::string name = describing_variable(names);
  if (schema.find_variable(name) != nullptr) return;
  schema.variable(name, Type::int8, {})
      .attribute("algorithm", std::string(names.cf))
      .attribute("implementation", "Afterbay version " AFTERBAY_VERSION)
      .with_constant(Values(std::int8_t{0}));
}

}  // namespace

bool describes_quantization(std::string_view attribute) noexcept {
  return attribute == "quantization" || attribute == model::largest_error_attribute ||
         std::ranges::any_of(method_names, [&](const MethodNames& names) {
           return attribute == names.netcdf || attribute == names.cf_number;
         });
}

void forget_quantization(Variable& variable) {
  std::erase_if(variable.attributes, [](const Attribute& it) { return describes_quantization(it.name); });
}

void describe_quantization(Schema& schema, std::span<const Settings> given) {
  for (std::size_t v = 0; v < given.size(); ++v) {
    if (given[v].empty()) continue;
    forget_quantization(schema.variables[v]);
    const Quantization wanted = quantization_of(given[v]);
    for (const MethodNames& names : method_names) {
      if (names.method != wanted.method) continue;
      schema.variables[v]
          .attribute(std::string(names.netcdf), Values(std::int32_t{wanted.number}))
          .attribute("quantization", describing_variable(names))
          .attribute(std::string(names.cf_number), Values(std::int32_t{wanted.number}));
      describe_method(schema, names);
    }
    if (states_accuracy(given[v])) model::reserve_largest_error(schema.variables[v]);
  }
}

}  // namespace afterbay::pipeline
