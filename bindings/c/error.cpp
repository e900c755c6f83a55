// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "enumerations.hpp"
#include "handles.hpp"

namespace afterbay::c {
namespace {

struct LastError {
  Error error;
  std::string text;
};

thread_local LastError last_error;

int keep(Error error) noexcept {
  const int code = static_cast<int>(error.code);  // enumerations.hpp
  try {
    last_error.error = std::move(error);
    last_error.text = last_error.error.text();
  } catch (...) {
    last_error.text.clear();
  }
  return code;
}

}  // namespace

int keep_exception() noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return keep(failure.error());
  } catch (const std::bad_alloc&) {
    return keep(Error(ErrorCode::resources, "no memory"));
  } catch (const std::exception& exception) {
    return keep(Error(ErrorCode::internal, exception.what()));
  } catch (...) {
    return keep(Error(ErrorCode::internal, "an exception of unknown type"));
  }
}

void refuse(ErrorCode code, std::string message) { throw Failure(Error(code, std::move(message))); }

void refuse_null(const char* name) {
  refuse(ErrorCode::invalid_argument,
         std::string("the argument `") + name + "` is NULL; it must point to something");
}

}  // namespace afterbay::c

using afterbay::c::last_error;

const char* afterbay_last_error(void) { return last_error.text.c_str(); }

void afterbay_last_error_info(afterbay_error_info* info) {
  const afterbay::Error& error = last_error.error;
  const bool none = last_error.text.empty();
  *info = {none ? AFTERBAY_OK : static_cast<int>(error.code),
           error.rank,
           error.native,
           error.message.c_str(),
           error.file.c_str(),
           error.variable.c_str(),
           last_error.text.c_str()};
}

const char* afterbay_error_name(int code) {
  return afterbay::name_of(static_cast<afterbay::ErrorCode>(code));
}

void afterbay_stop(void) {
  afterbay::stop(last_error.text.empty() ? afterbay::Error(afterbay::ErrorCode::internal, "no error is known")
                                         : last_error.error);
}

int afterbay_error_set(int code, const char* message, const char* variable) {
  return afterbay::c::guarded([&] {
    afterbay::Error error(static_cast<afterbay::ErrorCode>(code),
                          std::string(afterbay::c::text(message, "message")));
    throw afterbay::Failure(error.in_variable(std::string(afterbay::c::text_or_empty(variable))));
  });
}
