// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/um/definition.hpp"

namespace afterbay::storage::pp {

extern const um::FileKind file_kind;  // definition_pp.cpp

}  // namespace afterbay::storage::pp
