// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything that a model in C++ needs.
#pragma once

#include "afterbay/calendar.hpp"
#include "afterbay/decomposition.hpp"
#include "afterbay/endpoint_pool.hpp"
#include "afterbay/error.hpp"
#include "afterbay/mpi.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/session.hpp"
#include "afterbay/types.hpp"
