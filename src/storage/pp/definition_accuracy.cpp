// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "model/message_accuracy.hpp"
#include "packing/wgdos.hpp"
#include "storage/messages/cf.hpp"
#include "storage/pp/definition.hpp"

namespace afterbay::storage::pp {
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

/// Reals of 64 bits become 32-bit reals at least.
bool packs(const Variable& variable) {
  if (!is_real(variable)) return false;
  if (variable.type == Type::float64 || lacks_accuracy(variable)) return true;
  const auto storage = storage_of(variable);
  return storage && storage->method == packing::PpPacking::wgdos;
}

Result<bool> keep_error(Variable& variable, double largest) {
  if (!is_real(variable)) return false;
  Storage given;
  const bool lacks = lacks_accuracy(variable);
  if (!lacks) {
    AFTERBAY_TRY_ASSIGN(given, storage_of(variable));
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
  if (says_how && variable.type == Type::float32) return false;
  if (says_how)
    return refuse(variable,
                  "is of type float64, which PP files hold in 32 bits, and has the absolute_error {}: remove "
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

}  // namespace

extern constinit const MessageAccuracy message_accuracy{.packs = packs, .keep_error = keep_error};

}  // namespace afterbay::storage::pp
