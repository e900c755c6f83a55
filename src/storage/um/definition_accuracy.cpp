// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "packing/wgdos.hpp"
#include "storage/messages/cf.hpp"
#include "storage/um/definition.hpp"

namespace afterbay::storage::um {
namespace {

bool is_real(const Variable& variable) {
  return variable.type == Type::float32 || variable.type == Type::float64;
}

/// Errors of values, which WGDOS rounds to multiples of 2^n.
double error_of(int accuracy) { return std::ldexp(0.5, accuracy); }

/// WGDOS without an accuracy, which absolute_error can give.
bool lacks_accuracy(const Variable& variable) {
  return cf::text_of(variable.attributes, "PP_packing") == "wgdos" &&
         cf::find_attribute(variable.attributes, "PP_accuracy") == nullptr;
}

/// Reals of 64 bits that the file holds in 32 bits.
bool rounds_to_32_bits(const Variable& variable, packing::PpPacking method, const FileKind& kind) {
  return variable.type == Type::float64 && (!kind.wide || method == packing::PpPacking::bits32);
}

}  // namespace

bool packs(const Variable& variable, const FileKind& kind) {
  if (!is_real(variable)) return false;
  if (lacks_accuracy(variable)) return true;
  const auto storage = storage_of(variable, kind);
  const auto method = storage ? storage->method : packing::PpPacking::none;
  return method == packing::PpPacking::wgdos || rounds_to_32_bits(variable, method, kind);
}

Result<bool> keep_error(Variable& variable, double largest, const FileKind& kind) {
  if (!is_real(variable)) return false;
  Storage given;
  const bool lacks = lacks_accuracy(variable);
  if (!lacks) {
    AFTERBAY_TRY_ASSIGN(given, storage_of(variable, kind));
  }
  const bool says_how = !lacks && cf::find_attribute(variable.attributes, "PP_packing") != nullptr;
  const int needed = std::min(std::ilogb(largest) + 1, packing::most_accuracy);
  if (given.method == packing::PpPacking::wgdos) {
    if (error_of(given.accuracy) <= largest) return true;
    return refuse(variable,
                  "has the attribute PP_accuracy = {}, which allows errors of {:.3g}, and the absolute_error "
                  "{}: remove PP_accuracy, which absolute_error sets, or let it be {}",
                  given.accuracy, error_of(given.accuracy), largest, needed);
  }
  if (says_how && !rounds_to_32_bits(variable, given.method, kind)) return false;
  if (says_how)
    return refuse(
        variable,
        "is of type float64, which the file holds in 32 bits, and has the absolute_error {}: remove "
        "PP_packing, so that WGDOS keeps it, or give the variable the type float32",
        largest);
  if (needed < packing::least_accuracy)
    return refuse(
        variable,
        "has the absolute_error {}, but WGDOS rounds to multiples of 2^{} or more: allow {:.3g}, or "
        "remove absolute_error",
        largest, packing::least_accuracy, error_of(packing::least_accuracy));
  variable.attribute("PP_accuracy", static_cast<std::int32_t>(needed));
  return true;
}

}  // namespace afterbay::storage::um
