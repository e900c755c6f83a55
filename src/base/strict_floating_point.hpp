// SPDX-License-Identifier: Apache-2.0
// Included by code that relies on NaN, infinity, signed zeros or the order of additions as IEEE 754
// defines them. cmake/Options.cmake asks compilers for that; flags of the user may contradict it.
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error \
    "Afterbay must be compiled without -ffast-math, -Ofast and their parts: missing values would be mistaken for others, and rounding would be wrong. Remove these flags, for example from CMAKE_CXX_FLAGS."
#endif
