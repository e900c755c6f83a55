// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "afterbay/error.hpp"

namespace afterbay::test {

/// The message with which a call is refused; an error of the test if it is not, or with another
/// code.
template <class Call>
std::string refused(Call&& call, ErrorCode code = ErrorCode::invalid_argument) {
  try {
    call();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), code) << failure.what();
    return failure.error().message;
  }
  ADD_FAILURE() << "the call was not refused";
  return "";
}

}  // namespace afterbay::test
