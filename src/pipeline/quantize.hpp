// SPDX-License-Identifier: Apache-2.0
// What files say about the stage `quantize` (quantize.cpp): attributes, and a variable that
// describes the method.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "afterbay/schema.hpp"
#include "pipeline/stage.hpp"

namespace afterbay::pipeline {

/// How settings round values.
struct Quantization {
  enum class Method : std::uint8_t { none, bitround, granular_bitround, bitgroom };
  Method method = Method::none;  ///< none: not at all, or in a way that has no name
  int number = 0;                ///< number of bits (bitround) or digits
};

/// The method for settings of one variable, which `make_stages` has accepted.
Quantization quantization_of(const Settings& given);

/// Whether the settings round values.
bool rounds(const Settings& given);
/// Whether the settings state an accuracy, so that errors are measured.
bool states_accuracy(const Settings& given);

/// Whether an attribute of a variable says how Afterbay or netCDF-C rounded it, or the error.
bool describes_quantization(std::string_view attribute) noexcept;
/// Removes what the variable says about an earlier rounding and its error: it is of other values.
void forget_quantization(Variable& variable);

/// Adds to rounded variables the attribute of netCDF-C 4.9 (`_QuantizeBitRound...`) and those of CF
/// 1.12, section 8.4, and at the end of the schema the variables that CF wants for the methods in
/// use, `quantization_info_METHOD`. Reserves the attribute for the
/// largest error (model/largest_error.hpp) of those whose accuracy is stated. Variables with
/// settings lose what they said before. `given` has one entry per variable of the schema, or is
/// empty.
void describe_quantization(Schema& schema, std::span<const Settings> given);

}  // namespace afterbay::pipeline
